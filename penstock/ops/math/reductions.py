"""Reductions beside sums and means: extrema, products, norms, and logical ones.

Extrema over empty dims are allowed, as in TF: they give the lowest or highest value of the dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims
from penstock.foundation.opdef.opdef import torch_dtype_name
from penstock.ops.array import nodes
from penstock.ops.array.unsigned import BARE_UNSIGNED, from_ordered_int64, to_ordered_int64
from penstock.ops.math.reduction import (
    TIDX,
    as_axes,
    define_reduction,
    folded,
    inline_reduction,
    reduce_by,
    reduced_dims,
    reduced_shape,
    reduction,
    safe_div,
)


def _greatest(x: np.ndarray, **over: Any) -> Any:
    return np.max(x, initial=np.iinfo(x.dtype).min, **over)


def _least(x: np.ndarray, **over: Any) -> Any:
    return np.min(x, initial=np.iinfo(x.dtype).max, **over)


def _kept_dims(x: torch.Tensor, axes: list[int], keep: bool) -> list[int]:
    dims = enumerate(x.shape)
    return [1 if i in axes else d for i, d in dims if keep or i not in axes]


def _lowest(dtype: torch.dtype) -> Any:
    return -float("inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> Any:
    return float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max


def _extremum(method: str, empty: Any) -> Any:
    def kernel(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
        axes = as_axes(reduction_indices, input.dim())
        if not axes:
            return input.clone()
        if not input.numel():
            return input.new_full(_kept_dims(input, axes, keep_dims), empty(input.dtype))
        if input.dtype in BARE_UNSIGNED:
            found = getattr(to_ordered_int64(input), method)(axes, keep_dims)
            return from_ordered_int64(found, input.dtype)
        return getattr(input, method)(axes, keep_dims)

    kernel.__name__ = f"_{method}"
    return kernel


def _prod(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    if not axes:
        return input.clone()
    axes.sort(reverse=True)
    dtype = torch.int64 if input.dtype in BARE_UNSIGNED else input.dtype
    result = input.to(dtype)
    for axis in axes:
        result = result.prod(axis, keep_dims, dtype=dtype)
    return result.to(input.dtype)


def _all(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    return torch.all(input, axes, keep_dims) if axes else input.clone()


def _any(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    return torch.any(input, axes, keep_dims) if axes else input.clone()


# ``vector_norm`` adds up in float32 from end to end: of 100 million elements it is wrong by 2.3 %.
_LONG = 1 << 16


def _euclidean_norm(input: Any, reduction_indices: Any, keep_dims: bool) -> Any:
    axes = as_axes(reduction_indices, input.dim())
    dtype = input.dtype
    if not axes:
        return input.abs().to(dtype)
    if dtype.is_floating_point or dtype.is_complex:
        if math.prod(input.shape[axis] for axis in axes) > _LONG:
            sizes = input.abs() if dtype.is_complex else input
            at_least = torch.promote_types(sizes.dtype, torch.float32)
            return sizes.to(at_least).square().sum(axes, keep_dims).sqrt_().to(dtype)
        return torch.linalg.vector_norm(input, 2, axes, keep_dims).to(dtype)
    total = input.to(torch.int64).square().sum(axes, keep_dims).to(dtype)
    return total.to(torch.float64).sqrt().to(dtype)


def _nonempty(call: Any, dims: Dims) -> bool:
    known = dims is not None and None not in dims and 0 not in dims
    return known and call.dtype("input") not in (dtypes.uint16, dtypes.uint32, dtypes.uint64)


def _plain_bool(call: Any, dims: Dims) -> bool:
    return dims is not None


def _single_axis_int(call: Any) -> str | None:
    """Products of shape vectors, which integer gradients of Mean need, as one call."""
    value, dims = call.value("reduction_indices"), call.dims("input")
    dtype = call.dtype("input")
    if value is None or dims is None or len(dims) != 1 or value.size != 1:
        return None
    if dtype in (dtypes.uint16, dtypes.uint32, dtypes.uint64) or call.attr("keep_dims"):
        return None
    return f"{call.arg['input']}.prod(dtype={torch_dtype_name(dtype)})"


def _extremum_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, axes, y = op.inputs[0], op.inputs[1], op.outputs[0]
    kept = reduced_shape(nodes.shape(x), axes)
    y, grad = nodes.reshape(y, kept), nodes.reshape(grad, kept)
    chosen = nodes.cast(nodes.equal(y, x), grad.dtype)
    count = nodes.reshape(make("Sum", chosen, axes), kept)
    return [nodes.mul(nodes.div(chosen, count), grad), None]


def _prod_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x = op.inputs[0]
    shape = nodes.shape(x)
    axes = nodes.reshape(op.inputs[1], [-1])
    kept = reduced_shape(shape, op.inputs[1])
    tiles = safe_div(shape, kept)
    grad = make("Tile", nodes.reshape(grad, kept), tiles)
    # The reduced dims are brought to the front and flattened; products of all the other elements
    # are an exclusive product from the left times one from the right, which needs no division.
    rank = nodes.rank(x)
    axes = nodes.cast(axes, dtypes.int32)
    reduced = nodes.mod(nodes.add(axes, rank), rank)
    others = make("ListDiff", nodes.range_to(rank), reduced, out_idx=dtypes.int32)[0]
    perm = nodes.concat([reduced, others], 0)
    reduced_size = reduce_prod(nodes.gather(shape, reduced))
    other_size = reduce_prod(nodes.gather(shape, others))
    permuted = nodes.transpose(x, perm)
    permuted_shape = nodes.shape(permuted)
    flat = nodes.reshape(permuted, [reduced_size, other_size])
    left = make("Cumprod", flat, 0, exclusive=True)
    right = make("Cumprod", flat, 0, exclusive=True, reverse=True)
    rest = nodes.reshape(nodes.mul(nodes.conj(left), nodes.conj(right)), permuted_shape)
    rest = nodes.transpose(rest, make("InvertPermutation", perm))
    return [nodes.reshape(nodes.mul(grad, rest), shape), None]


def _euclidean_norm_grad(op: Any, grad: Tensor) -> list[Tensor | None]:
    x, axes, y = op.inputs[0], op.inputs[1], op.outputs[0]
    if not op.attrs["keep_dims"]:
        kept = reduced_shape(nodes.shape(x), axes)
        y, grad = nodes.reshape(y, kept), nodes.reshape(grad, kept)
    return [nodes.mul(x, nodes.div(grad, y)), None]


define_reduction(
    "Max", kernel=_extremum("amax", _lowest), gradient=_extremum_grad,
    inline=inline_reduction("amax", fits=_nonempty), fold=folded(_greatest),
)  # fmt: skip


define_reduction(
    "Min", kernel=_extremum("amin", _highest), gradient=_extremum_grad,
    inline=inline_reduction("amin", fits=_nonempty), fold=folded(_least),
)  # fmt: skip


define_reduction(
    "Prod", kernel=_prod, inline=_single_axis_int, gradient=_prod_grad, fold=folded(np.prod)
)


# TF 1.15 has no gradient here; this is what TF 2 gives.
define_reduction("EuclideanNorm", kernel=_euclidean_norm, gradient=_euclidean_norm_grad)


for _name, _kernel, _method in (("All", _all, "all"), ("Any", _any, "any")):
    define_op(
        _name,
        "input: bool, reduction_indices: Tidx -> output: bool",
        attrs=["keep_dims: bool = False", TIDX],
        shape=reduced_dims,
        kernel=_kernel,
        inline=inline_reduction(_method, fits=_plain_bool),
        host=("reduction_indices",),
        no_gradient="booleans have none",
    )


reduce_max = reduction(
    "Max", "Largest element", "real",
    "tf.reduce_max([[1, 9], [3, 4]], axis=1, keepdims=True)", "[[9], [4]]",
)  # fmt: skip


reduce_min = reduction(
    "Min", "Smallest element", "real",
    "tf.reduce_min([[1, 9], [3, 4]], axis=-1)", "[1, 3]",
)  # fmt: skip


reduce_prod = reduction("Prod", "Product of elements")


reduce_all = reduction(
    "All", "Logical and of elements", "bool",
    "tf.reduce_all([[True, True], [True, False]], axis=1)", "[True, False]",
)  # fmt: skip


reduce_any = reduction(
    "Any", "Logical or of elements", "bool",
    "tf.reduce_any([[True, False], [False, False]], axis=1)", "[True, False]",
)  # fmt: skip


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Tensor:
    """Square root of the sum of squares over ``axis``; arguments as of ``reduce_sum``."""
    return reduce_by("EuclideanNorm", input_tensor, axis, keepdims, name, None, None)
