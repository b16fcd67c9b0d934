"""Concat and Pack: joining tensors; ``split`` takes them apart.

A list that holds tensors becomes a tensor by packing (``packed``),
registered here as a conversion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes, ranks, reshape as reshape_ops, shape as shape_ops, squeeze

_INDEX = "{int32, int64}"


def is_string(call: Any, name: str) -> bool:
    """Whether an input, or each of a list, holds strings."""
    tensor = call.tensors[name]
    one = tensor[0] if isinstance(tensor, list) else tensor
    return bool(one.dtype.base_dtype.name == "string")


# ---- Concat, ConcatV2, ConcatOffset ----------------------------------------------------------


def _concat_rule(axis_name: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        every = ctx["values"]
        ctx.rank(axis_name, 0)
        known = [d for d in every if d is not None]
        if not known:
            return None
        rank = len(known[0])
        for dims in known:
            if len(dims) != rank:
                raise ValueError(
                    f"Shapes must be equal rank, but are {rank} and {len(dims)}: values differ in"
                    f" rank: {show(known[0])} and {show(dims)}"
                )
        if rank == 0:
            raise ValueError(
                "Can't concatenate scalars (use tf.stack instead): the values are scalars"
            )
        value = ctx.value(axis_name)
        if value is None:
            return (None,) * rank
        axis = int(value)
        if not -rank <= axis < rank:
            wanted = axis + 1 if axis >= 0 else -axis
            raise ValueError(
                f"Shape must be at least rank {wanted} but is rank {rank}: ConcatOp : Expected"
                f" concatenating dimensions in the range [{-rank}, {rank}), but got {axis}"
            )
        return _joined(every, known, axis % rank)

    return rule


def _joined(every: list[Dims], known: list[tuple[int | None, ...]], axis: int) -> Dims:
    merged: Dims = (*known[0][:axis], None, *known[0][axis + 1 :])
    total: int | None = 0
    for dims in known:
        merged = shapes.merge_static(merged, (*dims[:axis], None, *dims[axis + 1 :]))
        size = dims[axis]
        total = None if total is None or size is None else total + size
    if len(known) < len(every):
        total = None
    assert merged is not None
    return (*merged[:axis], total, *merged[axis + 1 :])


def _concat_kernel(values: Any, axis: Any) -> Any:
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values, axis)
    dims = [v.dim() for v in values]
    if min(dims) != max(dims):
        found = ", ".join(show(tuple(v.shape)) for v in values)
        raise ValueError(f"tensors of different ranks cannot be concatenated: {found}")
    return torch.cat(values, axis)


def _concat_first(concat_dim: Any, values: Any) -> Any:
    return _concat_kernel(values, concat_dim)


def _concat_inline(axis_name: str) -> Any:
    def inline(call: Any) -> str | None:
        # torch.cat skips empty 1-D tensors whatever the others' rank: ranks must be known equal.
        if is_string(call, "values") or any(t.sizes is None for t in call.tensors["values"]):
            return None
        return f"torch.cat([{', '.join(call.arg['values'])}], {call.arg[axis_name]})"

    return inline


def _fold_concat(ctx: ShapeContext, *arrays: Any) -> np.ndarray | None:
    values = [static.constant_value(t) for t in ctx.tensor("values")]
    axis = ctx.value("axis" if ctx.op.type == "ConcatV2" else "concat_dim")
    if axis is None or any(v is None for v in values):
        return None
    return np.concatenate(values, int(axis))  # type: ignore[arg-type]


def _partial_concat(ctx: ShapeContext) -> Dims:
    parts = [static.constant_value_as_shape(t) for t in ctx.tensor("values")]
    if any(p is None for p in parts):
        return None
    return tuple(d for p in parts for d in p)  # type: ignore[union-attr]


for _type in ("Concat", "ConcatV2"):
    static.partial_value(_type)(_partial_concat)


def _concat_grad(op: Any, grad: Any) -> list[Any]:
    first = op.type == "Concat"
    values = op.inputs[1:] if first else op.inputs[:-1]
    axis = op.inputs[0] if first else op.inputs[-1]
    if len(values) == 1:
        parts = [grad]
    else:
        # TensorFlow 1.15 takes int32 axes here and refuses int64.
        axis = shape_ops.cast_to(_constant_here(axis), dtypes.int32)
        mod = make("FloorMod", axis, ranks.rank(values[0]), name="mod")
        if isinstance(grad, IndexedSlices):
            parts = _concat_slices_grad(values, axis, mod, grad)
        else:
            parts = _concat_dense_grad(values, mod, grad)
    return [None, *parts] if first else [*parts, None]


def _constant_here(tensor: Tensor) -> Tensor:
    """A constant of another loop or branch again in this one, which then needs not keep it."""
    graph = get_default_graph()
    if graph.executes or tensor.op.type != "Const":
        return tensor
    if tensor.op._get_control_flow_context() is graph._get_control_flow_context():
        return tensor
    value = static.constant_value(tensor)
    return convert_to_tensor(value, tensor.dtype, name="Const")


def _concat_dense_grad(values: list[Tensor], axis: Tensor, grad: Tensor) -> list[Tensor]:
    sizes = shape_ops.known_shapes(values)
    if len(sizes) > 16:
        table = stack(sizes, axis=1)
        lengths = squeeze.squeeze(make("Slice", table, stack([axis, 0]), [1, -1]))
        return make("SplitV", grad, lengths, axis, name="split", num_split=len(sizes))
    offsets = make("ConcatOffset", axis, sizes)
    return [make("Slice", grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


def _concat_slices_grad(
    values: list[Tensor], axis: Tensor, mod: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    known = static.constant_value(axis)
    if known is None:
        raise ValueError("the gradient of a concat by IndexedSlices needs a constant axis")
    position = int(known)
    if position < 0:
        if values[0].rank is None:
            raise ValueError("the gradient of a concat along a negative axis needs a known rank")
        position %= values[0].rank
    sizes = [shape_ops.shape(v) for v in values]
    if position > 0:
        return _slices_of_columns(sizes, mod, grad)
    return _slices_of_rows(sizes, mod, grad)


def _slices_of_columns(
    sizes: list[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    """Every part keeps all the indices and gets its columns of the values."""
    rank = shape_ops.shape(sizes[0])
    before = make("Fill", reshape_ops.expand_dims(axis, 0), 0)
    after = make("Fill", make("Sub", make("Sub", rank, axis, name="sub"), 1, name="sub"), 0)
    mask = concat([before, [1], after], 0)
    begin = make("Fill", rank, 0)
    parts = []
    for size in sizes:
        rest = make("Slice", size, [1], [-1])
        values = make("Slice", grad.values, begin, concat([[-1], rest], 0))
        parts.append(IndexedSlices(values, grad.indices, size))
        begin = make("AddV2", begin, make("Mul", size, mask, name="mul"), name="Add")
    return parts


def _slices_of_rows(sizes: list[Tensor], axis: Tensor, grad: IndexedSlices) -> list[IndexedSlices]:
    """Every part gets the rows whose indices fall into it, renumbered from its start."""
    kind = grad.indices.dtype.base_dtype
    start: Tensor = make("Const", value=np.zeros((), kind.as_numpy_dtype), dtype=kind)
    parts = []
    for size in sizes:
        rows = shape_ops.cast_to(nodes.gather(size, axis), kind)
        end = make("AddV2", start, rows, name="add")
        inside = make(
            "LogicalAnd",
            make("GreaterEqual", grad.indices, start),
            make("Less", grad.indices, end),
        )
        chosen = squeeze.squeeze(make("Where", inside), axis=[1])
        indices = make("Sub", nodes.gather(grad.indices, chosen), start, name="sub")
        values = nodes.gather(grad.values, chosen)
        parts.append(IndexedSlices(values, indices, size))
        start = end
    return parts


define_op(
    "Concat",
    "concat_dim: int32, values: N * T -> output: T",
    attrs=["N: int >= 2", "T: type"],
    shape=_concat_rule("concat_dim"),
    kernel=_concat_first,
    inline=_concat_inline("concat_dim"),
    fold=_fold_concat,
    host=("concat_dim",),
    gradient=_concat_grad,
    moves=True,
)

define_op(
    "ConcatV2",
    "values: N * T, axis: Tidx -> output: T",
    attrs=["N: int >= 2", "T: type", f"Tidx: {_INDEX} = int32"],
    shape=_concat_rule("axis"),
    kernel=_concat_kernel,
    inline=_concat_inline("axis"),
    fold=_fold_concat,
    host=("axis",),
    gradient=_concat_grad,
    moves=True,
)


def _offset_shape(ctx: ShapeContext) -> list[Dims]:
    return list(ctx["shape"])


def _offset_kernel(concat_dim: Any, shape: Any) -> list[torch.Tensor]:
    rank = len(shape[0])
    axis = concat_dim + rank if concat_dim < 0 else concat_dim
    if not 0 <= axis < rank:
        raise ValueError(f"concat_dim {concat_dim} is not in [{-rank}, {rank})")
    first, total, offsets = shape[0], 0, []
    for one in shape:
        if one[:axis] + one[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise ValueError(f"shapes {first} and {one} differ in a dim other than {concat_dim}")
        offset = [0] * rank
        offset[axis] = total
        total += one[axis]
        offsets.append(torch.tensor(offset, dtype=torch.int32))
    return offsets


define_op(
    "ConcatOffset",
    "concat_dim: int32, shape: N * int32 -> offset: N * int32",
    attrs=["N: int >= 2"],
    shape=_offset_shape,
    kernel=_offset_kernel,
    host=("concat_dim", "shape"),
    gradient=lambda op, *grads: [None] * len(op.inputs),
    later=["shape_type: type = int32"],
)


# ---- Pack, ParallelConcat ---------------------------------------------------------------------


def _pack_shape(ctx: ShapeContext) -> Dims:
    merged: Dims = None
    for dims in ctx["values"]:
        merged = shapes.merge_static(merged, dims)
    if merged is None:
        return None
    axis = checked_axis(ctx.attr("axis"), len(merged) + 1)
    return (*merged[:axis], ctx.attr("N"), *merged[axis:])


def checked_axis(axis: int, rank: int) -> int:
    """A position among ``rank`` dims, counted from the first.

    Raises:
      ValueError: there is none.
    """
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} not in [{-rank}, {rank}): axis {axis} is not in the range")
    return axis % rank


def _pack_kernel(values: Any, axis: Any) -> Any:
    if isinstance(values[0], np.ndarray):
        return np.stack(values, axis)
    return torch.stack(values, axis)


def _pack_handles(values: list[Any], axis: int) -> np.ndarray:
    if isinstance(values[0], np.ndarray):
        return np.stack(values, axis)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _pack_inline(call: Any) -> str | None:
    if is_string(call, "values"):
        return None
    if call.tensors["values"][0].dtype is dtypes.resource:
        listed = ", ".join(call.arg["values"])
        return f"{call.function(_pack_handles)}([{listed}], {call.arg['axis']})"
    return f"torch.stack([{', '.join(call.arg['values'])}], {call.arg['axis']})"


def _fold_pack(ctx: ShapeContext, *arrays: Any) -> np.ndarray | None:
    if any(a is None for a in arrays):
        return None
    return np.stack(arrays, ctx.attr("axis"))


def _partial_pack(ctx: ShapeContext) -> Dims:
    dims: list[int | None] = []
    tensors = ctx.tensor("values")
    # Elements of unknown rank are scalars where the result is read as a shape.
    if any(tensor.sizes for tensor in tensors):
        return None
    for tensor in tensors:
        value = static.value_of_each_round(tensor)
        dims.append(None if value is None or value < 0 else int(value))
    return tuple(dims)


static.partial_value("Pack")(_partial_pack)


def _pack_grad(op: Any, grad: Tensor) -> Any:
    return make("Unpack", grad, name="unstack", num=op.attrs["N"], axis=op.attrs["axis"])


define_op(
    "Pack",
    "values: N * T -> output: T",
    attrs=["N: int >= 1", "T: type", "axis: int = 0"],
    shape=_pack_shape,
    kernel=_pack_kernel,
    inline=_pack_inline,
    fold=_fold_pack,
    gradient=_pack_grad,
    moves=True,
)


def _parallel_kernel(values: Any) -> Any:
    return np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(values)


def _parallel_shape(ctx: ShapeContext) -> Dims:
    wanted: Dims = ctx.attr("shape").sizes
    if wanted is None or None in wanted:
        raise ValueError(f"shape must be fully known; found {show(wanted)}")
    for dims in ctx["values"]:
        if dims is None or None in dims:
            raise ValueError(f"shapes of values must be fully known; found {show(dims)}")
        if dims != (1, *wanted[1:]):
            raise ValueError(
                f"every value must have shape {show((1, *wanted[1:]))}, as the attr shape,"
                f" {show(wanted)}, says; found {show(dims)}"
            )
    return wanted


define_op(
    "ParallelConcat",
    "values: N * T -> output: T",
    attrs=["N: int >= 1", "T: type", "shape: shape"],
    shape=_parallel_shape,
    kernel=_parallel_kernel,
    no_gradient="TensorFlow has none",
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors joined along a dim that they all have.

    Args:
      values: list of tensors that differ at most in dim ``axis``.
      axis: int32 scalar; negative counts from the end.

    Returns:
      A tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.concat([tf.zeros([2, 3]), tf.zeros([2, 1])], 1).shape.as_list()
      [2, 4]
    """
    values = list(values) if isinstance(values, list | tuple) else [values]
    if len(values) == 1:
        with name_scope(name):
            checked = convert_to_tensor(axis, "int32", "concat_dim")
            if checked.sizes not in (None, ()):
                raise ValueError(
                    f"Shape {tuple(checked.sizes)} must have rank 0: the axis of tf.concat(values,"
                    " axis) is one number"
                )
            return make("Identity", values[0], name=name)
    made = make("ConcatV2", values, axis, name=name)
    return made


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape joined along a new dim.

    Args:
      values: list of tensors of one shape and type; along axis 0 a tensor or an array is its
        rows already, and is given back as a tensor.
      axis: where the new dim goes, in [-rank-1, rank].

    Returns:
      A tensor of one dim more.

    Raises:
      ValueError: ``axis`` is out of range.
      TypeError: ``values`` is a tensor of a graph, and ``axis`` is not 0.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.stack([tf.zeros([2]), tf.ones([2])], axis=1).shape.as_list()
      [2, 2]
    """
    # TensorFlow makes no constant of a list of arrays, only of numbers.
    whole = not isinstance(values, Sequence)
    arrays = not whole and any(isinstance(v, np.ndarray) and v.ndim for v in values)
    if axis == 0 and not arrays:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    first = convert_to_tensor(values[0], name=name)
    if first.sizes is not None:
        try:
            checked_axis(axis, len(first.sizes) + 1)
        except ValueError as error:
            raise ValueError(f"stack: {error} for values of shape {show(first.sizes)}") from None
    return make("Pack", list(values), name=name, axis=axis)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one fully known shape joined along a new first dim.

    Args:
      values: list of tensors.

    Returns:
      A tensor of one dim more.

    Raises:
      ValueError: the shape of the first is not fully known.
    """
    with name_scope(name):
        first = convert_to_tensor(values[0])
        rows = [reshape_ops.expand_dims(v, 0) for v in values]
        types = [row.dtype.base_dtype.name for row in rows]
        if len(set(types)) > 1:
            raise TypeError(
                "Tensors in list passed to 'values' of 'ParallelConcat' Op have types"
                f" [{', '.join(types)}] that don't all match."
            )
        if first.sizes is None or None in first.sizes:
            raise ValueError(f"parallel_stack needs known shapes; found {show(first.sizes)}")
        return make("ParallelConcat", rows, shape=[len(rows), *first.sizes])


# ---- lists that hold tensors become tensors ----------------------------------------------------


def _dtype_within(values: Any) -> Any:
    for one in values:
        if convert.is_dense_tensor_like(one):
            return one.dtype.base_dtype
        if isinstance(one, list | tuple):
            found = _dtype_within(one)
            if found is not None:
                return found
    return None


def _packed(values: Any, dtype: Any, name: str) -> Any:
    """``values`` as one Pack node under ``name``, or as a list when it holds no tensor."""
    parts: list[Any] = []
    with name_scope(name) as scope:
        for index, one in enumerate(values):
            if convert.is_dense_tensor_like(one):
                if one.dtype.base_dtype is not dtype:
                    raise TypeError(
                        f"a list of {dtype.name} tensors holds {one.name}, which is"
                        f" {one.dtype.base_dtype.name}"
                    )
                parts.append(one)
            elif isinstance(one, list | tuple):
                parts.append(_packed(one, dtype, str(index)))
            else:
                parts.append(one)
        if not any(convert.is_dense_tensor_like(p) for p in parts):
            return parts
        tensors = [
            p if convert.is_dense_tensor_like(p) else convert_to_tensor(p, dtype, str(i))
            for i, p in enumerate(parts)
        ]
        return make("Pack", tensors, name=scope)


def _pack_conversion(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False):
    if as_ref:
        return NotImplemented
    found = _dtype_within(value)
    if found is None:
        return NotImplemented
    if dtype is not None and dtype.base_dtype is not found:
        value = _cast_nested(value, dtype.base_dtype)
        found = dtype.base_dtype
    return _packed(value, found, name or "packed")


def _cast_nested(value: Any, dtype: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_cast_nested(v, dtype) for v in value]
    if convert.is_dense_tensor_like(value) and value.dtype.base_dtype is not dtype:
        return make("Cast", value, DstT=dtype)
    return value


convert.register_tensor_conversion_function((list, tuple), _pack_conversion, 99)
