"""Two checkouts of Penstock in one run: is the one slower than the other?

Both take turns in every round, so the two turns of a round had about the same machine. The ratio of
each round counts; the median over rounds is given with its interval of confidence, which order
statistics give without an assumption about how the ratios are spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import BEFORE

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Comparison:
    """How a case came out.

    Attributes:
        case: Its name.
        ratio: The median over rounds of this checkout's turn by the other's.
        low, high: Where the median of all such ratios lies with 95% confidence; infinitely far
            where the rounds are too few to tell.
    """

    case: str
    ratio: float
    low: float
    high: float

    @property
    def slower(self) -> bool | None:
        """Whether this checkout is slower beyond what chance explains; None if none can tell."""
        return None if self.high == math.inf else self.low > 1.0

    def __str__(self) -> str:
        found = f"{self.case}: {self.ratio:.3f} of {BEFORE}"
        if self.slower is None:
            return f"{found}: too few rounds to tell"
        outcome = "SLOWER" if self.slower else "not slower"
        return f"{found} ({self.low:.3f} to {self.high:.3f}): {outcome}"


def compare(case: str, now: Sequence[float], before: Sequence[float]) -> Comparison:
    """Compares turns of the same rounds.

    Example:
        >>> str(compare("cnn", [1.0, 1.0, 1.1, 1.0, 1.0, 0.9], [1.0] * 6))
        'cnn: 1.000 of penstock_before (0.900 to 1.100): not slower'
    """
    ratios = sorted(a / b for a, b in zip(now, before, strict=True))
    outside = _outside(len(ratios))
    low = ratios[outside - 1] if outside else 0.0
    high = ratios[-outside] if outside else math.inf
    return Comparison(case, median(ratios), low, high)


def _outside(count: int) -> int:
    """The rank, counted from both ends, between which the median lies with that confidence.

    Zero when so few values cannot tell. So many of ``count`` values lie below the median as tails
    show in tosses of a coin.

    >>> _outside(5), _outside(6), _outside(15)
    (0, 1, 4)
    """
    below, rank = 0.0, 0
    while rank < count / 2:
        below += math.comb(count, rank) / 2**count
        if below > (1 - CONFIDENCE) / 2:
            break
        rank += 1
    return rank
