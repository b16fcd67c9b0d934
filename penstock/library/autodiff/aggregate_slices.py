"""Sums of sparse gradients: of one variable's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.gather import gather
from penstock.ops.array.join import concat


def aggregate_slices(terms: Sequence[Any]) -> Any:
    """The sum of gradients of which at least one is an IndexedSlices.

    Returns:
      An IndexedSlices of all rows, or a tensor when one of the terms is dense.
    """
    if any(isinstance(t, Tensor) for t in terms):
        # AddN names the tensors it converts by itself: inputs_0, inputs_1, ...
        return make("AddN", list(terms))
    flat = [_flattened(t) for t in _same_indices(terms)]
    values = _concat([t.values for t in flat])
    indices = _concat([t.indices for t in flat])
    return IndexedSlices(values, indices, flat[0].dense_shape)


def _concat(parts: list[Tensor]) -> Tensor:
    return concat(parts, axis=0)


def _same_indices(terms: Sequence[IndexedSlices]) -> list[IndexedSlices]:
    """The terms with int64 indices when not all are int32."""
    if all(t.indices.dtype is dtypes.int32 for t in terms):
        return list(terms)
    result = []
    for term in terms:
        if term.indices.dtype is dtypes.int32:
            wide = make("Cast", term.indices, DstT=dtypes.int64)
            term = IndexedSlices(term.values, wide, term.dense_shape)
        result.append(term)
    return result


def _flattened(slices: Any) -> IndexedSlices:
    """``slices`` with dense values, where the values are IndexedSlices themselves."""
    if isinstance(slices.values, Tensor):
        return slices  # type: ignore[no-any-return]
    inner = _flattened(slices.values)
    indices = gather(slices.indices, inner.indices)
    return IndexedSlices(inner.values, indices, slices.dense_shape)
