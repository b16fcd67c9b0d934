"""A link over a torch.distributed group of two ranks, of the Gloo backend.

The group is opened with a ``Store`` whose keys travel by the OpenLink call: the opener is rank 0.
A message is one small frame if it fits, else a frame with the head (or the prefix of a large head)
and the rest straight from and into its memory, in pieces.

What Gloo does and this file lives with:
* A receive that is posted may be longer than what arrives, not shorter.
* Waiting longer than a timeout closes the connection and fails all that waits on it; so idle
  receives wait for a year, and ``abort`` is a receive with a timeout of a millisecond.
* A send is posted without waiting and its memory must stay until it is done, which only waiting
  tells; so small messages are posted from memory of their own, and reaped many at a time.
* A send that has been written in part is not failed when the connection ends; it waits until its
  own timeout.  Whoever calls ``send`` must not matter: ``links`` has a thread for it.
* A group has a device of its own, thus one listening socket; a stuck group harms no other.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from penstock.base import errors
from penstock.distributed import frames

FRAME_BYTES = 16 << 10
_PIECE_BYTES = 64 << 20
# Small messages that are posted and not reaped: beyond the first number reaping is due, beyond the
# second no more are posted.
_REAP, _MAX_POSTED = 32, 64
_FRAMES, _PIECES, _ABORT = 0, 1, 2
# What the ranks of a group of two tell: where they listen.
_KEYS = frozenset(("0/0", "0/1"))
_YEAR = timedelta(days=365)
# For a piece: 64 MiB in a minute are 9 Mbit/s.
_SEND_TIMEOUT = timedelta(seconds=60)
_ABORT_TIMEOUT = timedelta(milliseconds=1)


# The stubs of torch lack some of these names.
_Store: Any = getattr(dist, "Store")  # noqa: B009
_Group: Any = dist.ProcessGroupGloo


class Exchange(_Store):  # type: ignore[misc]
    """The keys that the two ends of a group tell each other.

    Args:
      ask: ``(keys, values, wanted) -> values`` asks the other end; None at the end that is asked.
      seconds: how long to wait for a key.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[str], Sequence[bytes], Sequence[str]], Sequence[bytes]] | None,
        seconds: float,
    ) -> None:
        super().__init__()
        self._ask, self._seconds = ask, seconds
        self._changed = threading.Condition()
        self._known: dict[str, bytes] = {}
        self._unsent: dict[str, bytes] = {}
        self.error: BaseException | None = None

    def put(self, keys: Sequence[str], values: Sequence[bytes]) -> None:
        """Keys that the other end has sent.

        Raises:
          tf.errors.InvalidArgumentError: a group of two has no such key.
        """
        wrong = set(keys) - _KEYS
        if wrong:
            raise errors.InvalidArgumentError(None, None, f"a link has no keys {sorted(wrong)}")
        with self._changed:
            self._known.update(zip(keys, values))
            self._changed.notify_all()

    def take(self, keys: Sequence[str]) -> list[bytes]:
        """Waits for keys.

        Raises:
          tf.errors.DeadlineExceededError: some are missing when the time is up.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self.error or all(key in self._known for key in keys), self._seconds
            )
            if self.error is not None:
                raise self.error
            missing = [key for key in keys if key not in self._known]
            if missing:
                raise errors.DeadlineExceededError(
                    None, None, f"the other end of a link did not tell {missing} in"
                    f" {self._seconds:g} s",
                )  # fmt: skip
            return [self._known[key] for key in keys]

    def fail(self, error: BaseException) -> None:
        """Ends waits."""
        with self._changed:
            self.error = error
            self._changed.notify_all()

    def flush(self, wanted: Sequence[str] = ()) -> None:
        """Sends what the other end does not know, and asks for keys."""
        if self._ask is None or not (self._unsent or wanted):
            return
        unsent, self._unsent = self._unsent, {}
        try:
            found = self._ask(list(unsent), list(unsent.values()), wanted)
            if len(found) != len(wanted):
                raise errors.InvalidArgumentError(
                    None, None, f"asked for {len(wanted)} keys of a link, got {len(found)}"
                )
        except BaseException as error:
            self.error = error
            raise
        self.put(wanted, found)

    # ---- what the group calls ----------------------------------------------------------------

    def set(self, key: str, value: Any) -> None:
        data = bytes(value)
        with self._changed:
            self._known[key] = self._unsent[key] = data
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        self.wait([key])
        return self._known[key]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        missing = [key for key in keys if key not in self._known]
        if missing:
            self.flush(missing)
            self.take(missing)

    def check(self, keys: Sequence[str]) -> bool:
        return all(key in self._known for key in keys)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        self.wait(keys)
        return [self._known[key] for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[Any]) -> None:
        for key, value in zip(keys, values):
            self.set(key, value)

    def has_extended_api(self) -> bool:
        return True


class GlooLink:
    """One end of an open link.

    Args:
      store: how to find the other end; see ``Exchange``.
      rank: 0 for the end that opens, 1 for the other.
      host: address of this machine to listen at.
      limits: of what the other end sends.
      seconds: how long opening may take.

    Raises:
      tf.errors.OpError: the other end cannot be reached.
    """

    def __init__(
        self, store: Exchange, rank: int, host: str, limits: frames.Limits, seconds: float
    ) -> None:
        options = _Group._Options()
        options._timeout = timedelta(seconds=seconds)
        options._threads = 1
        try:
            options._devices = [_Group.create_device(hostname=host)]
            self._group = _Group(store, rank, 2, options)
            store.flush()
        except RuntimeError as error:
            raise (store.error or _closed(error)) from error
        self._store = store
        self._peer = 1 - rank
        self._limits = limits
        self._out: collections.deque[tuple[Any, torch.Tensor]] = collections.deque()
        # Two: the next frame can arrive while one is looked at.
        self._in = [torch.zeros(FRAME_BYTES, dtype=torch.uint8) for _ in range(2)]
        self._posted = self._group.recv([self._in[0]], self._peer, _FRAMES)

    def post(self, head: bytes, data: torch.Tensor | None) -> bool:
        """Sends a small message without waiting; says whether it could.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        if len(head) + (0 if data is None else data.numel()) > FRAME_BYTES:
            return False
        if len(self._out) >= _MAX_POSTED:
            return False
        try:
            self._post_frame(head, data)
        except RuntimeError as error:
            raise _closed(error) from None
        return True

    def must_reap(self) -> bool:
        """Whether ``reap`` is due."""
        return len(self._out) >= _REAP

    def reap(self) -> None:
        """Waits for what was posted; raises as ``send``."""
        try:
            while self._out:
                self._out[0][0].wait(_SEND_TIMEOUT)
                self._out.popleft()
        except RuntimeError as error:
            raise _closed(error) from None

    def send(self, head: bytes, data: torch.Tensor | None) -> None:
        """Sends a message; for one thread, and never while another posts.

        Raises:
          tf.errors.UnavailableError: the link is closed.
        """
        size = 0 if data is None else data.numel()
        self.reap()
        try:
            if len(head) + size <= FRAME_BYTES:
                self._post_frame(head, data)
                return
            if len(head) <= FRAME_BYTES:
                self._post_frame(head, None)
            else:
                self._post_frame(head[: frames.PREFIX_BYTES], None)
                self._send_pieces(torch.frombuffer(bytearray(head), dtype=torch.uint8))
            if data is not None:
                self._send_pieces(data)
        except RuntimeError as error:
            raise _closed(error) from None

    def receive(self) -> tuple[bytes, Any] | None:
        """Waits for a message; for one thread.

        Returns:
          Header and tensor, or None when the other end has said that it closes.

        Raises:
          tf.errors.UnavailableError: the link is closed.
          tf.errors.InvalidArgumentError: what came is malformed.
        """
        try:
            self._posted.wait(_YEAR)
            frame = self._in[0]
            self._in.reverse()
            self._posted = self._group.recv([self._in[0]], self._peer, _FRAMES)
            return self._message(frames.memory(frame))
        except RuntimeError as error:
            raise _closed(error) from None

    def abort(self) -> None:
        """Closes the link at once; may block, so call it in a thread of its own."""
        try:
            nothing = torch.zeros(1, dtype=torch.uint8)
            self._group.recv([nothing], self._peer, _ABORT).wait(_ABORT_TIMEOUT)
        except RuntimeError:
            # It has timed out, which was the aim, or was closed before.
            return

    def close(self) -> None:
        """Gives the sockets back."""
        self._out.clear()
        self._posted = self._group = None

    def _message(self, frame: memoryview) -> tuple[bytes, Any] | None:
        prefix = frames.parse_prefix(frame, self._limits)
        if prefix.kind == frames.BYE:
            return None
        start = prefix.head_bytes
        if start > FRAME_BYTES:
            whole = self._receive_pieces(start)
            if bytes(whole[: frames.PREFIX_BYTES].numpy()) != bytes(frame[: frames.PREFIX_BYTES]):
                raise errors.InvalidArgumentError(None, None, "a head has two prefixes")
            head = frames.parse_head(prefix, frames.memory(whole))
        else:
            head = frames.parse_head(prefix, frame)
        end = start + head.tensor_bytes
        if end <= FRAME_BYTES:
            return head.header, frames.value_of(head, bytearray(frame[start:end]))
        if head.tensor_bytes == 0:
            return head.header, frames.value_of(head, bytearray())
        return head.header, frames.value_of(head, self._receive_pieces(head.tensor_bytes))

    def _post_frame(self, head: bytes, data: torch.Tensor | None) -> None:
        whole = bytearray(head) if data is None else bytearray(head + bytes(frames.memory(data)))
        frame = torch.frombuffer(whole, dtype=torch.uint8)
        self._out.append((self._group.send([frame], self._peer, _FRAMES), frame))

    def _send_pieces(self, data: torch.Tensor) -> None:
        for piece in torch.split(data, _PIECE_BYTES):
            self._group.send([piece], self._peer, _PIECES).wait(_SEND_TIMEOUT)

    def _receive_pieces(self, size: int) -> torch.Tensor:
        data = torch.empty(size, dtype=torch.uint8)
        pieces = torch.split(data, _PIECE_BYTES)
        posted = [self._group.recv([piece], self._peer, _PIECES) for piece in pieces]
        for each in posted:
            each.wait(_YEAR)
        return data


def _closed(error: BaseException) -> errors.UnavailableError:
    # The first line tells all; Gloo adds where in its source it was.
    return errors.UnavailableError(None, None, str(error).partition("\n")[0])
