"""One connection: what comes is read and answered by whichever thread has taken it over.

At most one thread reads at a time.  When a call is whole, the reader leaves the connection to the
server's watch, answers the call itself, and then reads on, if nobody has come in the meantime.  If
something comes while it answers, the watch has another thread read: so a cancellation is heard of,
and calls beside a long one are answered, while short ones that follow each other cost no hand-over.

State: whether someone reads, the calls that have not ended, and what has come and is not looked at.
"""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from penstock.cluster.http2 import call as calls, frames, headers
from penstock.cluster.http2.call import Call, Failed
from penstock.cluster.http2.frames import ConnectionFailed
from penstock.cluster.http2.headers import Head
from penstock.cluster.http2.reading import Reading
from penstock.cluster.http2.sending import Sending

Handler = Callable[[bytes | bytearray, Call], bytes]

# What the peer may send: in a frame, of a call and of all calls before it is told to go on.
_FRAME_BYTES, _CALL_WINDOW, _WINDOW = 1 << 18, 1 << 22, 1 << 24
# Frames that one block of headers may come in.
_HEADER_FRAMES = 64
# Calls that a peer may give up within a second.
_RESETS_A_SECOND = 10_000
# So long a thread waits for more before it leaves that to the watch, and so long for a peer that
# takes nothing of an answer.
_READ_SECONDS, _SEND_SECONDS = 1, 25
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """What a server answers, and to whom.

    Args:
      methods: the handlers by path: "/package.Service/Method".
      admit: raises ``Failed`` for a call whose message is not to be taken, by its headers.
      message_bytes, header_bytes: limits.
      streams: calls of one connection at a time.
    """

    methods: dict[str, Handler]
    admit: Callable[[Head], None]
    message_bytes: int
    header_bytes: int
    streams: int


class Watch(Protocol):
    """Tells when something comes at a connection that nobody reads."""

    def arm(self, connection: Connection) -> None:
        """From now on, once."""

    def disarm(self, connection: Connection) -> None:
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
    """

    def __init__(
        self, accepted: socket.socket, peer: str, rules: Rules, watch: Watch, pool: Executor
    ) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _seconds(_READ_SECONDS))
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _seconds(_SEND_SECONDS))
        self.number = accepted.fileno()
        self.born = self.heard = time.monotonic()
        self.greeted = False
        self._socket, self._peer, self._rules = accepted, peer, rules
        self._watch, self._pool = watch, pool
        self._sending = Sending(accepted)
        self._lock = threading.Lock()
        self._reads = self._over = self._drains = False
        self._calls: dict[int, Call] = {}
        # Calls that have not ended here, be they given up by their callers or not.
        self._open = 0
        self._last = 0
        self._blocks = headers.Blocks(rules.header_bytes)
        # A block of headers that goes on: stream, flags, bytes, frames.
        self._partial: tuple[int, int, bytearray, int] | None = None
        self._whole: list[Call] = []
        self._taken = 0
        self._resets, self._resets_since = 0, 0.0
        self._reading = Reading(accepted, _FRAME_BYTES)
        # At once, since clients give a server little time to say that it is one.
        self._sending.send(_greeting(rules))

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
        try:
            while True:
                self._parse()
                while len(self._whole) > 1:
                    self._pool.submit(self._answer, self._whole[0])
                    del self._whole[0]
                if not (self._answer_and_return() if self._whole else self._receive()):
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

    def _leave(self) -> None:
        """This thread reads no more; the watch has another one do so when something comes."""
        with self._lock:
            self._reads = False
            if not self._over:
                self._watch.arm(self)
        self._close_if_unused()

    def _return(self) -> bool:
        """Reads again; False: another thread does, or there is nothing more to read."""
        with self._lock:
            if self._reads or self._over:
                return False
            self._reads = True
            self._watch.disarm(self)
        return True

    def _failed(self) -> None:
        with self._lock:
            self._reads = False
            self._open -= len(self._whole)
            self._whole = []
        self.end()

    def end(self) -> None:
        """Ends the connection and its calls."""
        with self._lock:
            first, self._over = not self._over, True
            given_up = list(self._calls.values())
            self._calls.clear()
            self._open -= sum(not each.begun for each in given_up)
        if first:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for it
            except OSError:
                pass  # the other end was faster
            self._sending.end()
            for each in given_up:
                self._cancel(each)
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        with self._lock:
            if not self._over or self._reads or self._open or self._socket.fileno() < 0:
                return
            self._watch.ended(self)
            self._sending.close()

    def _cancel(self, call: Call) -> None:
        for callback in call.cancel():
            try:
                self._pool.submit(callback)
            except RuntimeError:  # the server has stopped
                callback()

    def _receive(self) -> bool:
        """Waits for more; False: that is left to the watch."""
        if self._reading.wait():
            self.heard = time.monotonic()
            return True
        self._leave()
        return False

    # ---- what comes --------------------------------------------------------------------------

    def _parse(self) -> None:
        """Looks at all whole frames that have come."""
        self.greeted = self.greeted or self._reading.greeted()
        while self.greeted and (found := self._reading.frame()) is not None:
            self._take(*found)

    def _take(self, kind: int, flags: int, stream: int, payload: memoryview) -> None:
        if self._partial is not None and (kind != frames.MORE or stream != self._partial[0]):
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers that are interrupted")
        if kind == frames.DATA:
            self._take_data(flags, stream, payload)
        elif kind == frames.HEADERS:
            self._begin_headers(flags, stream, payload)
        elif kind == frames.MORE:
            self._continue_headers(flags, stream, payload)
        elif kind == frames.RST_STREAM:
            self._take_reset(stream, payload)
        elif kind == frames.WINDOW:
            self._take_window(stream, payload)
        elif kind == frames.PING:
            self._take_ping(flags, stream, payload)
        elif kind == frames.SETTINGS:
            self._take_settings(flags, stream, payload)
        elif kind == frames.PUSH_PROMISE:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "a client that pushes")
        elif kind == frames.PRIORITY:
            _check(bool(stream), frames.PROTOCOL_ERROR, "a priority of no stream")
            _check(len(payload) == 5, frames.FRAME_SIZE_ERROR, "a priority of another size")
        # GOAWAY needs no answer, since nothing is sent unasked; unknown kinds are to be ignored.

    def _begin_headers(self, flags: int, stream: int, payload: memoryview) -> None:
        _check(stream % 2 == 1, frames.PROTOCOL_ERROR, "headers of no stream of a client")
        block = bytearray(frames.unpadded(flags, payload))
        _check(
            len(block) <= self._rules.header_bytes, frames.ENHANCE_YOUR_CALM, "too large headers"
        )
        if flags & frames.END_HEADERS:
            self._take_headers(flags, stream, bytes(block))
        else:
            self._partial = stream, flags, block, 1

    def _continue_headers(self, flags: int, stream: int, payload: memoryview) -> None:
        if self._partial is None:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers that go on and never began")
        first, block, count = self._partial[1], self._partial[2], self._partial[3] + 1
        block += payload
        if count > _HEADER_FRAMES or len(block) > self._rules.header_bytes:
            raise ConnectionFailed(frames.ENHANCE_YOUR_CALM, "too large headers")
        self._partial = None if flags & frames.END_HEADERS else (stream, first, block, count)
        if self._partial is None:
            self._take_headers(first, stream, bytes(block))

    def _take_headers(self, flags: int, stream: int, block: bytes) -> None:
        head = self._blocks.head(block)
        found = self._calls.get(stream)
        if found is not None:
            if not flags & frames.END_STREAM or found.begun:
                raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers in the middle of a call")
            self._become_whole(found)
            return
        if stream <= self._last:
            raise ConnectionFailed(frames.STREAM_CLOSED, f"headers of stream {stream}, which ended")
        self._last = stream
        if self._drains or self._open >= self._rules.streams:
            self._sending.send(frames.reset(stream, frames.REFUSED_STREAM))
            return
        if not head.content.startswith("application/grpc") or head.method != "POST":
            refused = frames.header_frames(
                stream, frames.END_STREAM, headers.NO_GRPC, frames.FIRST_FRAME_SIZE
            )
            self._sending.send(refused + frames.reset(stream, frames.NO_ERROR))
            return
        call = Call(stream, head, self._rules.message_bytes, self._sending.first_window, self._peer)
        with self._lock:
            self._calls[stream] = call
            self._open += 1
        try:
            self._check(head)
        except Failed as error:
            self._refuse(call, error)
            return
        if flags & frames.END_STREAM:
            self._become_whole(call)

    def _check(self, head: Head) -> None:
        self._rules.admit(head)
        if head.path not in self._rules.methods:
            raise Failed(calls.UNIMPLEMENTED, "Method not found!")
        if head.seconds is not None and head.seconds < 0:
            raise Failed(calls.INTERNAL, "the call's grpc-timeout makes no sense")

    def _take_data(self, flags: int, stream: int, payload: memoryview) -> None:
        self._taken += len(payload)
        if self._taken >= _WINDOW // 2:
            self._sending.send(frames.window(0, self._taken))
            self._taken = 0
        call = self._calls.get(stream)
        if call is None or call.begun or call.over:
            _check(0 < stream <= self._last, frames.PROTOCOL_ERROR, "data of no call")
            _check(call is None or call.over, frames.STREAM_CLOSED, "data after a call's end")
            return  # of a call that was refused, or that its caller has given up
        try:
            call.message.add(frames.unpadded(flags & frames.PADDED, payload))
        except Failed as error:
            self._refuse(call, error)
            return
        if flags & frames.END_STREAM:
            self._become_whole(call)
            return
        call.taken += len(payload)
        if call.taken >= _CALL_WINDOW // 2:
            self._sending.send(frames.window(stream, call.taken))
            call.taken = 0

    def _become_whole(self, call: Call) -> None:
        call.begun = True
        self._whole.append(call)

    def _take_reset(self, stream: int, payload: memoryview) -> None:
        _check(len(payload) == 4, frames.FRAME_SIZE_ERROR, "a reset of another size")
        _check(0 < stream <= self._last, frames.PROTOCOL_ERROR, "a reset of no call")
        now = time.monotonic()
        if now - self._resets_since > 1.0:
            self._resets, self._resets_since = 0, now
        self._resets += 1
        if self._resets > _RESETS_A_SECOND:
            raise ConnectionFailed(frames.ENHANCE_YOUR_CALM, "too many calls are given up")
        self._give_up(stream)

    def _give_up(self, stream: int) -> None:
        with self._lock:
            call = self._calls.pop(stream, None)
            if call is None:
                return
            call.over = True
            if not call.begun:
                self._open -= 1
        self._sending.wake()
        self._cancel(call)

    def _take_window(self, stream: int, payload: memoryview) -> None:
        _check(len(payload) == 4, frames.FRAME_SIZE_ERROR, "a window of another size")
        _check(stream <= self._last, frames.PROTOCOL_ERROR, "a window of no call")
        size = frames.NUMBER.unpack(payload)[0] & frames.LARGEST_WINDOW
        self._sending.widen(self._calls.get(stream) if stream else None, size, stream)

    def _take_ping(self, flags: int, stream: int, payload: memoryview) -> None:
        _check(len(payload) == 8, frames.FRAME_SIZE_ERROR, "a ping of another size")
        _check(not stream, frames.PROTOCOL_ERROR, "a ping of a call")
        if not flags & frames.ACK:
            self._sending.send(frames.frame(frames.PING, frames.ACK, 0, bytes(payload)))

    def _take_settings(self, flags: int, stream: int, payload: memoryview) -> None:
        _check(not stream, frames.PROTOCOL_ERROR, "settings of a call")
        if flags & frames.ACK:
            _check(not payload, frames.FRAME_SIZE_ERROR, "an answer with settings")
            return
        _check(len(payload) % 6 == 0, frames.FRAME_SIZE_ERROR, "half a setting")
        with self._lock:
            open_calls = list(self._calls.values())
        self._sending.obey(dict(frames.SETTING.iter_unpack(payload)), open_calls)

    # ---- what is answered --------------------------------------------------------------------

    def _answer_and_return(self) -> bool:
        """Answers, while others may read; says whether this thread reads again."""
        call = self._whole.pop()
        self._leave()
        answer = self._outcome(call)
        reads = self._return()
        if reads and not isinstance(answer, Failed) and not self._sending.fits(call, len(answer)):
            self._leave()  # someone has to hear that the caller takes more
            reads = False
        self._finish(call, answer)
        return reads or self._return()

    def _answer(self, call: Call) -> None:
        self._finish(call, self._outcome(call))

    def _outcome(self, call: Call) -> bytes | Failed:
        try:
            return self._rules.methods[call.head.path](call.message.whole(), call)
        except Failed as error:
            return error
        except Exception as error:
            _log.error("%s failed by a defect", call.head.path, exc_info=True)
            return Failed(calls.INTERNAL, f"{type(error).__name__}: {error}")

    def _finish(self, call: Call, answer: bytes | Failed) -> None:
        try:
            with self._lock:
                waited_for = not call.over and not self._over
                call.answered = True
            if waited_for and isinstance(answer, Failed):
                self._sending.fail(call.stream, answer)
            elif waited_for:
                self._sending.answer(call, answer)  # type: ignore[arg-type]
        except OSError as error:
            _log.debug("an answer could not be sent: %s", error)
            self.end()
        finally:
            self._ended(call)

    def _ended(self, call: Call) -> None:
        with self._lock:
            call.over = True
            self._calls.pop(call.stream, None)
            self._open -= 1
            done = self._drains and not self._open
        if done:
            self.end()
        elif self._over:
            self._close_if_unused()

    def _refuse(self, call: Call, error: Failed) -> None:
        """Ends a call whose message has not come; what still comes of it is dropped."""
        call.over = True
        self._sending.fail(call.stream, error)
        self._sending.send(frames.reset(call.stream, frames.NO_ERROR))
        self._ended(call)

    # ---- for the server ----------------------------------------------------------------------

    def look(self, now: float, idle_seconds: float, patience: float) -> None:
        """Pings a peer that is silent, ends a connection that is dead, and calls that are late."""
        late = [call for call in list(self._calls.values()) if _is_late(call, now)]
        for call in late:
            self._end_late(call)
        silent = now - self.heard
        if silent > idle_seconds + patience:
            _log.debug("a connection ends: no answer for %.0f s", silent)
            self.end()
        elif silent > idle_seconds and self.greeted:
            self._sending.ping()

    def _end_late(self, call: Call) -> None:
        with self._lock:
            if call.over or call.answered or self._over:
                return
            call.over = True
            self._calls.pop(call.stream, None)
            if not call.begun:
                self._open -= 1
        self._cancel(call)
        late = Failed(calls.DEADLINE_EXCEEDED, "Deadline Exceeded")
        try:
            self._pool.submit(self._sending.fail_quietly, call.stream, late)
        except RuntimeError:  # the server has stopped
            return

    def drain(self) -> None:
        """Takes no more calls, and ends after the last of those that have come."""
        with self._lock:
            self._drains = True
            idle = not self._open
        self._say_last(frames.NO_ERROR)
        if idle:
            self.end()

    def _say_last(self, code: int, text: str = "") -> None:
        try:
            self._sending.send(frames.goaway(self._last, code, text))
        except OSError:
            pass  # nobody is there to hear it


def _greeting(rules: Rules) -> bytes:
    settings = (
        (frames.STREAMS, rules.streams),
        (frames.INITIAL_WINDOW, _CALL_WINDOW),
        (frames.FRAME_SIZE, _FRAME_BYTES),
        (frames.HEADER_LIST_SIZE, rules.header_bytes),
    )
    return frames.settings(settings) + frames.window(0, _WINDOW - frames.FIRST_WINDOW)


def _is_late(call: Call, now: float) -> bool:
    return call.until is not None and call.until < now and not call.over


def _check(right: bool, code: int, text: str) -> None:
    if not right:
        raise ConnectionFailed(code, text)


def _seconds(seconds: int) -> bytes:
    """A ``struct timeval``."""
    return struct.pack("ll", seconds, 0)
