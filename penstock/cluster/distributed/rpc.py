"""Calls between processes, over gRPC, with messages of ``formats.cluster_messages``, and of
``formats.master_messages`` where the service is TensorFlow's; ``rpc_services`` has the services.

Keepalive: both ends ping every 10 s and give up on a peer after another 15 s without any answer, so
a cut link shows within 30 s and a process that is stopped for 10 s survives.

    server = serve("localhost:0", {"Worker": worker}, Security())
    stub = Stub(server.address, "Worker", "/job:worker/replica:0/task:0", Security())
    stub.get_status(GetStatusRequest(), timeout=10)
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

from penstock.cluster.distributed import rpc_errors
from penstock.cluster.distributed.daemon_pool import DaemonPool
from penstock.cluster.distributed.room import ROOM, STALLED, Room
from penstock.cluster.distributed.rpc_services import (
    CLUSTER_KEY,
    SERVICES,
    STREAMS,
    TENSORFLOW,
    abort_call,
    classes,
    full_name,
    serialized,
    status,
    stream_handler,
    unary_methods,
)
from penstock.cluster.distributed.security import (
    TOKEN_KEY,
    Security,
    join_address,
    split_address,
)
from penstock.cluster.http2.call import Call
from penstock.cluster.http2.incoming import Rules
from penstock.cluster.http2.server import AVAILABLE, Server
from penstock.cluster.http2.status import Failed
from penstock.foundation.base import errors

# Methods that wait for a server that is not up yet.
WAITING = ("create_session", "get_status", "reset", "list_devices", "join_cluster")

_KEEPALIVE = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 15_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
]
_RECONNECT = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    # In fact how long an attempt may take, to the first word of a server that has no time.
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]
# Calls of one connection at a time: more than may wait, so that it has one left to end them.
_STREAMS = ROOM + 96
_log = logging.getLogger(__name__)

# Whether this process has used gRPC, and whether the one that it was forked from had.
_used = _lost = False


def _after_fork() -> None:
    global _lost
    _lost = _used


os.register_at_fork(after_in_child=_after_fork)


def _use() -> None:
    """Notes that gRPC is used.

    Raises:
      tf.errors.FailedPreconditionError: its threads stayed in the parent of this process.
    """
    global _used
    if _lost:
        raise errors.FailedPreconditionError(
            None, None, "this process was forked from one with servers or sessions of a cluster,"
            " and the threads of those connections stayed there: start it by 'spawn', or fork"
            " before the first server or session",
        )  # fmt: skip
    _used = True


class RpcServer:
    """A running server; made by ``serve``."""

    def __init__(self, stop: Callable[[float], object], pool: DaemonPool, address: str) -> None:
        self._stop, self._pool = stop, pool
        self.address = address

    @property
    def port(self) -> int:
        """Where it listens."""
        return split_address(self.address)[1]

    def stop(self, grace: float | None = None) -> None:
        """Stops listening; ends calls that still run after ``grace`` seconds."""
        self._stop(grace or 0.0)
        self._pool.shutdown(wait=False)


def serve(
    address: str, handlers: Mapping[str, Any], security: Security, *, task: str = ""
) -> RpcServer:
    """Starts a server.

    Args:
      address: "host:port" of the ClusterSpec; port 0 takes a free one.
      handlers: an object with the methods of each service, by name of the service.
      security: who may call.
      task: name of the task, for errors.

    Returns:
      The running server, with the address that clients use.

    Raises:
      tf.errors.PermissionDeniedError: ``security`` does not allow to listen there.
      tf.errors.UnknownError: the port is taken, or the host is none of this machine.
    """
    _use()
    listen_at = security.listen_at(address)
    pool = DaemonPool("penstock-rpc")
    start = _start_plain if security.tls is None and AVAILABLE else _start_grpc
    try:
        stop, port = start(listen_at, handlers, security, task, pool)
    except (OSError, RuntimeError) as error:
        raise errors.UnknownError(
            None, None, f"cannot listen at {listen_at}: the port is taken, or the host is none of"
            f" this machine ({error})",
        ) from error  # fmt: skip
    return RpcServer(stop, pool, join_address(split_address(address)[0] or "localhost", port))


_Started = tuple[Callable[[float], object], int]


def _start_plain(
    listen_at: str, handlers: Mapping[str, Any], security: Security, task: str, pool: DaemonPool
) -> _Started:
    """Penstock's own server: half a call's time of gRPC's, whose threads hand each call on."""
    room = Room(task)
    methods = {
        f"/{full_name(name)}/{camel}": handle
        for name, handler in handlers.items()
        for camel, handle in unary_methods(name, handler, security, task, room)
    }
    rules = Rules(
        methods, _admission(security), security.max_message_bytes, rpc_errors.METADATA_BYTES,
        _STREAMS, STALLED,
    )  # fmt: skip
    host, port = split_address(listen_at)
    server = Server(host, port, rules, pool)
    return server.stop, server.port


def _admission(security: Security) -> Callable[[Call], None] | None:
    if security.token is None:
        return None

    def admit(call: Call) -> None:
        try:
            security.check_token(call.metadata().get(TOKEN_KEY))
        except errors.UnauthenticatedError as error:
            failure = rpc_errors.failure_of(error)
            plain = call.head.path.startswith(f"/{TENSORFLOW}/")
            raise Failed(*status(failure, plain)) from None

    return admit


def _start_grpc(
    listen_at: str, handlers: Mapping[str, Any], security: Security, task: str, pool: DaemonPool
) -> _Started:
    """gRPC's server: with TLS, and streams."""
    server = grpc.server(
        cast(futures.ThreadPoolExecutor, pool),
        interceptors=[_TokenCheck(security)] if security.token is not None else None,
        options=[*_options(security), ("grpc.so_reuseport", 0)],
    )
    room = Room(task)
    server.add_generic_rpc_handlers(
        tuple(_service(name, handler, security, task, room) for name, handler in handlers.items())
    )
    credentials = security.server_credentials()
    if credentials is None:
        port = server.add_insecure_port(listen_at)
    else:
        port = server.add_secure_port(listen_at, credentials)
    server.start()
    return lambda grace: server.stop(grace).wait(grace + 5.0), port


class Method:
    """A method of a remote service."""

    def __init__(self, stub: Stub, service: str, name: str) -> None:
        camel = name.title().replace("_", "")
        self.name, self._stub = camel, stub
        self._what = f"{camel} at {stub.whom}"
        self._waits = name in WAITING
        self._response = classes(service)[f"{camel}Response"]
        self._call: Any = stub.channel.unary_unary(f"/{full_name(service)}/{camel}")

    def __call__(
        self, request: Any, timeout: float | None = None, wait_for_server: bool | None = None
    ) -> Any:
        """Calls.

        Args:
          request: the message.
          timeout: seconds until the call is given up; None for any time.
          wait_for_server: whether to wait for a server that is not up; None as ``WAITING`` says.

        Returns:
          The response message.

        Raises:
          tf.errors.UnavailableError: the server cannot be reached, or not in time.
          tf.errors.DeadlineExceededError: the call did not end in time.
          tf.errors.OpError: what the handler raised.
        """
        waits = self._waits if wait_for_server is None else wait_for_server
        try:
            data = self._call(
                self._bytes(request), timeout=timeout, metadata=self._stub.metadata,
                wait_for_ready=waits,
            )  # fmt: skip
        except grpc.RpcError as error:
            raise self._error(error, timeout, waits) from None
        except ValueError as error:  # the channel is closed
            raise errors.CancelledError(None, None, f"{self._what}: {error}") from error
        return self._parsed(data)

    def start(
        self, request: Any, timeout: float | None = None, wait_for_server: bool | None = None
    ) -> Pending:
        """Begins a call; arguments as of a call."""
        waits = self._waits if wait_for_server is None else wait_for_server
        try:
            future = self._call.future(
                self._bytes(request), timeout=timeout, metadata=self._stub.metadata,
                wait_for_ready=waits,
            )  # fmt: skip
        except ValueError as error:  # the channel is closed
            raise errors.CancelledError(None, None, f"{self._what}: {error}") from error
        return Pending(future, self._parsed, lambda error: self._error(error, timeout, waits))

    def _bytes(self, request: Any) -> bytes:
        return serialized(request, self._what, self._stub.security.max_message_bytes)

    def _error(self, error: Any, timeout: float | None, waits: bool) -> errors.OpError:
        stub = self._stub
        return rpc_errors.error_of_call(
            error, self._what, stub.security.max_message_bytes, timeout,
            waits and not stub.was_up(),
        )  # fmt: skip

    def _parsed(self, data: bytes) -> Any:
        self._stub.note_up()
        try:
            return self._response.FromString(data)
        except DecodeError as error:
            raise errors.DataLossError(
                None, None, f"{self._what}: the answer is malformed: {error}"
            ) from error


class Pending:
    """A call that has begun."""

    def __init__(
        self,
        future: Any,
        parsed: Callable[[bytes], Any],
        error_of_call: Callable[[Any], errors.OpError],
    ) -> None:
        self._future, self._parsed, self._error_of_call = future, parsed, error_of_call

    def result(self) -> Any:
        """Waits for the response; raises as ``Method.__call__``."""
        try:
            data = self._future.result()
        except grpc.RpcError as error:
            raise self._error_of_call(error) from None
        except grpc.FutureCancelledError:
            raise self._error_of_call(self._future) from None
        return self._parsed(data)

    def done(self) -> bool:
        """Whether the call has ended."""
        return bool(self._future.done())

    def on_done(self, callback: Callable[[], None]) -> None:
        """Has a function called, perhaps in another thread, when the call has ended."""
        self._future.add_done_callback(lambda _: callback())

    def cancel(self) -> None:
        """Gives the call up."""
        self._future.cancel()


class Stub:
    """A service of another process: its methods are attributes.

    Args:
      address: "host:port".
      service: a name of ``SERVICES``.
      task: whom the address belongs to, for errors.
      security: how this process shows who it is.
      cluster: key of the cluster of the task, if not its server's own.
    """

    def __init__(
        self, address: str, service: str, task: str, security: Security, cluster: str = ""
    ) -> None:
        split_address(address)
        _use()
        self.address, self.task, self.security = address, task, security
        # Who is called, and where, for what is said to the user.
        self.whom = f"{task} ({address})"
        self.metadata = security.metadata() + (((CLUSTER_KEY, cluster),) if cluster else ())
        self._service = service
        self._up = False
        options = [*_options(security), *_RECONNECT]
        if security.tls is not None and security.tls.server_name is not None:
            options.append(("grpc.ssl_target_name_override", security.tls.server_name))
        credentials = security.channel_credentials()
        self.channel = (
            grpc.insecure_channel(address, options)
            if credentials is None
            else grpc.secure_channel(address, credentials, options)
        )
        for name in SERVICES[service]:
            if f"{name.title().replace('_', '')}Request" in classes(service):
                setattr(self, name, Method(self, service, name))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"service {self._service} has no method {name!r}; it has"
            f" {', '.join(SERVICES[self._service])}"
        )

    def stream(self, name: str, chunks: Iterable[bytes], timeout: float | None = None) -> Any:
        """Begins a call of ``STREAMS``: bytes in both directions.

        Returns:
          The call: iterate over it for the chunks of the other side; ``cancel()`` ends it.
        """
        call: Any = self.channel.stream_stream(f"/{full_name(self._service)}/{name.title()}")
        return call(iter(chunks), timeout=timeout, metadata=self.metadata)

    def error(self, call: Any, what: str) -> errors.OpError:
        """The error of a ``grpc.RpcError`` of a stream."""
        what = f"{what} at {self.whom}"
        return rpc_errors.error_of_call(call, what, self.security.max_message_bytes, 0.0, False)

    def wait_until_up(self, timeout: float) -> None:
        """Waits for the server.

        Raises:
          tf.errors.UnavailableError: it is not up in time.
        """
        try:
            grpc.channel_ready_future(self.channel).result(timeout)
        except grpc.FutureTimeoutError:
            raise errors.UnavailableError(
                None, None,
                f"waited {timeout:g} s for {self.task} at {self.address}: no server is up there",
            ) from None  # fmt: skip
        self._up = True

    def was_up(self) -> bool:
        """Whether the server has ever answered."""
        return self._up

    def note_up(self) -> None:
        """The server has answered."""
        self._up = True

    def close(self) -> None:
        """Ends the calls that run, with CancelledError."""
        self.channel.close()


def _options(security: Security) -> list[tuple[str, int | str]]:
    limit = security.max_message_bytes
    return [
        ("grpc.max_send_message_length", limit),
        ("grpc.max_receive_message_length", limit),
        ("grpc.max_metadata_size", rpc_errors.METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", 2 * rpc_errors.METADATA_BYTES),
        *_KEEPALIVE,
        # For servers: how long a stranger may take to say anything, and calls of one connection.
        ("grpc.server_handshake_timeout_ms", 10_000),
        ("grpc.max_concurrent_streams", _STREAMS),
    ]


class _TokenCheck(grpc.ServerInterceptor):
    """Turns calls without the token away before their bytes are looked at."""

    def __init__(self, security: Security) -> None:
        self._security = security

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        shown = dict(handler_call_details.invocation_metadata).get(TOKEN_KEY)
        try:
            self._security.check_token(shown)
        except errors.UnauthenticatedError as error:
            plain = handler_call_details.method.startswith(f"/{TENSORFLOW}/")
            return _turned_away(error, plain)
        return continuation(handler_call_details)


def _turned_away(error: errors.OpError, plain: bool) -> Any:
    def abort(requests: Iterator[bytes], context: grpc.ServicerContext) -> Any:
        abort_call(context, rpc_errors.failure_of(error), plain)

    # For any kind of call: of a stream nothing is taken before it is asked for, of a single message
    # all of it, and a gigabyte may be allowed.
    return grpc.stream_stream_rpc_method_handler(abort)


def _service(name: str, handler: Any, security: Security, task: str, room: Room) -> Any:
    methods: dict[str, Any] = {
        camel: grpc.unary_unary_rpc_method_handler(handle)
        for camel, handle in unary_methods(name, handler, security, task, room)
    }
    for method in STREAMS.get(name, ()):
        function = getattr(handler, method, None)
        if function is not None:
            methods[method.title()] = grpc.stream_stream_rpc_method_handler(
                stream_handler(function, task)
            )
    return grpc.method_handlers_generic_handler(full_name(name), methods)


def wait_for_server(address: str, security: Security, timeout: float) -> None:
    """Waits until a server answers at an address.

    Raises:
      tf.errors.UnavailableError: none does in time.
    """
    stub = Stub(address, next(iter(SERVICES)), "the server", security)
    try:
        stub.wait_until_up(timeout)
    finally:
        stub.close()
