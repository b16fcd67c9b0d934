"""What a simulated run gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies, between neighbours if need be.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.5
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass(frozen=True)
class Result:
    """Step times and throughput of a run, its beginning left out.

    Attributes:
        median, p10, p90, mean: Seconds a step: of a worker (async), between updates (sync).
        throughput: Examples a second that went into updates.
        steps: Steps that these are of.
        dropped: The share of gradients that came too late (backups).
        ps_network, worker_network: The share of the time that the busiest interface was busy.
        ps_updates: The share of the time that the busiest parameter server's updates took, by
            its slots.
        sent, received: Bytes sent and received in the whole run.
        events: Events of the whole run.
    """

    median: float
    p10: float
    p90: float
    mean: float
    throughput: float
    steps: int
    dropped: float
    ps_network: float
    worker_network: float
    ps_updates: float
    sent: float
    received: float
    events: int

    def to_mapping(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)
