"""Quantiles of streams of weighted values, with a bound on their error.

A summary of a stream is a sorted list of entries: a value, its weight, and the least and the
largest rank that it may have.  Two summaries merge into one of both streams; one that has grown too
long is compressed, which widens the ranks.

State of a stream: summaries by level, as the digits of a number; a summary that is too long for its
level is compressed and carried to the next.

Source: Greenwald and Khanna, "Space-efficient online computation of quantile summaries" (2001);
Zhang and Wang, "A fast algorithm for approximate quantiles in high speed data streams" (2007); with
weights, Chen and Guestrin, "XGBoost" (2016), appendix.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

VALUE, WEIGHT, LEAST, LARGEST = range(4)


def _before(entries: Any) -> Any:
    """The largest rank of what stands before each entry."""
    return entries[:, LARGEST] - entries[:, WEIGHT]


def _after(entries: Any) -> Any:
    """The least rank of what stands behind each entry."""
    return entries[:, LEAST] + entries[:, WEIGHT]


def of_values(values: Any, weights: Any) -> Any:
    """The exact summary of values, [entries, 4]; those without weight are left out."""
    values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order].astype(np.float32)
    unique, where = np.unique(values, return_inverse=True)
    heavy = np.zeros(len(unique), np.float32)
    np.add.at(heavy, where, weights)
    largest = np.cumsum(heavy, dtype=np.float32)
    least = np.concatenate([np.zeros(1, np.float32), largest[:-1]])[: len(unique)]
    return np.stack([unique.astype(np.float32), heavy, least, largest], axis=1)


def merged(one: Any, other: Any) -> Any:
    """The summary of both streams."""
    if not len(one) or not len(other):
        return other if not len(one) else one
    found = np.concatenate([_spread(one, other), _spread(other, one)])
    found = found[np.argsort(found[:, VALUE], kind="stable")]
    first = np.concatenate([[True], found[1:, VALUE] != found[:-1, VALUE]])
    # Equal values: one entry with the weight and the ranks of both, which ``_spread`` left apart.
    kept = found[first].copy()
    kept[np.cumsum(first)[~first] - 1, WEIGHT] += found[~first, WEIGHT]
    return kept


def _spread(one: Any, other: Any) -> Any:
    """The entries of one summary, their ranks in both streams."""
    values = other[:, VALUE]
    left = np.searchsorted(values, one[:, VALUE], side="left")
    same = (left < len(values)) & (values[np.minimum(left, len(values) - 1)] == one[:, VALUE])
    at = np.minimum(left, len(values) - 1)
    below = np.where(left > 0, _after(other)[np.maximum(left - 1, 0)], np.float32(0))
    above = np.where(left < len(values), _before(other)[at], other[-1, LARGEST])
    found = one.copy()
    found[:, LEAST] += np.where(same, other[at, LEAST], below)
    found[:, LARGEST] += np.where(same, other[at, LARGEST], above)
    return found


def compressed(entries: Any, size: int, eps: float = 0.0) -> Any:
    """A summary of about ``size`` entries, whose error is at most one in ``size`` larger."""
    size, count = max(size, 2), len(entries)
    if count <= size:
        return entries
    allowed = float(entries[-1, LARGEST]) * max(1.0 / size, eps)
    # As doubles: beside an array of float32 NumPy would round the bound to it.
    before, after = (each(entries).astype(np.float64) for each in (_before, _after))
    kept, read, credit, last = [0], 0, 0, 1
    while read + 1 != count:
        ahead = read + 1
        while ahead != count and credit < count and before[ahead] - after[read] <= allowed:
            credit += size
            ahead += 1
        read = read + 1 if read == ahead - 1 else ahead - 1
        kept.append(read)
        last = read
        credit -= count
    if last + 1 != count:
        kept.append(count - 1)
    return entries[kept]


def error_of(entries: Any) -> float:
    """How far ranks may be off, as a share of the whole weight."""
    if not len(entries):
        return 0.0
    wide = entries[1:, LARGEST] - entries[1:, LEAST] - entries[1:, WEIGHT]
    gaps = _before(entries)[1:] - _after(entries)[:-1]
    worst = max(wide.max(initial=0.0), gaps.max(initial=0.0))
    return float(worst / entries[-1, LARGEST])


def boundaries(entries: Any, count: int) -> Any:
    """About ``count`` values that part the stream into equal shares."""
    if not len(entries):
        return np.zeros(0, np.float32)
    # Rounded to a float32, as in TensorFlow 1.15: which entries stay hangs on the last bit.
    allowed = float(np.float32(error_of(entries) + 1.0 / count))
    return np.unique(compressed(entries, count, allowed)[:, VALUE])


def quantiles(entries: Any, count: int) -> Any:
    """``count`` quantiles, from the least value to the largest."""
    if not len(entries):
        return np.zeros(0, np.float32)
    count, found, at = max(count - 1, 2), [], 0
    middle, before, after = (
        entries[:, LEAST] + entries[:, LARGEST],
        _before(entries),
        _after(entries),
    )
    for rank in range(count + 1):
        twice = 2 * (rank * entries[-1, LARGEST] / count)
        ahead = at + 1
        while ahead < len(entries) and twice >= middle[ahead]:
            ahead += 1
        at = ahead - 1
        low = ahead == len(entries) or twice < after[at] + before[ahead]
        found.append(entries[at if low else ahead, VALUE])
    return np.unique(np.array(found, np.float32))


def block_size(eps: float, most: int) -> int:
    """How many entries a level holds, so that the error of ``most`` values is below ``eps``."""
    if eps <= np.finfo(np.float64).eps:
        return max(most, 2)
    level, size = 1, 2
    while (1 << level) * size < most:
        size = math.ceil(level / eps) + 1
        level += 1
    return max(size, 2)


class Summaries:
    """Summaries by level.

    Args:
      eps: the bound on the error.
      most: how many values there may be.
    """

    def __init__(self, eps: float, most: int) -> None:
        self._eps, self._block = eps, block_size(eps, most)
        self._levels: list[Any] = []

    def add(self, entries: Any) -> None:
        """Takes a summary in."""
        carried = compressed(entries, self._block, self._eps)
        level = 0
        while len(carried):
            if level == len(self._levels):
                self._levels.append(np.zeros([0, 4], np.float32))
            alone = not len(self._levels[level])
            carried = merged(carried, self._levels[level])
            if alone or len(carried) <= self._block + 1:
                self._levels[level] = carried
                return
            carried = compressed(carried, self._block, self._eps)
            self._levels[level] = np.zeros([0, 4], np.float32)
            level += 1

    def whole(self) -> Any:
        """The summary of all."""
        found = np.zeros([0, 4], np.float32)
        for level in self._levels:
            found = merged(found, level)
        return found


def summary_of(values: Any, weights: Any, eps: float) -> Any:
    """The summary of a batch.

    Args:
      values, weights: [batch].
      eps: the bound on the error.
    """
    most = len(values) + 1
    made = Summaries(eps, most)
    held = min(2 * block_size(eps, most), most)
    values, weights = values[weights > 0], weights[weights > 0]
    for start in range(0, len(values), held):
        made.add(of_values(values[start : start + held], weights[start : start + held]))
    return made.whole()


class QuantileStream:
    """Streams of several features, and the boundaries that were last made of them.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.initialized = False
        self.eps, self.most = 0.0, 1
        self.streams: list[Summaries] = []
        self.boundaries: list[Any] = []

    def create(self, eps: float, count: int, most: int) -> None:
        """Begins ``count`` streams."""
        self.eps, self.most = eps, most
        self.streams = [Summaries(eps, most) for _ in range(count)]
        self.boundaries = [np.zeros(0, np.float32) for _ in range(count)]
        self.initialized = True

    def flush(self, count: int, even: bool) -> None:
        """Makes the boundaries of what came so far, and begins anew.

        Args:
          count: about how many.
          even: whether they are quantiles.
        """
        made = quantiles if even else boundaries
        self.boundaries = [made(each.whole(), count) for each in self.streams]
        self.streams = [Summaries(self.eps, self.most) for _ in self.streams]
