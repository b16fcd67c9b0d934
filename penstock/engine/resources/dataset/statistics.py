"""What datasets measure of their elements, added up in histograms of fixed limits.

State: per tag of an aggregator, the counts of its histogram and its sums.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset.base import Context, Dataset, Element, Iterator, Wrapped
from penstock.engine.resources.dataset.order import Over


class Histogram:
    """How often values were between limits."""

    def __init__(self, buckets: int) -> None:
        self.low, self.high = float("inf"), float("-inf")
        self.count, self.total, self.squares = 0, 0.0, 0.0
        self.counts = np.zeros(buckets, np.int64)

    def add(self, value: float, bucket: int) -> None:
        """Counts a value."""
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.count += 1
        self.total += value
        self.squares += value * value
        self.counts[bucket] += 1


class Aggregator:
    """Histograms by tag.

    Args:
      limits: upper ends of the buckets, ascending.
    """

    def __init__(self, limits: np.ndarray) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._found: dict[str, Histogram] = {}

    def add(self, tag: str, value: float) -> None:
        """Counts a value."""
        last = len(self._limits) - 1
        bucket = min(int(np.searchsorted(self._limits, value, side="right")), last)
        with self._lock:
            found = self._found.get(tag)
            if found is None:
                found = self._found[tag] = Histogram(last + 1)
            found.add(value, bucket)

    def histograms(self) -> list[tuple[str, Histogram]]:
        """Tags, in order, and their histograms."""
        with self._lock:
            return sorted(self._found.items())


class _Tagged:
    """An aggregator whose tags have a prefix."""

    def __init__(self, aggregator: Aggregator, prefix: str) -> None:
        self._aggregator, self._prefix = aggregator, prefix

    def add(self, tag: str, value: float) -> None:
        self._aggregator.add(f"{self._prefix}::{tag}" if self._prefix else tag, value)


class Measured(Over):
    """The same elements; what is measured of them goes to an aggregator."""

    def __init__(self, source: Dataset, aggregator: Aggregator, prefix: str) -> None:
        super().__init__(source)
        self._statistics = _Tagged(aggregator, prefix)

    def iterator(self, context: Context) -> Iterator:
        return self.source.iterator(context.with_statistics(self._statistics))

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Stats(Over):
    """The same elements, measured under a tag where there is an aggregator."""

    made: Any

    def __init__(self, source: Dataset, tag: str) -> None:
        super().__init__(source)
        self._tag = tag

    def iterator(self, context: Context) -> Iterator:
        source = self.source.iterator(context)
        if context.statistics is None:
            return source
        made: Iterator = self.made(source, context.statistics, self._tag)
        return made

    def cardinality(self) -> int:
        return self.source.cardinality()


class _StatsIterator(Wrapped):
    def __init__(self, source: Iterator, statistics: Any, tag: str) -> None:
        super().__init__(source)
        self._statistics, self._tag = statistics, tag


class _BytesIterator(_StatsIterator):
    def next(self) -> Element:
        element = self.source.next()
        self._statistics.add(self._tag, float(sum(map(_bytes, element))))
        return element


class _LatencyIterator(_StatsIterator):
    def next(self) -> Element:
        start = time.perf_counter_ns()
        element = self.source.next()
        self._statistics.add(self._tag, (time.perf_counter_ns() - start) // 1000)
        return element


class Bytes(_Stats):
    """Measures how many bytes elements have."""

    made = _BytesIterator


class Latency(_Stats):
    """Measures how many microseconds elements take to be made."""

    made = _LatencyIterator


def _bytes(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return sum(len(v) for v in value.ravel().tolist() if isinstance(v, bytes))
    return 0
