"""Arrays to files and back, in chunks: one pass over the data, no second copy, a CRC on the way.

A chunk is small enough to stay in the processor's cache between the CRC and the copy to the kernel,
and large enough that the calls do not count; both calls release the GIL.  Strided arrays go through
a buffer of one chunk.  A large contiguous array is cut into spans, a thread each, and their CRCs
are combined: one core can neither sum nor copy as fast as memory delivers.  Files hold
little-endian values.

Blocks are not reserved beforehand: measured over many saves of 1 GB, letting the system place them
when it writes the file out took two thirds of the time.

State: `Sink` an open file and its length; `Source` an open file and its length.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Self

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.formats import crc as _crc, files

CHUNK = 1 << 18
# The chunk of a thread that works beside others.
_LONG_CHUNK = 4 << 20
# From here on starting threads costs less than they save.
_SPLIT = 8 << 20
_MOST_THREADS = 4


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Sink:
    """A file that is written from front to back.

    Args:
      path: local or remote; an older file of this name is emptied.
      threads: how many write large arrays; default one a core, up to four.  One is for work
        beside other work: it takes longer chunks, since it may have to wait for the GIL each time.

    Raises:
      NotFoundError, PermissionDeniedError, ResourceExhaustedError: as the system says.
    """

    def __init__(self, path: str, threads: int | None = None) -> None:
        self.path = path
        self.length = 0
        self._threads = threads
        self._stream: IO[Any] | None = None
        self._descriptor = -1
        if files.is_remote(path):
            self._stream = files.open_file(path, "wb")
            return
        with files.error_names(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            self._descriptor = os.open(files.local(path), flags, 0o666)

    def write(self, data: _crc.Bytes) -> None:
        """Appends bytes."""
        view = memoryview(data)
        if self._stream is not None:
            with files.error_names(self.path):
                self._stream.write(view)
        else:
            self._put(view, self.length)
        self.length += len(view)

    def _put(self, view: memoryview, offset: int) -> None:
        with files.error_names(self.path):
            while len(view):
                count = os.pwrite(self._descriptor, view, offset)
                view, offset = view[count:], offset + count

    def write_array(self, array: np.ndarray) -> int:
        """Appends the values of an array in C order; returns their CRC."""
        if self._stream is None and _splits(array):
            origin, view = self.length, _bytes_of(array)

            def put(chunk: memoryview, at: int, crc: int) -> int:
                chunk = _still(chunk)
                self._put(chunk, origin + at)
                return _crc.extend(crc, chunk)

            total = _in_spans(view, put, self._threads)
            self.length += len(view)
            return total
        crc = 0
        for piece in pieces(array):
            view = _still(_bytes_of(_little(np.ascontiguousarray(piece))))
            crc = _crc.extend(crc, view)
            self.write(view)
        return crc

    def sync(self) -> None:
        """Waits until the data is on the disk."""
        if self._stream is None:
            with files.error_names(self.path):
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._stream is not None:
            with files.error_names(self.path):
                self._stream.close()
        elif self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with files.error_names(self.path):
                os.close(descriptor)


def _still(chunk: memoryview) -> memoryview:
    """A copy of memory that a step may change between its CRC and its being written."""
    return np.frombuffer(chunk, np.uint8).copy().data


class Source:
    """A file that is read at any place, by several threads at once.

    Args:
      path: local or remote.

    Raises:
      NotFoundError, PermissionDeniedError: as the system says.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._stream: IO[Any] | None = None
        self._descriptor = -1
        self._lock = threading.Lock()
        if files.is_remote(path):
            self._stream = files.open_file(path, "rb")
            self.size = self._stream.seek(0, os.SEEK_END)
            return
        with files.error_names(path):
            self._descriptor = os.open(files.local(path), os.O_RDONLY)
            self.size = os.fstat(self._descriptor).st_size

    def read_into(self, view: memoryview, offset: int, what: str) -> None:
        """Fills `view` with the bytes at `offset`.

        Args:
          view: memory to fill.
          offset: where in the file.
          what: what is being read, for the error.

        Raises:
          DataLossError: the file ends before.
        """
        at, rest = offset, view
        while len(rest):
            count = self._read_some(rest, at)
            if not count:
                raise self.lost(what, at, "the file ends here")
            at, rest = at + count, rest[count:]

    def _read_some(self, view: memoryview, offset: int) -> int:
        with files.error_names(self.path):
            if self._stream is None:
                return os.preadv(self._descriptor, [view], offset)
            with self._lock:
                self._stream.seek(offset)
                return self._stream.readinto(view)  # type: ignore[no-any-return,attr-defined]

    def read(self, offset: int, size: int, what: str) -> bytes:
        """`size` bytes at `offset`.

        Raises:
          DataLossError: the file is shorter.
        """
        self.check(offset, size, what)
        data = bytearray(size)
        self.read_into(memoryview(data), offset, what)
        return bytes(data)

    def read_array(self, offset: int, array: np.ndarray, what: str) -> int:
        """Fills an array of any strides with the values at `offset`; returns their CRC."""
        self.check(offset, array.nbytes, what)
        if self._stream is None and _splits(array):

            def get(chunk: memoryview, at: int, crc: int) -> int:
                self.read_into(chunk, offset + at, what)
                return _crc.extend(crc, chunk)

            return _in_spans(_bytes_of(array), get)
        crc = 0
        for piece in pieces(array):
            direct = piece.flags.c_contiguous and piece.dtype.isnative
            target = piece if direct else np.empty(piece.shape, _little_type(piece.dtype))
            view = _bytes_of(target)
            self.read_into(view, offset, what)
            crc = _crc.extend(crc, view)
            offset += len(view)
            if not direct:
                piece[...] = target
        return crc

    def check(self, offset: int, size: int, what: str) -> None:
        """Refuses what is not within the file, before memory is taken for it.

        Raises:
          DataLossError: it is not.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            found = f"{size} bytes are not within a file of {self.size} bytes (truncated?)"
            raise self.lost(what, offset, found)

    def lost(self, what: str, offset: int, found: str) -> errors.DataLossError:
        """The error for corrupt data."""
        text = f"{self.path}: {what} at offset {offset}: {found}"
        return errors.DataLossError(None, None, text)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        with files.error_names(self.path):
            if self._stream is not None:
                self._stream.close()
            elif self._descriptor >= 0:
                descriptor, self._descriptor = self._descriptor, -1
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # A constructor that raised has no descriptor.
        if getattr(self, "_descriptor", -1) >= 0:
            self.close()


def _splits(array: np.ndarray) -> bool:
    """Whether several threads are to share an array."""
    return array.nbytes >= _SPLIT and array.flags.c_contiguous and bool(array.dtype.isnative)


def _in_spans(
    view: memoryview, move: Callable[[memoryview, int, int], int], threads: int | None = None
) -> int:
    """Moves memory to or from a file, a span a thread.

    Args:
      view: the memory.
      move: moves a chunk: takes it, its place in `view` and the CRC before it; gives the CRC.
      threads: how many; default one a core, up to four.

    Returns:
      The CRC of all.
    """
    count = min(_cores(), _MOST_THREADS) if threads is None else threads
    chunk = _LONG_CHUNK if threads == 1 else CHUNK
    # Spans begin at chunks, and so at pages of the file where the array does.
    size = -(-len(view) // (count * chunk)) * chunk
    starts = range(0, len(view), size)

    def span(start: int) -> int:
        crc = 0
        end = min(start + size, len(view))
        for at in range(start, end, chunk):
            crc = move(view[at : min(at + chunk, end)], at, crc)
        return crc

    if len(starts) == 1:
        return span(0)
    with ThreadPoolExecutor(len(starts) - 1, "penstock-file") as pool:
        others = [pool.submit(span, start) for start in starts[1:]]
        total = span(0)
        for start, other in zip(starts[1:], others, strict=True):
            total = _crc.combine(total, other.result(), min(size, len(view) - start))
    return total


def pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """Parts of an array, in C order, each a view of at most a chunk.

    >>> [part.tolist() for part in pieces(np.arange(3))]
    [[0, 1, 2]]
    """
    if array.size == 0:
        return
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        count = max(1, CHUNK // array.itemsize)
        for start in range(0, flat.size, count):
            yield flat[start : start + count]
        return
    row = array.nbytes // array.shape[0]
    if array.nbytes <= CHUNK or array.ndim == 1 and row > CHUNK:
        yield array
        return
    if row > CHUNK:
        for inner in array:
            yield from pieces(inner)
        return
    count = CHUNK // row
    for start in range(0, array.shape[0], count):
        yield array[start : start + count]


def _bytes_of(array: np.ndarray) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)  # bfloat16 has no buffer of its own
    return memoryview(flat)


def _little_type(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.isnative else dtype.newbyteorder("<")


def _little(array: np.ndarray) -> np.ndarray:
    return array.astype(_little_type(array.dtype), copy=False)
