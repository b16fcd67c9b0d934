"""Memory that steps free is kept for the next step.

glibc hands large blocks back to the system when they are freed and maps fresh pages at the next
step; faulting them in costs far more than computing on them (measured: a 6400 x 4096 product whose
result is allocated anew takes 55 ms, 4.6 ms in kept memory).  So blocks come from the heap, which
is not trimmed.  ``PENSTOCK_KEEP_MEMORY=0`` in the environment leaves the allocator alone.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

# Parameters of glibc's mallopt.
_TRIM_THRESHOLD = -1
_MMAP_MAX = -4


@functools.cache
def keep_freed_memory() -> bool:
    """Asks the C allocator to keep what is freed; says whether it agreed."""
    if os.environ.get("PENSTOCK_KEEP_MEMORY") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, 2**31 - 1))
