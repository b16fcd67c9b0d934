"""The time of checkpoints: that of the day when the process began, and never set afterwards.

Times of checkpoints are compared with those of files and of other processes, so they are seconds
since 1970; but how long one is kept must not depend on who sets the machine's clock meanwhile.
"""

from __future__ import annotations

import time

_offset = time.time() - time.monotonic()


def now() -> float:
    """Seconds since 1970, by a clock that only goes on."""
    return _offset + time.monotonic()
