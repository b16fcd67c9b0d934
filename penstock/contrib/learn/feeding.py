"""Arrays as the input of an estimator of ``tf.contrib.learn``: batches that are fed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.ops.array.constant import placeholder
from penstock.training.monitored.hook import SessionRunArgs, SessionRunContext, SessionRunHook

_SEED = 42


def _array(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _features(value: Any) -> np.ndarray:
    array = _array(value)
    return array[:, np.newaxis] if array.ndim == 1 else array


class ArrayFeeder(SessionRunHook):
    """Feeds batches of arrays; begins anew, shuffled if wanted, where they end.

    Args:
      x: the features, or arrays by key; equally many rows each.
      y: the labels, or None.
      batch_size: rows of a batch; None for all.
      shuffle: whether rows are shuffled.
      epochs: how often they are used; None for ever.
    """

    def __init__(
        self, x: Any, y: Any, batch_size: int | None, shuffle: bool, epochs: int | None
    ) -> None:
        whole = isinstance(x, Mapping)
        self._x = {k: _features(v) for k, v in x.items()} if whole else _features(x)
        self._y = None if y is None else _array(y)
        first = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        self._count = len(first)
        self._batch = batch_size or self._count
        self._random = np.random.RandomState(_SEED) if shuffle else None
        self._epochs_left = epochs
        self._offset = 0
        self._order = self._ordered()
        self._places: dict[Any, np.ndarray] = {}

    def _ordered(self) -> np.ndarray:
        if self._random is None:
            return np.arange(self._count)
        return self._random.permutation(self._count)

    def input_fn(self) -> tuple[Any, Any]:
        """Placeholders of features and labels in the default graph."""
        self._places = {}
        if isinstance(self._x, dict):
            features: Any = {key: self._held(v, f"input_{key}") for key, v in self._x.items()}
        else:
            features = self._held(self._x, "input")
        return features, None if self._y is None else self._held(self._y, "output")

    def _held(self, array: np.ndarray, name: str) -> Any:
        dtype = dtypes.string if array.dtype.kind in "OSU" else dtypes.as_dtype(array.dtype)
        made = placeholder(dtype, [None, *array.shape[1:]], name=name)
        self._places[made] = array
        return made

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feeds the next batch; ends the session where there is none."""
        if self._epochs_left is not None and self._epochs_left <= 0:
            raise StopIteration
        rows = self._order[self._offset : self._offset + self._batch]
        self._offset += self._batch
        if self._offset >= self._count:
            self._offset, self._order = 0, self._ordered()
            if self._epochs_left is not None:
                self._epochs_left -= 1
        return SessionRunArgs(None, {place: array[rows] for place, array in self._places.items()})


def input_of(
    x: Any, y: Any, input_fn: Any, batch_size: int | None, *, shuffle: bool, epochs: int | None
) -> tuple[Callable[[], Any], list[SessionRunHook]]:
    """The input function of arrays, and the hook that feeds; or the function that was given.

    Raises:
      ValueError: both, or neither, are given.
    """
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        feeder = ArrayFeeder(x, y, batch_size, shuffle, epochs)
        return feeder.input_fn, [feeder]
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and either x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")
    return input_fn, []
