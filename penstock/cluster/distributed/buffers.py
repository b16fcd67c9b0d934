"""Memory for tensors that arrive: of large ones it is used again and again.

What comes over a link is taken in by a thread of the link, in a block that the C allocator would
map anew for each tensor and unmap after it; faulting its pages in costs more than the transfer
(measured: 100 MB take 15 ms from shared memory, 80 ms of faults).  Keeping such blocks in a heap
instead fragments it: holes of just the size asked for are too small for an aligned block (measured:
2 GB of heap for three tensors of 100 MB).  So blocks are mapped here, and come back when the last
tensor in them is gone.

State: the blocks that came back, with the time; those nobody took for ten seconds are unmapped.
"""

from __future__ import annotations

import collections
import mmap
import threading
import time
import weakref

import numpy as np
import torch

# Smaller tensors are the allocator's.
_LEAST_BYTES = 1 << 20
_PAGE_BYTES = 64 << 10
_IDLE_SECONDS = 10.0
# A block serves tensors that leave at most this share of it unused.
_SPARE = 0.25


class Buffers:
    """Blocks for tensors of any size."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[tuple[np.ndarray, float]] = []
        # Tensors end anywhere, even in a thread that holds the lock; a deque needs none.
        self._returned: collections.deque[np.ndarray] = collections.deque()

    def take(self, size: int) -> torch.Tensor:
        """A tensor of ``size`` bytes, uint8, with any values."""
        if size < _LEAST_BYTES:
            return torch.empty(size, dtype=torch.uint8)
        block = self._fitting(size)
        if block is None:
            pages = -(-size // _PAGE_BYTES)
            block = np.frombuffer(mmap.mmap(-1, pages * _PAGE_BYTES), dtype=np.uint8)
        lent = block[:size]
        # The tensor keeps this view alive, and nothing else does.
        weakref.finalize(lent, self._returned.append, block).atexit = False
        return torch.from_numpy(lent)

    def trim(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        """Unmaps what nobody took for a while."""
        with self._lock:
            self._collect()
            oldest = time.monotonic() - idle_seconds
            self._free = [(block, since) for block, since in self._free if since > oldest]

    def kept_bytes(self) -> int:
        """Bytes of the blocks that wait to be used again."""
        with self._lock:
            self._collect()
            return sum(block.nbytes for block, _ in self._free)

    def _fitting(self, size: int) -> np.ndarray | None:
        with self._lock:
            self._collect()
            fits = [
                (block.nbytes, at)
                for at, (block, _) in enumerate(self._free)
                if size <= block.nbytes <= max(size * (1 + _SPARE), size + _PAGE_BYTES)
            ]
            return self._free.pop(min(fits)[1])[0] if fits else None

    def _collect(self) -> None:
        now = time.monotonic()
        while self._returned:
            self._free.append((self._returned.popleft(), now))
