"""``rejection_resample``: elements left out at random until classes are as often as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.cast import cast
from penstock.ops.array.join import stack
from penstock.ops.array.onehot import one_hot
from penstock.ops.random.random import random_uniform
from penstock.training.data.dataset import Dataset
from penstock.training.data.transformations import sample_from_datasets, scan

_SMOOTHING = 10
_BATCH = 32
_RARELY = 0.01


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Callable[[Dataset], Dataset]:
    """Leaves out elements at random, so that classes are distributed as wanted.

    Args:
      class_func: from an element to its class, an int32 scalar.
      target_dist: vector ``[classes]`` of wanted shares.
      initial_dist: the shares in the dataset; estimated as it is read where None.
      seed: of the choice.

    Returns:
      A transformation whose elements are pairs of class and element.
    """

    def transform(dataset: Dataset) -> Dataset:
        target: Any = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        unchanged = Dataset.zip((classes, dataset))
        if initial_dist is None:
            known = _estimated(target, classes)
            mixing = known.map(lambda initial: _acceptance(initial, target))
            accepted = mixing.map(lambda chances, _: chances)
            original = mixing.map(lambda _, share: share)
        else:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            parts = _acceptance(initial, target)
            accepted = Dataset.from_tensors(parts[0]).repeat()
            share = parts[1]
            # Who is never chosen is never seen to end, and these shares go on without end.
            none, all_ = make("LessEqual", share, 0.0), make("GreaterEqual", share, 1.0)
            unchanged = unchanged.take(make("Select", none, np.int64(0), np.int64(-1)))
            share = make("Select", none, np.float32(_RARELY), share)
            share = make("Select", all_, np.float32(1 - _RARELY), share)
            original = Dataset.from_tensors(share).repeat()

        def chance(kind: Any, chances: Any, element: Any) -> Any:
            return kind, make("GatherV2", chances, kind, 0), element

        drawn = (
            Dataset.zip((classes, accepted, dataset))
            .map(chance)
            .filter(lambda _, p, __: random_uniform([], seed=seed, dtype=dtypes.float32) < p)
            .map(lambda kind, _, element: (kind, element))
            .prefetch(3)
        )
        shares = original.map(lambda share: stack([share, 1.0 - share]))
        return sample_from_datasets([unchanged, drawn], weights=shares, seed=seed)

    return transform


def _acceptance(initial: Any, target: Any) -> tuple[Tensor, Tensor]:
    """The chance of each class to be taken, and the share of elements taken whatever they are."""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratio: Any = make("RealDiv", target, make("AddV2", initial, tiny))
    axis = np.array([0], np.int32)
    largest, smallest = make("Max", ratio, axis), make("Min", ratio, axis)
    return make("RealDiv", ratio - smallest, largest - smallest), smallest


def _estimated(target: Any, classes: Dataset) -> Dataset:
    """For each element the shares of the classes so far, taken batch by batch."""
    count = int(target.shape[0])
    start = make("Fill", np.array([count], np.int32), np.int64(_SMOOTHING))

    def update(seen: Any, batch: Any) -> Any:
        found = one_hot(batch, count, dtype=dtypes.int64)
        now: Any = make("AddV2", seen, make("Sum", found, np.int32(0)))
        whole = make("Sum", now, np.array([0], np.int32))
        shares = make("RealDiv", cast(now, dtypes.float64), cast(whole, dtypes.float64))
        row = make("ExpandDims", cast(shares, target.dtype), 0)
        return now, make("Tile", row, np.array([_BATCH, 1], np.int32))

    return scan(start, update)(classes.batch(_BATCH)).unbatch()
