"""One open link: messages out by one thread and in by another.

No user's thread ever waits inside the transport, where a lost peer could keep it.  A message that
is not large is posted: the system takes it at once, in the user's thread.  If that would have to
wait, and for large ones, the message goes into a queue from which a thread of the link sends; a
small one is copied for that.  Else the user's thread waits until the transport has taken it, the
link ends, or its own step does.

State: the messages that are not sent yet, and the error that ended the link.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from typing import Any, Protocol

import torch

from penstock.cluster.distributed import frames
from penstock.engine.resources import blocking
from penstock.foundation.base import errors

# Tensors up to this size are copied into the queue.
COPIED_BYTES = 16 << 10
_QUEUED = 1024
_BYE_SECONDS = 1.0


class Transport(Protocol):
    """What carries messages; see ``socket_link`` and ``stream_link``."""

    # Bytes that have come.
    received: int

    def post(self, head: bytes, data: torch.Tensor | None) -> bool:
        """Sends a message without waiting, if it is not large; says whether it could."""

    def must_reap(self) -> bool:
        """Whether ``reap`` should be called."""

    def reap(self) -> None:
        """Waits for what was posted."""

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; may wait."""

    def receive(self) -> tuple[bytes, Any] | None:
        """Waits for a message."""

    def abort(self) -> None:
        """Ends what waits; what is called later fails."""

    def close(self) -> None:
        """Gives back what the system lent, after the last call of any other method."""


class _Outgoing:
    __slots__ = ("data", "head", "waiter")

    def __init__(self, head: bytes, data: torch.Tensor | None, waiter: Any) -> None:
        self.head, self.data, self.waiter = head, data, waiter


class _TransportError(Exception):
    """A failure of the transport in a user's thread."""

    def __init__(self, error: errors.OpError) -> None:
        super().__init__(str(error))
        self.error = error


class Link:
    """An open link.

    Args:
      transport: carries the messages.
      task: the other end.
      received: ``(header, value)`` is called for each message that comes, in one thread.
      ended: ``(link, error)`` is called once if the link ends other than by ``close``.
      left: called once when nothing moves over the link any more.

    Attributes:
      sent: bytes that it has taken.
    """

    def __init__(
        self,
        transport: Transport,
        task: str,
        received: Callable[[bytes, Any], None],
        ended: Callable[[Link, errors.OpError], None],
        left: Callable[[Link], None] = lambda link: None,
    ) -> None:
        self._transport, self.task = transport, task
        self._received, self._ended, self._left = received, ended, left
        self.sent = 0
        self._changed = threading.Condition(threading.Lock())
        self._queue: collections.deque[_Outgoing] = collections.deque()
        self._waiters: set[blocking.Waiter] = set()
        self._error: errors.OpError | None = None
        self._aborting: threading.Thread | None = None
        self._running = 2
        self._sender = self._thread(self._send_all, "out")
        self._receiver = self._thread(self._receive_all, "in")

    def start(self) -> None:
        """Begins."""
        self._sender.start()
        self._receiver.start()

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; returns when the memory of ``data`` may be overwritten.

        Raises:
          tf.errors.OpError: the link has ended, or the step of this thread.
        """
        try:
            self._send(head, data)
        except _TransportError as error:
            # The receiving thread sees the same, perhaps later.
            self._end(error.error)
            raise _lost(self.task, error.error) from None

    @property
    def received(self) -> int:
        """Bytes that have come."""
        return self._transport.received

    def _send(self, head: bytes, data: torch.Tensor | None) -> None:
        size = 0 if data is None else data.numel()
        with self._changed:
            if self._error is None and self._took(head, data, size):
                self.sent += len(head) + size
                return
        waiter = blocking.Waiter()
        with self._changed:
            if self._error is not None:
                raise again(self._error)
            self._queue.append(_Outgoing(head, data, waiter))
            self.sent += len(head) + size
            self._waiters.add(waiter)
            self._changed.notify()
        try:
            blocking.wait(waiter, lambda: True, lambda: f"{self.task} to take a tensor")
        finally:
            with self._changed:
                sent = waiter not in self._waiters
                self._waiters.discard(waiter)
        if not sent and self._error is not None:
            raise again(self._error)

    def _took(self, head: bytes, data: torch.Tensor | None, size: int) -> bool:
        """Posts a message, or puts a copy of a small one into the queue if that is not full."""
        if not self._queue and self._posted(head, data):
            if self._transport.must_reap():
                self._changed.notify()
            return True
        if size > COPIED_BYTES or len(self._queue) >= _QUEUED:
            return False
        self._queue.append(_Outgoing(head, None if data is None else data.clone(), None))
        self._changed.notify()
        return True

    def _posted(self, head: bytes, data: torch.Tensor | None) -> bool:
        try:
            return self._transport.post(head, data)
        except errors.OpError as error:
            raise _TransportError(error) from None

    def fail(self, error: errors.OpError) -> None:
        """Ends the link; whoever waits on it gets the error."""
        with self._changed:
            if self._error is not None:
                return
            self._error = error
            self._queue.clear()
            for waiter in self._waiters:
                waiter.wake()
            self._changed.notify_all()
            self._aborting = self._thread(self._transport.abort, "abort")
            self._aborting.start()

    def close(self) -> None:
        """Ends the link after what is queued has been sent, if that is possible soon."""
        with self._changed:
            self._queue.append(_Outgoing(frames.bye(), None, None))
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._queue, _BYE_SECONDS)
        self.fail(errors.CancelledError(None, None, f"the link to {self.task} was closed here"))

    def discard(self, error: errors.OpError) -> None:
        """Ends a link that was never started."""
        self._error = error
        self._transport.abort()
        self._transport.close()

    def join(self, seconds: float) -> bool:
        """Waits for the threads of the link; says whether they have ended."""
        for thread in (self._sender, self._receiver):
            if thread is not threading.current_thread():
                thread.join(seconds)
        return not (self._sender.is_alive() or self._receiver.is_alive())

    def _thread(self, target: Callable[[], None], what: str) -> threading.Thread:
        return threading.Thread(target=target, name=f"penstock-link-{what}", daemon=True)

    def _send_all(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._queue or self._error or self._transport.must_reap()
                    )
                    if self._error is not None:
                        return
                    outgoing = self._queue[0] if self._queue else None
                if outgoing is None:
                    self._transport.reap()
                else:
                    # It stays in the queue meanwhile, so that nothing is posted.
                    self._transport.send(outgoing.head, outgoing.data)
                    self._sent(outgoing)
                del outgoing
        except Exception as error:
            self._end(error)
        finally:
            self._leave()

    def _sent(self, outgoing: _Outgoing) -> None:
        with self._changed:
            if self._error is not None:
                return
            self._queue.popleft()
            if outgoing.waiter is not None:
                self._waiters.discard(outgoing.waiter)
                outgoing.waiter.wake()
            if not self._queue:
                self._changed.notify_all()

    def _receive_all(self) -> None:
        try:
            while (message := self._transport.receive()) is not None:
                self._received(*message)
                message = None
            raise errors.UnavailableError(None, None, "its server was stopped")
        except Exception as error:
            self._end(error)
        finally:
            self._leave()

    def _leave(self) -> None:
        """A thread of the link has ended; the last one cleans up."""
        with self._changed:
            self._running -= 1
            last = self._running == 0
        if last:
            # ``fail`` aborts in a thread of its own, which may not have begun.
            if self._aborting is not None:
                self._aborting.join()
            self._transport.close()
            self._left(self)

    def _end(self, error: Exception) -> None:
        if self._error is None:
            self._ended(self, _lost(self.task, error))


def again(error: errors.OpError) -> errors.OpError:
    """A new error like one that other threads raise as well."""
    return errors.make_error(error.error_code, error.message)


def _lost(task: str, error: Exception) -> errors.OpError:
    if isinstance(error, errors.InvalidArgumentError):
        return errors.InternalError(None, None, f"{task} sent a malformed message: {error}")
    if isinstance(error, errors.OpError):
        return errors.UnavailableError(None, None, f"the link to {task} is lost: {error}")
    return errors.InternalError(
        None, None, f"a message of {task} could not be handled: {type(error).__name__}: {error}"
    )
