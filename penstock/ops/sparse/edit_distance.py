"""Levenshtein distances between sequences that two sparse tensors hold."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.sparse import sparse_entries as entries

_Sequence = tuple[tuple[int, ...], list[Any]]


def _sequences(indices: Any, values: Any) -> list[_Sequence]:
    """Places and values of the sequences; one ends where the next index names another place."""
    pairs = zip(map(tuple, indices[:, :-1].tolist()), values.tolist(), strict=True)
    groups = itertools.groupby(pairs, key=operator.itemgetter(0))
    return [(place, [value for _, value in group]) for place, group in groups]


def _matched(
    guessed: list[_Sequence], true: list[_Sequence]
) -> Iterator[tuple[tuple[int, ...], list[Any], list[Any]]]:
    """Places with the two sequences there, as two lists in order are merged.

    Of lists out of order it is TensorFlow's reading: whichever place is less has no partner.
    """
    i = j = 0
    while i < len(guessed) or j < len(true):
        if j == len(true) or (i < len(guessed) and guessed[i][0] < true[j][0]):
            yield guessed[i][0], guessed[i][1], []
            i += 1
        elif i == len(guessed) or true[j][0] < guessed[i][0]:
            yield true[j][0], [], true[j][1]
            j += 1
        else:
            yield guessed[i][0], guessed[i][1], true[j][1]
            i, j = i + 1, j + 1


def _distance(a: list[Any], b: list[Any]) -> int:
    """Least number of insertions, deletions and substitutions that make ``b`` of ``a``."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


def _check_sizes(shape: list[int], what: str) -> None:
    """Refuses sizes that no tensor has."""
    if any(size < 0 for size in shape) or math.prod(shape) >= 1 << 63:
        raise ValueError(
            f"{what} must hold sizes >= 0 of fewer than 2^63 elements together; found {shape}"
        )


def _edit_distance(
    hypothesis_indices: Any, hypothesis_values: Any, hypothesis_shape: list[int],
    truth_indices: Any, truth_values: Any, truth_shape: list[int], normalize: bool,
) -> Any:  # fmt: skip
    entries.check(hypothesis_indices, hypothesis_values, hypothesis_shape, "hypothesis")
    entries.check(truth_indices, truth_values, truth_shape, "truth")
    _check_sizes(hypothesis_shape, "hypothesis_shape")
    _check_sizes(truth_shape, "truth_shape")
    if len(hypothesis_shape) != len(truth_shape) or len(truth_shape) < 2:
        raise ValueError(
            "hypothesis and truth must have one rank, at least 2; found shapes"
            f" {hypothesis_shape} and {truth_shape}"
        )
    dims = [max(a, b) for a, b in zip(hypothesis_shape[:-1], truth_shape[:-1], strict=True)]
    entries.check_bounds(hypothesis_indices[:, :-1], dims, "hypothesis_indices")
    entries.check_bounds(truth_indices[:, :-1], dims, "truth_indices")
    result = np.zeros(dims, np.float32)
    guessed = _sequences(hypothesis_indices, hypothesis_values)
    for place, a, b in _matched(guessed, _sequences(truth_indices, truth_values)):
        distance: float = _distance(a, b)
        if normalize:
            distance = distance / len(b) if b else np.inf
        result[place] = distance
    return torch.from_numpy(result)


def _distance_shape(ctx: ShapeContext) -> Dims:
    for prefix in ("hypothesis_", "truth_"):
        entries.entry_shapes(ctx, prefix)
    first, second = (ctx.value(f"{p}_shape") for p in ("hypothesis", "truth"))
    if first is None or second is None:
        return None
    if len(first) != len(second):
        raise ValueError(f"hypothesis has shape {first}, truth {second}; their ranks differ")
    return tuple(int(d) for d in np.maximum(first, second)[:-1])


define_op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64,"
    " truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float",
    attrs=["normalize: bool = True", "T: type"],
    shape=_distance_shape,
    kernel=_edit_distance,
    host=("hypothesis_shape", "truth_shape"),
    no_gradient="a number of edits does not change smoothly",
    on_host=True,
)


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Levenshtein distance of each sequence of ``hypothesis`` to the one of ``truth``.

    Args:
      hypothesis: SparseTensor; its last dim holds the sequences.
      truth: SparseTensor of the same rank and type.
      normalize: whether to divide by the length of the truth; inf where that is 0 and the
        hypothesis is not empty.

    Returns:
      A float32 tensor of rank one less.

    Raises:
      TypeError: one of the two is not a SparseTensor.
    """
    parts = []
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError(f"{what} must be a SparseTensor; found {type(value).__name__}")
        parts += [value.indices, value.values, value.dense_shape]
    return make("EditDistance", *parts, name=name, normalize=normalize)
