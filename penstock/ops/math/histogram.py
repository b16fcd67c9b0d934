"""Counting values: Bincount and histograms of fixed width."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.math.reductions import reduce_max, reduce_prod


def _bins_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("size", 0)
    size = ctx.value("size")
    if size is None:
        return (None,)
    if size < 0:
        raise ValueError(f"size must not be negative; found {int(size)}")
    return (int(size),)


def _bincount(arr: Any, size: int, weights: Any) -> Any:
    if size < 0:
        raise ValueError(f"size must not be negative; found {size}")
    flat = arr.reshape(-1).to(torch.int64)
    if flat.numel() and int(flat.min()) < 0:
        raise ValueError(f"Input arr must be non-negative! It holds {int(flat.min())}")
    if weights.numel() and weights.shape != arr.shape:
        raise ValueError(
            f"weights must be empty or of the shape of arr, {list(arr.shape)};"
            f" found {list(weights.shape)}"
        )
    kept = flat < size
    values = weights.reshape(-1) if weights.numel() else weights.new_ones(flat.numel())
    return weights.new_zeros(size).index_add_(0, flat[kept], values[kept])


define_op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    attrs=["T: {int32, int64, float, double}"],
    shape=_bins_shape,
    kernel=_bincount,
    host=("size",),
    no_gradient="TF defines none for Bincount; bincount with weights differentiates as"
    " UnsortedSegmentSum",
)


def _histogram_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("nbins", 0)
    range_dims = ctx.rank("value_range", 1)
    if range_dims[0] not in (None, 2):
        raise ValueError(f"value_range must hold 2 elements; it has {range_dims[0]}")
    bins = ctx.value("nbins")
    if bins is None:
        return (None,)
    if bins <= 0:
        raise ValueError(f"nbins must be positive; found {int(bins)}")
    return (int(bins),)


def _histogram(values: Any, value_range: Any, nbins: int, dtype: Any) -> Any:
    low, high = value_range.tolist()
    if nbins <= 0:
        raise ValueError(f"nbins must be positive; found {nbins}")
    if not low < high:
        raise ValueError(f"value_range must be increasing; found [{low}, {high}]")
    step = (float(high) - float(low)) / nbins
    flat = values.reshape(-1).clamp(min=low)
    index = ((flat - low).to(torch.float64) / step).clamp(max=nbins - 1).to(torch.int64)
    return torch.bincount(index, minlength=nbins).to(dtype)


define_op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    attrs=["T: {int32, int64, float, double}", "dtype: {int32, int64} = int32"],
    shape=_histogram_shape,
    kernel=_histogram,
    host=("nbins",),
    no_gradient="counts are piecewise constant",
)


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """How often each integer occurs in ``arr``, or the sum of its weights.

    Args:
      arr: int32 tensor of values that are not negative.
      weights: tensor of the shape of ``arr``, summed instead of ones.
      minlength: the result has at least this many bins.
      maxlength: the result has at most this many bins; larger values are not counted.
      dtype: dtype of the counts without weights.

    Returns:
      A vector of ``max(arr) + 1`` bins, within the two limits.
    """
    with name_scope("bincount"):
        values = convert_to_tensor(arr, dtypes.int32, name="arr")
        nonempty = nodes.greater(reduce_prod(nodes.shape(values)), 0)
        some = nodes.cast(nonempty, dtypes.int32)
        size = nodes.mul(some, nodes.add(reduce_max(values), 1))
        if minlength is not None:
            least = convert_to_tensor(minlength, dtypes.int32, name="minlength")
            size = nodes.maximum(least, size)
        if maxlength is not None:
            most = convert_to_tensor(maxlength, dtypes.int32, name="maxlength")
            size = make("Minimum", most, size)
        if weights is not None:
            given = convert_to_tensor(weights, name="weights")
            return make("UnsortedSegmentSum", given, values, size)
        none = constant(np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype), dtype)
        return make("Bincount", values, size, none)


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts of ``values`` in ``nbins`` bins of equal width.

    Args:
      values: int32, int64, float or double tensor.
      value_range: vector ``[low, high]`` of that dtype; values outside count in the outer bins.
      nbins: number of bins.
      dtype: int32 or int64, of the counts.

    Returns:
      A vector of ``nbins`` counts.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return make("HistogramFixedWidth", values, value_range, nbins, name=scope, dtype=dtype)
