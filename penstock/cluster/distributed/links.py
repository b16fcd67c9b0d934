"""The links of a task to others: messages and tensors, pushed in order.

A link is opened when something is first sent to a task, and serves both directions; if both ends
open one at the same time each sends over its own.  It is a connected socket, with shared memory
between processes of one machine, or with TLS a gRPC stream.  (Groups of two of torch.distributed's
Gloo were tried: no faster, and a hostile peer could end the process with one malformed address or
an oversized message.)

Ends of links ask each other every few seconds whether they are there; one that has not been heard
of for ``LOST_SECONDS``, cannot be connected to, or has no link on its side is lost; one that
answers as another process has been restarted.  However a link ends, ``lost`` is called once, and
the next message opens a new one.

State: for each task its open links, and which process it was when they were opened.
"""

from __future__ import annotations

import itertools
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from penstock.cluster.distributed import awaiting, frames, rpc, rpc_services
from penstock.cluster.distributed.buffers import Buffers
from penstock.cluster.distributed.link import Link, Transport, again
from penstock.cluster.distributed.listener import Listener, connect
from penstock.cluster.distributed.security import Security, split_address
from penstock.cluster.distributed.shared_pieces import SharedPieces
from penstock.cluster.distributed.socket_link import SocketLink
from penstock.cluster.distributed.stream_link import StreamLink
from penstock.cluster.distributed.tally import Tally
from penstock.engine.resources import waiting
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages

CHECK_SECONDS = 3.0
LOST_SECONDS = 25.0
OPEN_SECONDS = 20.0
# More than gRPC waits between attempts to connect; see ``rpc``.
_RETRY_SECONDS = 1.5
_log = logging.getLogger(__name__)


class _Peer:
    def __init__(self, task: str) -> None:
        self.task = task
        self.changed = threading.Condition()
        self.opening = False
        self.links: list[Link] = []
        self.incarnation = 0
        self.heard = 0.0
        self.doubts = 0
        self.asked: rpc.Pending | None = None
        self.stub: rpc.Stub | None = None


class Links:
    """The links of this task; also the handlers of the service "Links".

    Args:
      me: name of this task.
      connect: ``task -> stub`` of its service "Links".
      deliver: ``(task, header, value)`` is called for each message, in one thread per link; it must
        not wait long.
      lost: ``(task, error)`` is called when a task is lost: UnavailableError, or AbortedError when
        it was restarted.
      security: TLS or not, and limits.
      incarnation: a number that tells this process from one that had the same name.
      host: address of this machine at which links without TLS listen.
      tally: of the server; None: nobody counts.
    """

    def __init__(
        self,
        me: str,
        connect: Callable[[str], rpc.Stub],
        deliver: Callable[[str, bytes, Any], None],
        lost: Callable[[str, errors.OpError], None],
        security: Security,
        *,
        incarnation: int = 0,
        host: str = "127.0.0.1",
        tally: Tally | None = None,
    ) -> None:
        self._me, self._connect, self._deliver = me, connect, deliver
        self._lost, self._security = lost, security
        self._incarnation, self._host = incarnation, host
        self._limits = frames.Limits(security.max_message_bytes, security.max_tensor_bytes)
        self._buffers = Buffers()
        self._tally = tally or Tally()
        self._lock = threading.Lock()
        self._peers: dict[str, _Peer] = {}
        self._listener: Listener | None = None
        self._checker: threading.Thread | None = None
        self._closed = threading.Event()

    def send(self, task: str, header: bytes, value: Any) -> None:
        """Sends a message; returns when ``value`` may be overwritten.

        Args:
          task: to whom.
          header: bytes for the other end's ``deliver``.
          value: a dense tensor, or None.

        Raises:
          tf.errors.UnavailableError: the task is lost or cannot be reached.
          tf.errors.AbortedError: it has been restarted.
          tf.errors.InvalidArgumentError: the value is no dense tensor, or too large.
        """
        head, data = frames.pack(header, value)
        peer = self._peer(task)
        links = peer.links
        link = links[0] if links else self._open(peer)
        link.send(head, data)

    def close(self) -> None:
        """Closes all links; the other ends learn it."""
        self._closed.set()
        with self._lock:
            if self._listener is not None:
                self._listener.close()
            peers = list(self._peers.values())
        links = []
        for peer in peers:
            with peer.changed:
                links += peer.links
                peer.links = []
                peer.changed.notify_all()
        threads = [
            threading.Thread(target=link.close, name="penstock-link-close", daemon=True)
            for link in links
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(3.0)
        for link in links:
            link.join(1.0)
        for peer in peers:
            if peer.stub is not None:
                peer.stub.close()

    # ---- handlers ----------------------------------------------------------------------------

    def open_link(self, request: Any, context: rpc_services.Context) -> Any:
        """The other end opens a link: tells it where to connect, and with which ticket."""
        self._check_sender(request.task, request.incarnation)
        if self._security.tls is not None:
            raise errors.FailedPreconditionError(None, None, "links with TLS are streams")
        with self._lock:
            if self._closed.is_set():
                raise errors.CancelledError(None, None, f"{self._me} is being stopped")
            if self._listener is None:
                self._listener = Listener(self._host)
        task, incarnation = request.task, request.incarnation

        def accepted(connection: socket.socket, shared: SharedPieces | None) -> None:
            link = SocketLink(connection, shared, self._limits, self._buffers)
            self._add(task, incarnation, link)

        return messages.OpenLinkResponse(
            port=self._listener.port,
            local=self._listener.local,
            ticket=self._listener.expect(accepted, OPEN_SECONDS),
            incarnation=self._incarnation,
        )

    def check_link(self, request: Any, context: rpc_services.Context) -> Any:
        """The other end asks whether this one is there."""
        peer = self._peers.get(request.task)
        if peer is not None and peer.links and peer.incarnation != request.incarnation:
            self._restarted(peer)
        return messages.CheckLinkResponse(
            incarnation=self._incarnation, linked=peer is not None and bool(peer.links)
        )

    def carry(self, pieces: Iterator[bytes], context: rpc_services.Context) -> Iterator[bytes]:
        """The other end opens a link over a stream."""
        if self._security.tls is None:
            raise errors.FailedPreconditionError(None, None, "streams are for clusters with TLS")
        request = _parsed(messages.OpenLinkRequest, next(pieces, b""))
        self._check_sender(request.task, request.incarnation)
        transport = StreamLink(pieces, lambda: None, _broken, self._limits)
        self._add(request.task, request.incarnation, transport)
        yield messages.OpenLinkResponse(incarnation=self._incarnation).SerializeToString()
        yield from transport.leaving()

    # ---- opening -----------------------------------------------------------------------------

    def _peer(self, task: str) -> _Peer:
        peer = self._peers.get(task)
        if peer is None:
            if task == self._me:
                raise errors.invalid(f"{task} has no link to itself")
            with self._lock:
                peer = self._peers.setdefault(task, _Peer(task))
        return peer

    def _open(self, peer: _Peer) -> Link:
        """The link to a task: opens it if no other thread does."""
        seconds = _open_seconds()
        with peer.changed:
            peer.changed.wait_for(
                lambda: peer.links or not peer.opening or self._closed.is_set(), seconds
            )
            if self._closed.is_set():
                raise errors.CancelledError(None, None, f"the links of {self._me} are closed")
            if peer.links:
                return peer.links[0]
            if peer.opening:
                waiting.check_deadline()
                raise _unavailable(f"the link to {peer.task} did not open in {OPEN_SECONDS:g} s")
            peer.opening = True
        try:
            transport, incarnation = self._connected_in_time(peer)
            link = self._add(peer.task, incarnation, transport)
            # All use the first: messages over two links could overtake each other.
            return next(iter(peer.links), link)
        finally:
            with peer.changed:
                peer.opening = False
                peer.changed.notify_all()

    def _stub(self, peer: _Peer) -> rpc.Stub:
        with self._lock:
            if peer.stub is None:
                peer.stub = self._connect(peer.task)
            return peer.stub

    def _connected_in_time(self, peer: _Peer) -> tuple[Transport, int]:
        try:
            return self._connected(peer)
        except errors.UnavailableError:
            # Perhaps only because gRPC has not tried again since the server came up.
            stub = self._stub(peer)
            try:
                stub.wait_until_up(min(_RETRY_SECONDS, _open_seconds()))
            except errors.UnavailableError:
                waiting.check_deadline()
                raise _unavailable(
                    f"there is no link to {stub.task}: no server is up at {stub.address}"
                ) from None
            return self._connected(peer)

    def _connected(self, peer: _Peer) -> tuple[Transport, int]:
        stub = self._stub(peer)
        hello = messages.OpenLinkRequest(task=self._me, incarnation=self._incarnation)
        if self._security.tls is not None:
            return self._connected_stream(stub, hello)
        response = awaiting.answer_of(
            stub.open_link, hello, OPEN_SECONDS,
            stub.whom, "to open a link",
        )  # fmt: skip
        host, _ = split_address(stub.address)
        connection, shared = connect(
            host, response.port, response.local, response.ticket, _open_seconds()
        )
        return SocketLink(connection, shared, self._limits, self._buffers), response.incarnation

    def _connected_stream(self, stub: rpc.Stub, hello: Any) -> tuple[Transport, int]:
        call: Any = None

        def describe(error: BaseException) -> errors.OpError:
            return stub.error(error, "a link")

        def arriving() -> Iterator[bytes]:
            yield from call

        transport = StreamLink(arriving(), lambda: call.cancel(), describe, self._limits)
        leaving = itertools.chain([hello.SerializeToString()], transport.leaving())
        call = stub.stream("carry", leaving)
        timer = threading.Timer(_open_seconds(), call.cancel)
        timer.daemon = True
        timer.start()
        try:
            response = _parsed(messages.OpenLinkResponse, transport.first())
        except BaseException:
            transport.abort()
            raise
        finally:
            timer.cancel()
        return transport, response.incarnation

    def _add(self, task: str, incarnation: int, transport: Transport) -> Link:
        peer = self._peer(task)
        if peer.links and peer.incarnation != incarnation:
            self._restarted(peer)

        def received(header: bytes, value: Any) -> None:
            peer.heard = time.monotonic()
            self._deliver(task, header, value)

        link = Link(transport, task, received, self._ended, self._tally.link_ended)
        with peer.changed:
            if self._closed.is_set():
                link.discard(errors.CancelledError(None, None, f"{self._me} is being stopped"))
                return link
            peer.incarnation, peer.heard, peer.doubts = incarnation, time.monotonic(), 0
            peer.links = [*peer.links, link]
            self._tally.link_opened(link)
            # Here, so that whoever finds the link can wait for its threads.
            link.start()
            peer.changed.notify_all()
        self._start_checker()
        return link

    def _check_sender(self, task: str, incarnation: int) -> None:
        if not task or task == self._me:
            raise errors.invalid(f"a link cannot come from {task!r}")
        peer = self._peers.get(task)
        if peer is not None and peer.links and peer.incarnation != incarnation:
            self._restarted(peer)

    # ---- losing ------------------------------------------------------------------------------

    def _ended(self, link: Link, error: errors.OpError) -> None:
        self._lose(self._peer(link.task), error, link)

    def _restarted(self, peer: _Peer) -> None:
        self._lose(
            peer,
            errors.AbortedError(None, None, f"{peer.task} was restarted; its state is lost"),
            None,
        )

    def _lose(self, peer: _Peer, error: errors.OpError, link: Link | None) -> None:
        """Ends the links to a task; tells of it once, and only if ``link`` is one of them."""
        with peer.changed:
            links = peer.links
            if not links or (link is not None and link not in links):
                return
            peer.links = []
        for each in links:
            each.fail(error)
        if not self._closed.is_set():
            self._tally.task_lost(restarted=isinstance(error, errors.AbortedError))
            self._lost(peer.task, again(error))

    # ---- asking ------------------------------------------------------------------------------

    def _start_checker(self) -> None:
        with self._lock:
            if self._checker is None:
                self._checker = threading.Thread(
                    target=self._check_all, name="penstock-link-check", daemon=True
                )
                self._checker.start()

    def _check_all(self) -> None:
        checked = time.monotonic()
        while not self._closed.wait(CHECK_SECONDS):
            now = time.monotonic()
            # This process itself may have been stopped: then it has heard of nobody.
            asleep = now - checked - CHECK_SECONDS
            checked = now
            self._buffers.trim()
            for peer in list(self._peers.values()):
                if peer.links:
                    if asleep > CHECK_SECONDS:
                        peer.heard += asleep
                    self._check(peer, now)

    def _check(self, peer: _Peer, now: float) -> None:
        if now - peer.heard > LOST_SECONDS:
            self._lose(
                peer, _unavailable(f"{peer.task} was not heard of for {LOST_SECONDS:g} s"), None
            )
            return
        if peer.asked is not None:
            return
        request = messages.CheckLinkRequest(task=self._me, incarnation=self._incarnation)
        try:
            asked = peer.asked = self._stub(peer).check_link.start(request, LOST_SECONDS)
        except Exception:  # of ``connect`` too: whom nobody can ask is not heard of
            _log.info("cannot ask whether %s is there", peer.task, exc_info=True)
            return
        asked.on_done(lambda: self._checked(peer, asked))

    def _checked(self, peer: _Peer, asked: rpc.Pending) -> None:
        peer.asked = None
        try:
            answer = asked.result()
        except errors.UnavailableError as error:
            self._doubt(peer, f"the link to {peer.task} is lost: {error}")
            return
        except errors.OpError:
            return
        if answer.incarnation != peer.incarnation:
            if peer.links:
                self._restarted(peer)
            return
        peer.heard = time.monotonic()
        if answer.linked:
            peer.doubts = 0
        else:
            self._doubt(peer, f"the link to {peer.task} is lost: its other end is closed")

    def _doubt(self, peer: _Peer, text: str) -> None:
        # Once can be the moment at which a link opens or a connection is made anew.
        peer.doubts += 1
        if peer.doubts >= 2:
            self._lose(peer, _unavailable(text), None)


def _open_seconds() -> float:
    """How long the opening of a link may take, for the step that needs it."""
    left = waiting.seconds_left()
    return OPEN_SECONDS if left is None else min(OPEN_SECONDS, left)


def _parsed(kind: Any, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except Exception as error:  # protobuf's DecodeError
        raise errors.invalid(f"a link began with a malformed message: {error}") from error


def _broken(error: BaseException) -> errors.OpError:
    return _unavailable(f"the stream broke: {error or type(error).__name__}")


def _unavailable(text: str) -> errors.UnavailableError:
    return errors.UnavailableError(None, None, text)
