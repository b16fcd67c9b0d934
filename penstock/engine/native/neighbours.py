"""Whether something else used the machine while something was measured."""

from __future__ import annotations

from penstock.foundation.machine.load import Meter

# The share of the cores that others may use beside a measurement that counts.
_QUIET = 0.2


class Neighbours:
    """Sees what others use of the cores, from when it was made or last asked."""

    def __init__(self) -> None:
        self._meter: Meter | None = None
        try:
            self._meter = Meter()
        except (OSError, ValueError, IndexError):
            pass  # the kernel does not say

    def busy(self) -> bool:
        """Whether others used much of the cores since then; False where the kernel does not say."""
        if self._meter is None:
            return False
        try:
            use = self._meter.read()
        except (OSError, ValueError, IndexError):
            return False
        return use.others > _QUIET * use.cores
