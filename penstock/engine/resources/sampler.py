"""Candidate samplers: the lasting state of a candidate sampling op in one session.

A sampler draws classes from a distribution over ``0 .. range_max - 1`` and says how often each
class is expected among the candidates.  With ``unique`` it draws until it has enough different
classes and counts the tries ``t``; a class of probability ``p`` is then expected
``1 - (1 - p)^t`` times.

State: a NumPy generator (of the op's ``Stream``) and what the distribution needs; the learned one
also counts the classes it has seen.  All work is on small arrays on the host: a step draws tens of
classes, and there NumPy calls and C loops of the interpreter beat tensor calls.

Drawing has slack: numbers drawn beyond the last one needed are thrown away, which changes nothing
since draws are independent.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

from penstock.engine.resources.stream import Stream

# Tables of log(1 - p) larger than this (elements) are not kept; the logs are then taken each time.
_TABLE_LIMIT = 1 << 21

Expected = tuple[np.ndarray, np.ndarray, np.ndarray]


class Sampler:
    """Draws candidates; subclasses give the distribution.

    Args:
      stream: where the numbers come from.
      range_max: how many classes there are.
      num_sampled: how many candidates a batch has.
      unique: whether the candidates of a batch are all different.

    Raises:
      ValueError: more different candidates are asked for than there are classes.
    """

    def __init__(self, stream: Stream, range_max: int, num_sampled: int, unique: bool) -> None:
        if unique and num_sampled > range_max:
            raise ValueError(
                f"unique=True needs num_sampled <= range_max; found {num_sampled} and {range_max}"
            )
        self.range_max, self.num_sampled, self.unique = range_max, num_sampled, unique
        self.numpy = stream.numpy
        self._table: np.ndarray | None = None
        self._tries = 2 * num_sampled

    def draw(self, count: int) -> np.ndarray:
        """``count`` independent draws."""
        raise NotImplementedError

    def probability(self, classes: np.ndarray) -> np.ndarray:
        """Probability of each class in one draw."""
        raise NotImplementedError

    def batch(self, true_classes: np.ndarray) -> Expected:
        """One batch of candidates.

        Args:
          true_classes: int64, any shape.

        Returns:
          Candidates (int64), the expected counts of the true classes, and of the candidates
          (float32).
        """
        size = self.num_sampled
        if self.unique:
            chosen, tries = self._different()
        else:
            chosen, tries = self.draw(size), size
        both = np.concatenate((chosen, true_classes.ravel()))
        if tries == size:
            expected = self.probability(both) * size
        else:
            expected = self._log_miss(both)
            expected *= tries
            np.expm1(expected, expected)
            np.negative(expected, expected)
        counts = expected.astype(np.float32)
        return chosen, counts[size:].reshape(true_classes.shape), counts[:size]

    def _different(self) -> tuple[np.ndarray, int]:
        size = self.num_sampled
        drawn: list[int] = self.draw(self._tries).tolist()
        found = list(dict.fromkeys(drawn))
        while len(found) < size:
            drawn += self.draw(len(drawn)).tolist()
            found = list(dict.fromkeys(drawn))
        tries = drawn.index(found[size - 1]) + 1
        # Next time, draw about as many in one go as were needed now.
        self._tries = tries + tries // 8
        return np.array(found[:size], np.int64), tries

    def _log_miss(self, classes: np.ndarray) -> np.ndarray:
        """log(1 - p) of each class."""
        table = self._table
        if table is None:
            if self.range_max > _TABLE_LIMIT:
                logs: np.ndarray = np.log1p(-self.probability(classes))
                return logs
            everything = np.arange(self.range_max, dtype=np.int64)
            with np.errstate(divide="ignore"):
                table = self._table = np.log1p(-self.probability(everything))
        return table.take(classes)


class UniformSampler(Sampler):
    """Every class is as likely as any other."""

    def draw(self, count: int) -> np.ndarray:
        return self.numpy.integers(0, self.range_max, count)

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, 1 / self.range_max)


class LogUniformSampler(Sampler):
    """Class ``k`` has probability ``log((k + 2) / (k + 1)) / log(range_max + 1)`` (Zipf-like)."""

    def __init__(self, stream: Stream, range_max: int, num_sampled: int, unique: bool) -> None:
        super().__init__(stream, range_max, num_sampled, unique)
        self._log_range = math.log1p(range_max)

    def draw(self, count: int) -> np.ndarray:
        numbers = self.numpy.random(count)
        numbers *= self._log_range
        classes = np.exp(numbers, numbers).astype(np.int64)
        classes -= 1
        # Rounding may reach range_max; it stands for class 0, as in TensorFlow.
        classes %= self.range_max
        return classes

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.log1p(1 / (classes + 1.0)) / self._log_range


class FixedUnigramSampler(Sampler):
    """Class ``k`` has a probability in proportion to a given weight."""

    def __init__(
        self, stream: Stream, weights: Sequence[float], num_sampled: int, unique: bool
    ) -> None:
        super().__init__(stream, len(weights), num_sampled, unique)
        array = np.asarray(weights, np.float64)
        likely = int(np.count_nonzero(array))
        if likely == 0 or unique and num_sampled > likely:
            raise ValueError(
                f"{num_sampled} candidate(s) cannot be drawn: {likely} class(es) of {len(array)}"
                " have a weight above 0"
            )
        self._probability = array / array.sum()
        bounds = np.cumsum(self._probability)
        self._bounds = bounds / bounds[-1]

    def draw(self, count: int) -> np.ndarray:
        classes: np.ndarray = self._bounds.searchsorted(self.numpy.random(count), side="right")
        return classes

    def probability(self, classes: np.ndarray) -> np.ndarray:
        chances: np.ndarray = self._probability.take(classes)
        return chances


class LearnedUnigramSampler(Sampler):
    """Class ``k`` is as likely as it was often a true class so far (each counts once more)."""

    def __init__(self, stream: Stream, range_max: int, num_sampled: int, unique: bool) -> None:
        super().__init__(stream, range_max, num_sampled, unique)
        self._lock = threading.Lock()
        self._counts = np.ones(range_max)
        self._bounds = np.cumsum(self._counts)

    def draw(self, count: int) -> np.ndarray:
        numbers = self.numpy.random(count) * self._bounds[-1]
        classes: np.ndarray = self._bounds.searchsorted(numbers, side="right")
        return classes

    def probability(self, classes: np.ndarray) -> np.ndarray:
        chances: np.ndarray = self._counts.take(classes) / self._bounds[-1]
        return chances

    def _log_miss(self, classes: np.ndarray) -> np.ndarray:
        logs: np.ndarray = np.log1p(-self.probability(classes))
        return logs

    def batch(self, true_classes: np.ndarray) -> Expected:
        with self._lock:
            result = super().batch(true_classes)
            np.add.at(self._counts, true_classes.ravel(), 1)
            self._bounds = np.cumsum(self._counts)
            return result


class AllSampler(Sampler):
    """Every class once."""

    def batch(self, true_classes: np.ndarray) -> Expected:
        size = self.num_sampled
        chosen = np.arange(size, dtype=np.int64)
        return chosen, np.ones(true_classes.shape, np.float32), np.ones(size, np.float32)
