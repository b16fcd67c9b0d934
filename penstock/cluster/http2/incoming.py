"""What comes over one connection: frames become calls, and changes of calls and windows.

For one thread at a time, the one that reads.  State: what both ends have noted of headers, a block
of headers that goes on, the last stream, and how much has come that the peer may send anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.cluster.http2 import frames, headers
from penstock.cluster.http2.call import Call, Handler
from penstock.cluster.http2.frames import ConnectionFailed
from penstock.cluster.http2.open_calls import OpenCalls
from penstock.cluster.http2.reading import Reading
from penstock.cluster.http2.sending import Sending
from penstock.cluster.http2.status import INTERNAL, UNIMPLEMENTED, Failed

# What the peer may send: in a frame, of a call and of all calls before it is told to go on.
FRAME_BYTES, _CALL_WINDOW, _WINDOW = 1 << 18, 1 << 22, 1 << 24
# Frames that one block of headers may come in.
_HEADER_FRAMES = 64
# Calls that a peer may give up within a second.
_RESETS_A_SECOND = 10_000
_ENVELOPE = frames.PADDED | frames.WITH_PRIORITY


@dataclass(frozen=True)
class Rules:
    """What a server answers, and to whom.

    Args:
      methods: the handlers by path: "/package.Service/Method".
      admit: raises ``Failed`` for a call whose message is not to be taken, by its headers; None:
        all are taken.
      message_bytes, header_bytes: limits.
      streams: calls of one connection at a time.
      stalled: answers at a time that wait for callers who take no more.
    """

    methods: dict[str, Handler]
    admit: Callable[[Call], None] | None
    message_bytes: int
    header_bytes: int
    streams: int
    stalled: int


class Incoming:
    """The receiving side of a connection.

    Args:
      reading: its bytes.
      sending: its other side.
      rules: of the server.
      calls: of the connection.
      peer: the address of the other end.
      cancel: has those told who asked to hear that a call is given up.
    """

    def __init__(
        self,
        reading: Reading,
        sending: Sending,
        rules: Rules,
        calls: OpenCalls,
        peer: str,
        cancel: Callable[[Call], None],
    ) -> None:
        self._reading, self._sending, self._rules = reading, sending, rules
        self._calls, self._peer, self._cancel = calls, peer, cancel
        self.greeted = self.drains = False
        self.last = 0
        self._blocks = headers.Blocks(rules.header_bytes)
        # A block of headers that goes on: stream, flags, bytes, frames.
        self._partial: tuple[int, int, bytearray, int] | None = None
        self._whole: list[Call] = []
        self._taken = 0
        self._resets, self._resets_since = 0, 0.0
        # By the kind of a frame; unknown kinds are to be ignored.
        self._takes = (
            self._take_data, self._begin_headers, _take_priority, self._take_reset,
            self._take_settings, _refuse_promise, self._take_ping, _take_goaway,
            self._take_window, self._continue_headers,
        )  # fmt: skip
        # At once, since clients give a server little time to say that it is one.
        sending.send(_greeting(rules))

    def take(self) -> list[Call]:
        """Looks at all whole frames that have come.

        Returns:
          The calls that are whole, which have to be taken from it.

        Raises:
          ConnectionFailed: the peer breaks the protocol, or asks too much.
          OSError: the connection is over.
        """
        if not self.greeted:
            self.greeted = self._reading.greeted()
            if not self.greeted:
                return self._whole
        takes = self._takes
        for kind, flags, stream, payload in self._reading.frames():
            if self._partial is not None and (kind != frames.MORE or stream != self._partial[0]):
                raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers that are interrupted")
            if kind < len(takes):
                takes[kind](flags, stream, payload)
        return self._whole

    def forget_whole(self) -> int:
        """Nobody will answer the calls that are whole; returns how many they are."""
        count = len(self._whole)
        self._whole.clear()
        return count

    # ---- calls -------------------------------------------------------------------------------

    def _begin_headers(self, flags: int, stream: int, payload: memoryview) -> None:
        if not stream & 1:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers of no stream of a client")
        if flags & _ENVELOPE:
            payload = frames.unpadded(flags, payload)
        if len(payload) > self._rules.header_bytes:
            raise ConnectionFailed(frames.ENHANCE_YOUR_CALM, "too large headers")
        if flags & frames.END_HEADERS:
            self._take_headers(flags, stream, payload.tobytes())
        else:
            self._partial = stream, flags, bytearray(payload), 1

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
        head, own = self._blocks.head(block)
        if stream <= self.last:
            self._take_trailers(flags, stream)
            return
        self.last = stream
        if self.drains or self._calls.count >= self._rules.streams:
            self._sending.send(frames.reset(stream, frames.REFUSED_STREAM))
            return
        if not head.is_call:
            refused = frames.header_frames(
                stream, frames.END_STREAM, headers.NO_GRPC, frames.FIRST_FRAME_SIZE
            )
            self._sending.send(refused + frames.reset(stream, frames.NO_ERROR))
            return
        call = Call(stream, head, own, self._sending.first_window, self._peer)
        self._calls.add(call)
        try:
            self._admit(call)
        except Failed as error:
            self._refuse(call, error)
            return
        if flags & frames.END_STREAM:
            self._become_whole(call)

    def _take_trailers(self, flags: int, stream: int) -> None:
        call = self._calls.of(stream)
        if call is None:
            raise ConnectionFailed(frames.STREAM_CLOSED, f"headers of stream {stream}, which ended")
        if not flags & frames.END_STREAM or call.begun:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "headers in the middle of a call")
        self._become_whole(call)

    def _admit(self, call: Call) -> None:
        head, rules = call.head, self._rules
        if rules.admit is not None:
            rules.admit(call)
        found = rules.methods.get(head.path)
        if found is None:
            raise Failed(UNIMPLEMENTED, "Method not found!")
        if head.seconds is not None and head.seconds < 0:
            raise Failed(INTERNAL, "the call's grpc-timeout makes no sense")
        call.handler = found

    def _take_data(self, flags: int, stream: int, payload: memoryview) -> None:
        size = len(payload)
        self._taken += size
        if self._taken >= _WINDOW // 2:
            self._sending.send(frames.window(0, self._taken))
            self._taken = 0
        call = self._calls.of(stream)
        if call is None or call.begun or call.over:
            _check(0 < stream <= self.last, frames.PROTOCOL_ERROR, "data of no call")
            _check(call is None or call.over, frames.STREAM_CLOSED, "data after a call's end")
            return  # of a call that was refused, or that its caller has given up
        ends = bool(flags & frames.END_STREAM)
        if flags & frames.PADDED:
            payload = frames.unpadded(frames.PADDED, payload)
        try:
            call.add(payload, ends, self._rules.message_bytes)
        except Failed as error:
            self._refuse(call, error)
            return
        if ends:
            self._become_whole(call)
            return
        call.taken += size
        if call.taken >= _CALL_WINDOW // 2:
            self._sending.send(frames.window(stream, call.taken))
            call.taken = 0

    def _become_whole(self, call: Call) -> None:
        call.begun = True
        self._whole.append(call)

    def _refuse(self, call: Call, error: Failed) -> None:
        """Ends a call whose message has not come; what still comes of it is dropped."""
        call.over = True
        self._sending.fail(call.stream, error)
        self._sending.send(frames.reset(call.stream, frames.NO_ERROR))
        self._calls.ended(call)

    def _take_reset(self, flags: int, stream: int, payload: memoryview) -> None:
        _check(len(payload) == 4, frames.FRAME_SIZE_ERROR, "a reset of another size")
        _check(0 < stream <= self.last, frames.PROTOCOL_ERROR, "a reset of no call")
        now = time.monotonic()
        if now - self._resets_since > 1.0:
            self._resets, self._resets_since = 0, now
        self._resets += 1
        if self._resets > _RESETS_A_SECOND:
            raise ConnectionFailed(frames.ENHANCE_YOUR_CALM, "too many calls are given up")
        call = self._calls.give_up(stream)
        if call is not None:
            self._sending.wake()
            self._cancel(call)

    # ---- the connection ----------------------------------------------------------------------

    def _take_window(self, flags: int, stream: int, payload: memoryview) -> None:
        if len(payload) != 4:
            raise ConnectionFailed(frames.FRAME_SIZE_ERROR, "a window of another size")
        if stream > self.last:
            raise ConnectionFailed(frames.PROTOCOL_ERROR, "a window of no call")
        size = frames.NUMBER.unpack(payload)[0] & frames.LARGEST_WINDOW
        self._sending.widen(self._calls.of(stream) if stream else None, size, stream)

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
        self._sending.obey(dict(frames.SETTING.iter_unpack(payload)), self._calls.all())


def _take_priority(flags: int, stream: int, payload: memoryview) -> None:
    _check(bool(stream), frames.PROTOCOL_ERROR, "a priority of no stream")
    _check(len(payload) == 5, frames.FRAME_SIZE_ERROR, "a priority of another size")


def _refuse_promise(flags: int, stream: int, payload: memoryview) -> None:
    raise ConnectionFailed(frames.PROTOCOL_ERROR, "a client that pushes")


def _take_goaway(flags: int, stream: int, payload: memoryview) -> None:
    """It needs no answer, since nothing is sent unasked."""


def _greeting(rules: Rules) -> bytes:
    settings = (
        (frames.STREAMS, rules.streams),
        (frames.INITIAL_WINDOW, _CALL_WINDOW),
        (frames.FRAME_SIZE, FRAME_BYTES),
        (frames.HEADER_LIST_SIZE, rules.header_bytes),
    )
    return frames.settings(settings) + frames.window(0, _WINDOW - frames.FIRST_WINDOW)


def _check(right: bool, code: int, text: str) -> None:
    if not right:
        raise ConnectionFailed(code, text)
