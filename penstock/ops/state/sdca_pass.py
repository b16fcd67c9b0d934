"""A pass of dual coordinate ascent over examples of a linear model.

A pass visits examples one by one, and moves the dual variable of each to where the dual objective
is largest; what that changes of the weights is collected beside the weights, as their *deltas*.

Numbers are TensorFlow's: weights, states and products with dense features of 32 bits, all else of
64.  Where TensorFlow reads memory of others (lists of unlike lengths) this is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from penstock.foundation.base.errors import invalid
from penstock.ops.state.sdca_losses import Loss

_REPEATED = 0.1  # an example seen k times is taken again with this chance to the power of k


def shrinkage(l1: float, l2: float) -> np.float32:
    """By how much weights move towards 0 for the l1 part."""
    with np.errstate(all="ignore"):
        return np.float32(l1) / np.float32(l2)


def _shrunk(weights: np.ndarray, threshold: np.floating[Any]) -> np.ndarray:
    return np.copysign(np.maximum(np.abs(weights) - threshold, 0), weights)


class SparseGroup:
    """The features of one sparse group, by example, with the weights that they meet."""

    def __init__(
        self, examples: np.ndarray, features: np.ndarray, values: np.ndarray | None,
        indices: np.ndarray, weights: np.ndarray, count: int,
    ) -> None:  # fmt: skip
        sizes = [len(features), *([] if values is None else [len(values)])]
        if min(sizes) < len(examples):
            raise invalid(
                "Mismatched sizes of a sparse feature group: each of its example indices has a"
                f" feature index and a value; found {len(examples)} for {sizes}"
            )
        if len(indices) > len(weights):
            raise invalid(
                "Mismatched sizes of a sparse feature group: each of sparse_indices has its weight;"
                f" found {len(indices)} and {len(weights)}"
            )
        self.nominal, self.delta = weights, np.zeros_like(weights)
        ones = np.ones(len(examples)) if values is None else values.astype(np.float64)
        nothing = (np.empty(0, np.int64), np.empty(0))
        self._parts = [nothing] * count
        order = np.argsort(indices, kind="stable")
        for example, start, end in _runs(examples, count):
            found = features[start:end]
            places = _places(found, indices, order)
            if len(np.unique(found)) < len(found):
                raise invalid("Duplicate index in sparse vector.")
            self._parts[example] = (places, ones[start:end])

    def squared_norm(self, example: int) -> float:
        values = self._parts[example][1]
        return float(values @ values)

    def scores(self, example: int, partitions: int, threshold: Any) -> tuple[float, float]:
        """What the group adds to the score: with the weights as given, and with their deltas."""
        places, values = self._parts[example]
        nominal = self.nominal[places]
        moved = nominal + self.delta[places] * np.float32(partitions)
        return tuple(values @ _shrunk(w.astype(np.float64), threshold) for w in (nominal, moved))

    def move(self, example: int, step: np.float64) -> None:
        places, values = self._parts[example]
        self.delta[places] += values * step


def _runs(examples: np.ndarray, count: int) -> Iterator[tuple[int, int, int]]:
    """Where entries of one example stand; what is out of order, and all after it, is nobody's."""
    changes = np.flatnonzero(examples[1:] != examples[:-1]) + 1
    bounds = [0, *changes, len(examples)]
    before = -1
    for start, end in pairwise(bounds) if len(examples) else ():
        example = int(examples[start])
        if not before < example < count:
            return
        yield example, int(start), int(end)
        before = example


def _places(features: np.ndarray, indices: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Where the features' weights stand; of an index that is named twice, the last."""
    found = np.searchsorted(indices, features, side="right", sorter=order) - 1
    places = order[np.maximum(found, 0)] if len(order) else np.zeros_like(found)
    known = (found >= 0) & (indices[places] == features) if len(order) else found < -1
    if not known.all():
        raise invalid(f"Found sparse feature indices out of valid range: {features[~known][0]}")
    return places


class DenseGroup:
    """The features of one dense group, a row an example, with its weights."""

    def __init__(self, features: np.ndarray, weights: np.ndarray, count: int) -> None:
        if features.ndim != 2 or len(features) < count:
            raise invalid(
                "Dense features must be a matrix with a row for each example; found shape"
                f" {list(features.shape)} for {count} example(s)"
            )
        if features.shape[1] > weights.size or not features.shape[1]:
            raise invalid(
                f"More dense features than we have parameters for: {features.shape[1]}; there are"
                f" {weights.size}"
            )
        if features.shape[1] < weights.size:
            raise invalid(
                f"Fewer dense features than parameters: {features.shape[1]} for {weights.size}"
            )
        self._rows, self._shape = features, weights.shape
        self.nominal, self._delta = weights.ravel(), np.zeros(weights.size, np.float32)

    @property
    def delta(self) -> np.ndarray:
        return self._delta.reshape(self._shape)

    def squared_norm(self, example: int) -> float:
        row = self._rows[example]
        return float(row @ row)

    def scores(self, example: int, partitions: int, threshold: Any) -> tuple[float, float]:
        row = self._rows[example]
        moved = self.nominal + self._delta * np.float32(partitions)
        return tuple(row @ _shrunk(w, threshold) for w in (self.nominal, moved))

    def move(self, example: int, step: np.float64) -> None:
        self._delta += self._rows[example] * np.float32(step)


class Training:
    """One pass: examples with their states, groups of features, and how they are regularized."""

    def __init__(
        self, groups: Sequence[SparseGroup | DenseGroup], weights: np.ndarray, labels: np.ndarray,
        state: np.ndarray, loss: Loss, regularization: tuple[float, float], partitions: int,
    ) -> None:  # fmt: skip
        self.state, self._groups, self._loss = state, groups, loss
        self._weights, self._labels = weights.astype(np.float64), labels.astype(np.float64)
        self._l2, self._threshold = np.float64(regularization[1]), shrinkage(*regularization)
        self._partitions = partitions
        count = range(len(weights))
        self._norms = np.array([sum(g.squared_norm(i) for g in groups) for i in count])

    def _scores(self, example: int) -> tuple[np.float64, np.float64]:
        found = [g.scores(example, self._partitions, self._threshold) for g in self._groups]
        before, now = (np.float64(sum(map(float, column))) for column in zip(*found, strict=True))
        return before, now

    def visit(self, example: int) -> None:
        """Moves one example's dual variable, and with it the weights' deltas."""
        loss, weight = self._loss, self._weights[example]
        label, dual = loss.label(self._labels[example]), np.float64(self.state[example, 0])
        before, now = self._scores(example)
        pull = self._partitions * (self._norms[example] / self._l2) * weight
        moved = loss.dual(label, dual, now, pull)
        step = (moved - dual) * weight / self._l2
        for group in self._groups:
            group.move(example, step)
        primal, gain = loss.primal_loss(label, before), loss.dual_loss(label, dual)
        self.state[example] = (moved, primal * weight, gain * weight, weight)

    def importance(self) -> np.ndarray:
        """How much may be gained by each example: chances that adaptive sampling begins with."""
        found = []
        for example, norm in enumerate(self._norms):
            label = self._loss.label(self._labels[example])
            slope = self._loss.slope(label, self._scores(example)[1])
            size = np.sqrt(norm + self._l2 * self._loss.smoothness)
            found.append(self._weights[example] * size * abs(self.state[example, 0] + slope))
        return np.array(found, np.float64)


def drawn(importance: np.ndarray, random: np.random.Generator) -> list[int]:
    """As many examples as there are, the important ones first and often.

    An example that was taken k times is taken again one time in ``10**k``.  After as many refusals
    as there are examples the rest of the pass stays at the first one, as TensorFlow 1.15's does.
    """
    count, upto = len(importance), np.cumsum(importance)
    if not count or not 0 < upto[-1] < np.inf:
        return list(range(count))
    order: list[int] = []
    seen, refused = np.zeros(count, int), 0
    while len(order) < count and refused < count:
        picked = int(np.searchsorted(upto, random.random() * upto[-1], side="right"))
        if random.random() > _REPEATED ** seen[picked]:
            refused += 1
            continue
        seen[picked] += 1
        order.append(picked)
    return order + [0] * (count - len(order))
