"""Memory that steps free is kept for the next step.

glibc hands large blocks back to the system when they are freed and maps fresh pages at the next
step; faulting them in costs far more than computing on them (measured: a 6400 x 4096 product whose
result is allocated anew takes 55 ms, 4.6 ms in kept memory).  So blocks come from the heap, which
is not trimmed.

All threads use the one heap.  Those that glibc makes for other threads cannot hold blocks of 64 MB,
which would be mapped after all (measured: receiving 100 MB in a link's thread took 80 ms more).
This must be asked before other threads begin, so it is when Penstock is imported; a thread that is
older keeps its heap, which others may come to share.

``PENSTOCK_KEEP_MEMORY=0`` in the environment leaves the allocator alone.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

# Parameters of glibc's mallopt.
_TRIM_THRESHOLD = -1
_MMAP_MAX = -4
_ARENA_MAX = -8


@functools.cache
def keep_freed_memory() -> bool:
    """Asks the C allocator to keep what is freed; says whether it agreed."""
    return _set(_MMAP_MAX, 0) and _set(_TRIM_THRESHOLD, 2**31 - 1)


def share_one_heap() -> bool:
    """Asks the C allocator to make no heaps for threads; says whether it agreed."""
    return _set(_ARENA_MAX, 1)


def _set(parameter: int, value: int) -> bool:
    if os.environ.get("PENSTOCK_KEEP_MEMORY") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(parameter, value))
