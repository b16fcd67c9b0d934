"""One connection: what comes is read and answered by whichever thread has taken it over.

At most one thread reads at a time.  When a call is whole, the reader leaves the connection to the
server's watch, answers the call itself, and then reads on, if nobody has come in the meantime.  If
something comes while it answers, the watch has another thread read: so a cancellation is heard of,
and calls beside a long one are answered, while short ones that follow each other cost no hand-over.

State: whether someone reads, and whether the connection is over or is to end after its last call.
"""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
from concurrent.futures import Executor
from typing import Protocol

from penstock.cluster.http2 import frames
from penstock.cluster.http2.call import Call
from penstock.cluster.http2.frames import ConnectionFailed
from penstock.cluster.http2.incoming import FRAME_BYTES, Incoming, Rules
from penstock.cluster.http2.open_calls import OpenCalls
from penstock.cluster.http2.reading import Reading
from penstock.cluster.http2.sending import Sending, Stalled
from penstock.cluster.http2.status import DEADLINE_EXCEEDED, INTERNAL, Failed

# So long a thread waits for more before it leaves that to the watch, and so long for a peer that
# takes nothing of an answer.
_READ_SECONDS, _SEND_SECONDS = 1, 25
_log = logging.getLogger(__name__)


class Watch(Protocol):
    """Tells when something comes at a connection that nobody reads."""

    def arm(self, number: int) -> None:
        """From now on, once; the number is that of the connection."""

    def disarm(self, number: int) -> None:
        """No more."""

    def ended(self, connection: Connection) -> None:
        """The connection is over."""


class Connection:
    """One connection of a server.

    Args:
      accepted: its socket.
      peer: the address of the other end.
      rules: of the server.
      watch: of the server.
      pool: whose threads read and answer.
      stalled: of the server.
    """

    def __init__(
        self,
        accepted: socket.socket,
        peer: str,
        rules: Rules,
        watch: Watch,
        pool: Executor,
        stalled: Stalled,
    ) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _seconds(_READ_SECONDS))
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _seconds(_SEND_SECONDS))
        self.number = accepted.fileno()
        self.born = self.heard = time.monotonic()
        self._socket, self._watch, self._pool = accepted, watch, pool
        self._lock = threading.Lock()
        self._reads = self._over = self._drains = False
        self._calls = OpenCalls()
        self._reading, self._sending = Reading(accepted, FRAME_BYTES), Sending(accepted, stalled)
        self._incoming = Incoming(
            self._reading, self._sending, rules, self._calls, peer, self._cancel
        )

    @property
    def greeted(self) -> bool:
        """Whether the other end has said that it speaks HTTP/2."""
        return self._incoming.greeted

    # ---- who reads ---------------------------------------------------------------------------

    def take_over(self) -> None:
        """Something has come: a thread reads on, unless one does."""
        with self._lock:
            if self._reads or self._over:
                return
            self._reads = True
        try:
            self._pool.submit(self._work)
        except RuntimeError as error:  # there are no more threads, or the server has stopped
            _log.warning("a connection is closed: %s", error)
            self._failed()

    def _work(self) -> None:
        whole: list[Call] = []
        try:
            while True:
                whole = self._incoming.take()
                while len(whole) > 1:
                    self._pool.submit(self._answer, whole[0])
                    del whole[0]
                if not (self._answer_and_return(whole.pop()) if whole else self._receive()):
                    return
        except ConnectionFailed as error:
            _log.debug("a connection ends: %s", error.text)
            self._say_last(error.code, error.text)
            self._failed()
        except (OSError, RuntimeError) as error:
            _log.debug("a connection ends: %s", error)
            self._failed()
        except Exception:
            _log.error("a connection ends by a defect", exc_info=True)
            self._failed()

    def _receive(self) -> bool:
        """Waits for more; False: that is left to the watch."""
        if self._drains:
            self._end_if_idle()  # the last call may have been refused, or given up
        if self._reading.wait():
            self.heard = time.monotonic()
            return True
        self._leave()
        return False

    def _leave(self) -> None:
        """This thread reads no more; the watch has another one do so when something comes."""
        with self._lock:
            self._reads = False
            if not self._over:
                self._watch.arm(self.number)
                return
        self._close_if_unused()

    def _return(self) -> bool:
        """Reads again; False: another thread does, or there is nothing more to read."""
        with self._lock:
            if self._reads or self._over:
                return False
            self._reads = True
            self._watch.disarm(self.number)
        return True

    # ---- what is answered --------------------------------------------------------------------

    def _answer_and_return(self, call: Call) -> bool:
        """Answers, while others may read; says whether this thread reads again."""
        self._leave()
        answer = _outcome(call)
        reads = self._return()
        if reads and not isinstance(answer, Failed) and not self._sending.fits(call, len(answer)):
            self._leave()  # someone has to hear that the caller takes more
            reads = False
        self._finish(call, answer)
        return reads or self._return()

    def _answer(self, call: Call) -> None:
        self._finish(call, _outcome(call))

    def _finish(self, call: Call, answer: bytes | Failed) -> None:
        try:
            if not self._calls.claim(call):
                pass
            elif isinstance(answer, Failed):
                self._sending.fail(call.stream, answer)
            else:
                self._sending.answer(call, answer)
        except OSError as error:
            _log.debug("an answer could not be sent: %s", error)
            self.end()
        finally:
            self._calls.ended(call)
            if self._over or self._drains:
                self._end_if_idle()

    def _end_if_idle(self) -> None:
        if self._over:
            self._close_if_unused()
        elif not self._calls.count:
            self.end()

    # ---- ending ------------------------------------------------------------------------------

    def end(self) -> None:
        """Ends the connection and its calls."""
        with self._lock:
            first, self._over = not self._over, True
        given_up = self._calls.give_up_all()
        if first:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for it
            except OSError:
                pass  # the other end was faster
            self._sending.end()
        for each in given_up:
            self._cancel(each)
        self._close_if_unused()

    def _failed(self) -> None:
        """The reader has met what ends the connection."""
        self._calls.dropped(self._incoming.forget_whole())
        with self._lock:
            self._reads = False
        self.end()

    def _close_if_unused(self) -> None:
        with self._lock:
            unused = self._over and not self._reads and not self._calls.count
            if not unused or self._socket.fileno() < 0:
                return
            self._watch.ended(self)
            self._sending.close()

    def _cancel(self, call: Call) -> None:
        for callback in call.cancel():
            try:
                self._pool.submit(callback)
            except RuntimeError:  # the server has stopped
                callback()

    # ---- for the server ----------------------------------------------------------------------

    def look(self, now: float, idle_seconds: float, patience: float) -> None:
        """Pings a peer that is silent, ends a connection that is dead, and calls that are late."""
        for call in self._calls.all():
            if call.until is not None and call.until < now:
                self._end_late(call)
        silent = now - self.heard
        if silent > idle_seconds + patience:
            _log.debug("a connection ends: no answer for %.0f s", silent)
            self.end()
        elif silent > idle_seconds and self.greeted:
            self._sending.ping()

    def _end_late(self, call: Call) -> None:
        if self._over or not self._calls.give_up_late(call):
            return
        self._cancel(call)
        late = Failed(DEADLINE_EXCEEDED, "Deadline Exceeded")
        try:
            self._pool.submit(self._sending.fail_quietly, call.stream, late)
        except RuntimeError:  # the server has stopped
            return

    def drain(self) -> None:
        """Takes no more calls, and ends after the last of those that have come."""
        self._drains = self._incoming.drains = True
        self._say_last(frames.NO_ERROR)
        self._end_if_idle()

    def _say_last(self, code: int, text: str = "") -> None:
        try:
            self._sending.send(frames.goaway(self._incoming.last, code, text))
        except OSError:
            pass  # nobody is there to hear it


def _outcome(call: Call) -> bytes | Failed:
    try:
        return call.handler(call.request(), call)
    except Failed as error:
        return error
    except Exception as error:
        _log.error("%s failed by a defect", call.head.path, exc_info=True)
        return Failed(INTERNAL, f"{type(error).__name__}: {error}")


def _seconds(seconds: int) -> bytes:
    """A ``struct timeval``."""
    return struct.pack("ll", seconds, 0)
