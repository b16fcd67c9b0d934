"""The services that servers answer: their methods, and how a handler's outcome becomes bytes.

A service is a table of method names; the messages of ``run_step`` are RunStepRequest and
RunStepResponse.  A handler is a method ``run_step(request, context) -> response`` and runs in a
thread of its own; what it raises of ``tf.errors`` is raised at the caller.  Bytes are parsed here
and not by gRPC, so that what is malformed gets InvalidArgumentError.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import grpc
from google.protobuf.message import DecodeError, EncodeError

from penstock.cluster.distributed import rpc_errors
from penstock.cluster.distributed.room import Room
from penstock.cluster.distributed.security import MAX_MESSAGE_BYTES, Security
from penstock.cluster.http2.call import Call
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages, master_messages

# TensorFlow's own service, whose clients are not Penstock's: errors reach them as gRPC's status.
TENSORFLOW = "tensorflow.MasterService"
# The methods of each service.
SERVICES: dict[str, tuple[str, ...]] = {
    "Master": (
        "create_session", "extend_session", "prepare_step", "run_step", "explain_step",
        "close_session", "list_devices", "reset",
    ),
    "Worker": (
        "get_status", "register_graph", "deregister_graph", "cancel_step",
        "explain_graph", "clear_containers", "goodbye",
    ),
    "Links": ("open_link", "check_link"),
    "Clusters": ("join_cluster", "leave_cluster"),
    TENSORFLOW: (
        "create_session", "extend_session", "partial_run_setup", "run_step", "close_session",
        "list_devices", "reset", "make_callable", "run_callable", "release_callable",
    ),
}  # fmt: skip
# Methods of bytes in both directions; see ``Stub.stream``.
STREAMS: dict[str, tuple[str, ...]] = {"Links": ("carry",)}
# Methods that end what waits, or never wait: there is always room for them.
_ENDING = frozenset({
    "close_session", "reset", "release_callable", "get_status", "deregister_graph", "cancel_step",
    "clear_containers", "goodbye", "check_link", "leave_cluster",
})  # fmt: skip
# Metadata of a call: the key of the cluster whose task it is for, if not the server's own.
CLUSTER_KEY = "penstock-cluster"
_log = logging.getLogger(__name__)


class Context:
    """What a handler may ask about the call that it serves."""

    def __init__(self, context: grpc.ServicerContext | Call) -> None:
        self._context = context
        self._returned = False

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Has a function called, in another thread, if the caller goes away or gives up.

        Called at once if that has happened; never after the handler has returned.
        """

        def ended() -> None:
            if not self._returned:
                callback()

        if not self._context.add_callback(ended):
            ended()

    def is_active(self) -> bool:
        """Whether the caller still waits."""
        return bool(self._context.is_active())

    def seconds_left(self) -> float | None:
        """The seconds that the caller still waits; None for any time."""
        left = self._context.time_remaining()
        return None if left is None else float(left)

    def cluster(self) -> str:
        """Key of the cluster that the caller means; empty for the server's own."""
        return str(dict(self._context.invocation_metadata() or ()).get(CLUSTER_KEY, ""))

    def peer(self) -> str:
        """Address of the caller."""
        return str(self._context.peer())

    def returned(self) -> None:
        """The handler has returned."""
        self._returned = True


def serialized(message: Any, what: str, limit: int) -> bytes:
    """The bytes of a message.

    Raises:
      tf.errors.ResourceExhaustedError: more than the limit.
    """
    size = message.ByteSize()
    if size <= limit:
        try:
            data: bytes = message.SerializeToString()
            return data
        except (EncodeError, ValueError):  # protobuf's own limit
            size = max(size, MAX_MESSAGE_BYTES)
    raise errors.ResourceExhaustedError(
        None, None, f"{what}: the message has {size} bytes; {rpc_errors.how_to_raise(limit)}"
    )


def abort_call(context: grpc.ServicerContext | Call, failure: Any, plain: bool = False) -> None:
    """Ends a call with a failure."""
    _, details, metadata = status(failure, plain)
    if metadata:
        context.set_trailing_metadata(metadata)
    context.abort(rpc_errors.status_of(failure), details)


def status(failure: Any, plain: bool) -> tuple[int, str, tuple[tuple[str, bytes], ...]]:
    """gRPC's code, text and metadata; plain for clients that know no other."""
    code = rpc_errors.status_of(failure).value[0]
    if plain:
        return code, rpc_errors.details_of(failure), ()
    details = "see the failure in the trailing metadata"
    return code, details, ((rpc_errors.FAILURE_KEY, failure.SerializeToString()),)


def unary_methods(
    name: str, handler: Any, security: Security, task: str, room: Room
) -> Iterator[tuple[str, Callable[[Any, Any], bytes]]]:
    """The methods of a service that an object has, by the names that callers use.

    Each takes the bytes of a request, and the call as gRPC or ``http2`` has it.  ``room`` is that
    of the server.
    """
    for method in SERVICES[name]:
        function = getattr(handler, method, None)
        if function is not None:
            camel = method.title().replace("_", "")
            request = classes(name)[f"{camel}Request"]
            limited = None if method in _ENDING else room
            limit, plain = security.max_message_bytes, name == TENSORFLOW
            yield camel, _unary(function, request, camel, limit, task, plain, limited)


def full_name(service: str) -> str:
    """A service as callers name it."""
    return service if service == TENSORFLOW else f"penstock.{service}"


def classes(service: str) -> Mapping[str, Any]:
    """The messages of a service, by name."""
    return master_messages.CLASSES if service == TENSORFLOW else messages.CLASSES


def _unary(
    function: Callable[[Any, Context], Any],
    request: Any,
    what: str,
    limit: int,
    task: str,
    plain: bool,
    room: Room | None,
) -> Callable[[Any, Any], bytes]:
    def answer(data: Any, ours: Context) -> bytes:
        try:
            message = request.FromString(data)
        except DecodeError as error:
            raise errors.invalid(
                f"{what}: the {len(data)} bytes of the request are malformed"
            ) from error
        return serialized(function(message, ours), f"the answer of {what}", limit)

    def answer_if_room(data: Any, ours: Context) -> bytes:
        assert room is not None
        room.enter(what)
        try:
            return answer(data, ours)
        finally:
            room.leave()

    run = answer if room is None else answer_if_room

    def handle(data: Any, context: Any) -> bytes:
        ours = Context(context)
        try:
            return run(data, ours)
        except Exception as error:
            abort_call(context, _failure(error, what, task), plain)
            raise  # not reached: aborting raises
        finally:
            ours.returned()

    return handle


def stream_handler(
    function: Callable[[Iterator[bytes], Context], Iterator[bytes]], task: str
) -> Callable[[Iterator[bytes], grpc.ServicerContext], Iterator[bytes]]:
    """A method of bytes in both directions, for gRPC."""

    def handle(chunks: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        ours = Context(context)
        try:
            yield from function(chunks, ours)
        except Exception as error:
            abort_call(context, _failure(error, "a stream", task))
        finally:
            ours.returned()

    return handle


def _failure(error: Exception, what: str, task: str) -> Any:
    if not isinstance(error, errors.OpError):
        _log.error("%s failed in %s: a defect of Penstock", what, task or "a server", exc_info=True)
    return rpc_errors.failure_of(error, task)
