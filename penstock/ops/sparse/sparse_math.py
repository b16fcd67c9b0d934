"""Arithmetic on sparse tensors: sums, extrema, products with dense tensors, softmax, reductions.

Where two sparse tensors meet, the result has an entry wherever either has one.  A dense operand is
broadcast to the sparse one, never the other way round.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, ShapeContext
from penstock.ops.array import (
    fill,
    gather,
    join,
    nodes,
    ranks,
    reshape,
    shape as shapes,
    slicing,
)
from penstock.ops.array.unsigned import BARE_UNSIGNED, from_ordered_int64, to_ordered_int64
from penstock.ops.math import elementwise, reduction
from penstock.ops.sparse import sparse_entries as entries, sparse_functions

# ---- two sparse tensors --------------------------------------------------------------------------


def _pair_shape(ctx: ShapeContext) -> int | None:
    a_indices, _, a_shape = entries.entry_shapes(ctx, "a_")
    b_indices, _, b_shape = entries.entry_shapes(ctx, "b_")
    ranks = [d for d in (a_shape[0], b_shape[0], a_indices[1], b_indices[1]) if d is not None]
    if len(set(ranks)) > 1:
        raise ValueError(f"a and b differ in rank: {sorted(set(ranks))}")
    return ranks[0] if ranks else None


def _add_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("thresh", 0)
    rank = _pair_shape(ctx)
    return [(None, rank), (None,), (rank,)]


def _check_pair(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> None:
    entries.check(*a, what="a")
    entries.check(*b, what="b")
    if not torch.equal(a[2], b[2]):
        raise ValueError(
            f"Operands' shapes do not match: a has {a[2].tolist()}, b has {b[2].tolist()}"
        )


def _add(
    a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any,
    thresh: Any,
) -> Any:  # fmt: skip
    _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
    where, a_place, b_place = entries.merged(a_indices, b_indices)
    total = entries.wide(a_values).new_zeros(len(where))
    total.index_add_(0, a_place, entries.wide(a_values))
    total.index_add_(0, b_place, entries.wide(b_values))
    total = total.to(a_values.dtype)
    # Only sums may fall under the threshold: what one side alone has is kept as it is.
    kept = torch.bincount(torch.cat([a_place, b_place]), minlength=len(where)) < 2
    kept |= total.abs() >= thresh
    if not bool(kept.all()):
        where, total = where[kept], total[kept]
    return where, total, a_shape


def _add_grad(op: Any, _: Any, grad: Tensor, __: Any) -> list[Any]:
    a, b = op.inputs[0], op.inputs[3]
    a_grad, b_grad = make("SparseAddGrad", grad, a, b, op.outputs[0])
    a_grad.set_shape(op.inputs[1].shape)
    b_grad.set_shape(op.inputs[4].shape)
    return [None, a_grad, None, None, b_grad, None, None]


def _add_grad_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("backprop_val_grad", 1)
    ctx.rank("sum_indices", 2)
    return [(ctx.rank(name, 2)[0],) for name in ("a_indices", "b_indices")]


def _add_grad_kernel(
    backprop_val_grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any
) -> Any:
    if len(backprop_val_grad) != len(sum_indices):
        raise ValueError(
            f"backprop_val_grad has {len(backprop_val_grad)} element(s), sum_indices"
            f" {len(sum_indices)} row(s)"
        )
    made = []
    for indices in (a_indices, b_indices):
        if not len(sum_indices):
            made.append(backprop_val_grad.new_zeros(len(indices)))
            continue
        place, there = entries.positions_in(indices, sum_indices)
        zero = torch.zeros((), dtype=backprop_val_grad.dtype, device=place.device)
        made.append(torch.where(there, backprop_val_grad[place], zero))
    return made


def _extremum(pick: Any) -> Any:
    def kernel(
        a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any
    ) -> Any:
        _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
        if not a_indices.shape[1]:
            raise ValueError("operands must have at least one dim; found scalars")
        where, a_place, b_place = entries.merged(a_indices, b_indices)
        dtype, bare = a_values.dtype, a_values.dtype in BARE_UNSIGNED
        zero = torch.zeros((), dtype=dtype, device=a_values.device)
        rows = []
        for place, values in ((a_place, a_values), (b_place, b_values)):
            given = to_ordered_int64(values) if bare else values
            row = (to_ordered_int64(zero) if bare else zero).expand(len(where)).clone()
            row[place] = given
            rows.append(row)
        chosen = pick(*rows)
        return where, from_ordered_int64(chosen, dtype) if bare else chosen

    return kernel


def _extremum_shape(ctx: ShapeContext) -> list[Dims]:
    result: list[Dims] = [(None, None), (None,)]
    try:
        _pair_shape(ctx)
    except ValueError as error:
        raise FailsAtRun(f"Operands do not have the same ranks: {error}", result) from None
    return result


# ---- a sparse tensor and a dense one ---------------------------------------------------------


def _dense_add_shape(ctx: ShapeContext) -> Dims:
    entries.entry_shapes(ctx, "a_")
    return ctx["b"]


def _dense_add(a_indices: Any, a_values: Any, a_shape: list[int], b: Any) -> Any:
    entries.check(a_indices, a_values, a_shape, "a")
    if list(b.shape) != a_shape:
        raise ValueError(f"a has shape {a_shape}, b {list(b.shape)}; they must be the same")
    entries.check_bounds(a_indices, a_shape, "a_indices")
    made = entries.wide(b).clone()
    places = tuple(a_indices.long().unbind(1))
    if places:
        made.index_put_(places, entries.wide(a_values), accumulate=True)
    else:
        made += entries.wide(a_values).sum()
    return made.to(b.dtype)


def _dense_add_grad(op: Any, grad: Tensor) -> list[Any]:
    return [None, make("GatherNd", grad, op.inputs[0]), None, grad]


def _broadcast_values(sp_indices: Any, sp_shape: list[int], dense: Any) -> Any:
    """The dense tensor's value at each entry."""
    if dense.dim() > len(sp_shape) or any(
        d not in (1, s) for d, s in zip(reversed(dense.shape), reversed(sp_shape), strict=False)
    ):
        raise ValueError(
            "a dense tensor is broadcast to the sparse one only; found shapes"
            f" {list(dense.shape)} and {sp_shape}"
        )
    entries.check_bounds(sp_indices, sp_shape, "sp_indices")
    lead = len(sp_shape) - dense.dim()
    columns = [sp_indices[:, lead + i] * int(size != 1) for i, size in enumerate(dense.shape)]
    return dense[tuple(columns)] if columns else dense.expand(len(sp_indices))


def _quotient(x: Any, y: Any) -> Any:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return x / y
    if bool((y == 0).any()):
        raise ValueError("Integer division by zero")
    return torch.div(x, y, rounding_mode="trunc")


def _cwise(function: Any) -> Any:
    def kernel(sp_indices: Any, sp_values: Any, sp_shape: list[int], dense: Any) -> Any:
        entries.check(sp_indices, sp_values, sp_shape, "sp")
        if not sp_shape or math.prod(sp_shape) > entries.MOST:
            raise ValueError(
                "sp_shape must have at least one dim, and describe at most 2^63 - 1 elements;"
                f" found {sp_shape}"
            )
        other = _broadcast_values(sp_indices, sp_shape, entries.wide(dense))
        return function(entries.wide(sp_values), other).to(sp_values.dtype)

    return kernel


def _no_cwise_add_grad(op: Any, grad: Tensor) -> Any:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


def _cwise_grad(multiplies: bool) -> Any:
    def gradient(op: Any, grad: Tensor) -> list[Any]:
        indices, values, x_shape, y = op.inputs
        y_shape = nodes.cast(shapes.shape(y), "int64")
        more = make("ExpandDims", ranks.size(x_shape) - ranks.size(y_shape), 0)
        full = join.concat([fill.ones(more, dtypes.int64), y_shape], 0)
        scaling = x_shape // full
        scaled = indices // scaling
        begin = join.concat([[0], more], 0)
        scaled = slicing.slice_(scaled, begin, [-1, -1])
        dense = y if y.sizes == () else gather.gather_nd(y, scaled)
        if multiplies:
            dx, dy = grad * dense, grad * values
        else:
            dx, dy = grad / dense, grad * (-values / make("Square", dense))
        zeros = elementwise.zeros_like(y)
        dense_grad = sparse_functions.sparse_add(zeros, SparseTensor(scaled, dy, y_shape))
        return [None, dx, None, dense_grad]

    return gradient


# ---- softmax -----------------------------------------------------------------------------------


def _softmax_shape(ctx: ShapeContext) -> Dims:
    indices, values, shape = entries.entry_shapes(ctx, "sp_")
    rank = indices[1] if indices[1] is not None else shape[0]
    if rank is not None and rank < 2:
        raise FailsAtRun(f"Input should have rank >= 2; its rank is {rank}", values)
    return values


def _softmax(sp_indices: Any, sp_values: Any, sp_shape: list[int]) -> Any:
    entries.check(sp_indices, sp_values, sp_shape, "sp")
    if len(sp_shape) < 2:
        raise ValueError(f"Input should have rank >= 2, but received shape: {sp_shape}")
    order = entries.order(sp_indices, sp_shape)
    if order is not None:  # TensorFlow hands back the values in order, too
        sp_indices, sp_values = sp_indices[order], sp_values[order]
    rows, number = entries.grouped(sp_indices[:, :-1])
    most = sp_values.new_full((len(rows),), -torch.inf)
    most.scatter_reduce_(0, number, sp_values, "amax")
    raised = (sp_values - most[number]).exp()
    total = sp_values.new_zeros(len(rows)).index_add_(0, number, raised)
    return raised / total[number]


def _softmax_grad(op: Any, grad: Tensor) -> list[Any]:
    indices, shape = op.inputs[0], op.inputs[2]
    output = SparseTensor(indices, op.outputs[0], shape)
    upstream = SparseTensor(indices, grad, shape)
    both: Any = output.values * upstream.values
    product = SparseTensor(indices, both, shape)
    sums: Any = sparse_functions.sparse_reduce_sum(product, [-1], keepdims=True)
    total = make("SparseDenseCwiseAdd", indices, grad, shape, -sums)
    return [None, SparseTensor(indices, total, shape).values * output.values, None]


# ---- reductions --------------------------------------------------------------------------------


def _kept_axes(axes: Any, rank: int) -> list[int]:
    axes = axes if isinstance(axes, list) else [axes]
    if any(isinstance(axis, list) for axis in axes):
        raise FailsAtRun("Expected reduction_axes to be a scalar or a vector")
    for axis in axes:
        if not -rank <= axis < rank:
            raise FailsAtRun(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    reduced = {a % rank for a in axes}
    return [i for i in range(rank) if i not in reduced]


def _reduced(
    how: str, indices: Any, values: Any, shape: list[int], axes: Any, keep_dims: bool
) -> tuple[Any, Any, list[int]]:
    """Entries of the reduced tensor, and its dims."""
    entries.check(indices, values, shape)
    entries.check_bounds(indices, shape, "input_indices")
    kept = _kept_axes(axes, len(shape))
    rows, number = entries.grouped(indices[:, kept])
    dtype = values.dtype
    if how == "sum":
        wide = entries.wide(values)
        result = wide.new_zeros(len(rows)).index_add_(0, number, wide).to(dtype)
    else:
        ordered = to_ordered_int64(values) if dtype in BARE_UNSIGNED else values
        result = ordered.new_zeros(len(rows))
        result.scatter_reduce_(0, number, ordered, "amax", include_self=False)
        result = from_ordered_int64(result, dtype) if dtype in BARE_UNSIGNED else result
    if not keep_dims:
        return rows, result, [shape[i] for i in kept]
    full = rows.new_zeros((len(rows), len(shape)))
    full[:, kept] = rows
    return full, result, [d if i in kept else 1 for i, d in enumerate(shape)]


def _dense_reduction(how: str) -> Any:
    def kernel(
        input_indices: Any, input_values: Any, input_shape: list[int], reduction_axes: Any,
        keep_dims: bool,
    ) -> Any:  # fmt: skip
        rows, result, dims = _reduced(
            how, input_indices, input_values, input_shape, reduction_axes, keep_dims
        )
        dense = torch.zeros(dims, dtype=result.dtype, device=result.device)
        if not len(rows):
            return dense
        signed = entries.SIGNED.get(result.dtype, result.dtype)
        flat = entries.keys(rows, dims)
        dense.view(signed).view(-1)[flat] = result.view(signed)
        return dense

    return kernel


def _sparse_reduction(how: str) -> Any:
    def kernel(
        input_indices: Any, input_values: Any, input_shape: list[int], reduction_axes: Any,
        keep_dims: bool,
    ) -> Any:  # fmt: skip
        rows, result, dims = _reduced(
            how, input_indices, input_values, input_shape, reduction_axes, keep_dims
        )
        return rows, result, torch.tensor(dims, dtype=torch.int64, device=rows.device)

    return kernel


def _reduced_shape(ctx: ShapeContext) -> Dims:
    shape, axes = ctx.value("input_shape"), ctx.value("reduction_axes")
    if shape is None or axes is None:
        return None
    dims, rank = shape.tolist(), len(shape)
    # TensorFlow's rule leaves it to the run to find axes out of range.
    reduced = [int(math.fmod(axis + rank, rank)) for axis in axes.ravel().tolist() if rank]
    kept = [i for i in range(rank) if i not in reduced]
    if ctx.attr("keep_dims"):
        return tuple(d if i in kept else 1 for i, d in enumerate(dims))
    return tuple(dims[i] for i in kept)


def _unknown_parts(ctx: ShapeContext) -> list[Dims]:
    return [None, None, None]


def _reduce_sum_grad(op: Any, grad: Tensor) -> list[Any]:
    indices, shape = op.inputs[0], op.inputs[2]
    kept = reduction.reduced_shape(nodes.cast(shape, "int32"), op.inputs[3])
    full = reshape.reshape(grad, kept)
    scale = shape // nodes.cast(kept, "int64")
    return [None, gather.gather_nd(full, indices // scale), None, None]


# ---- products ----------------------------------------------------------------------------------


# ---- the ops -----------------------------------------------------------------------------------

_A = "a_indices: int64, a_values: T, a_shape: int64"
_B = "b_indices: int64, b_values: T, b_shape: int64"
_INPUT = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
_KEEP = "keep_dims: bool = False"

define_op(
    "SparseAdd",
    f"{_A}, {_B}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    attrs=[entries.NUMBERS, entries.REAL_NUMBERS.replace("T:", "Treal:", 1)],
    shape=_add_shape,
    kernel=_add,
    aliases=("a_shape",),
    gradient=_add_grad,
)
define_op(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64"
    " -> a_val_grad: T, b_val_grad: T",
    attrs=[entries.NUMBERS],
    shape=_add_grad_shape,
    kernel=_add_grad_kernel,
    no_gradient="TensorFlow defines none",
)
for _name, _pick, _types in (
    ("SparseSparseMaximum", torch.maximum, entries.REAL_NUMBERS),
    ("SparseSparseMinimum", torch.minimum, entries.NUMBERS),
):
    define_op(
        _name,
        f"{_A}, {_B} -> output_indices: int64, output_values: T",
        attrs=[_types],
        shape=_extremum_shape,
        kernel=_extremum(_pick),
        no_gradient="TensorFlow defines none",
    )
define_op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    attrs=[entries.NUMBERS, "Tindices: {int32, int64}"],
    shape=_dense_add_shape,
    kernel=_dense_add,
    host=("a_shape",),
    gradient=_dense_add_grad,
)
for _name, _function, _gradient in (
    ("Add", torch.add, _no_cwise_add_grad),
    ("Mul", torch.mul, _cwise_grad(True)),
    ("Div", _quotient, _cwise_grad(False)),
):
    define_op(
        f"SparseDenseCwise{_name}",
        "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
        attrs=[entries.NUMBERS],
        shape=entries.like_values("sp_"),
        kernel=_cwise(_function),
        host=("sp_shape",),
        gradient=_gradient,
    )
define_op(
    "SparseSoftmax",
    "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    attrs=["T: {float, double}"],
    shape=_softmax_shape,
    kernel=_softmax,
    host=("sp_shape",),
    gradient=_softmax_grad,
)
for _name, _how, _types in (
    ("SparseReduceSum", "sum", entries.NUMBERS),
    ("SparseReduceMax", "max", entries.REAL_NUMBERS),
):
    _is_sum = _how == "sum"
    define_op(
        _name,
        f"{_INPUT} -> output: T",
        attrs=[_KEEP, _types],
        shape=_reduced_shape,
        kernel=_dense_reduction(_how),
        host=("input_shape", "reduction_axes"),
        gradient=_reduce_sum_grad if _is_sum else None,
        no_gradient=None if _is_sum else "TensorFlow defines none",
    )
    define_op(
        f"{_name}Sparse",
        f"{_INPUT} -> output_indices: int64, output_values: T, output_shape: int64",
        attrs=[_KEEP, _types],
        shape=_unknown_parts,
        kernel=_sparse_reduction(_how),
        host=("input_shape", "reduction_axes"),
        no_gradient="TensorFlow defines none",
    )
