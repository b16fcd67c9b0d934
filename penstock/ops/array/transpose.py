"""Reordering dims and elements: Transpose, Reverse, ReverseSequence, Roll.

Transpose is a view (torch ``permute``); whoever needs contiguous memory makes it.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, FailsAtRun, RefusedAtBuild, ShapeContext, show
from penstock.ops.array import (
    reshape as reshape_ops,
)
from penstock.ops.array.movement import moving

_INDEX = "{int32, int64}"


# ---- Transpose, ConjugateTranspose, InvertPermutation ------------------------------------------


def _transpose_shape(ctx: ShapeContext) -> Dims:
    dims, perm = ctx["x"], ctx.value("perm")
    vector = ctx.rank("perm", 1)
    rank = len(dims) if dims is not None else None
    if rank is None and vector is not None and len(vector) == 1:
        rank = vector[0]
    if dims is None and rank is not None and rank < 2:
        return None  # as TensorFlow infers it
    if dims is not None and vector and vector[0] not in (None, rank):
        raise RefusedAtBuild(
            f"Dimension must be {rank} but is {vector[0]}: perm has {vector[0]} entries for an"
            f" input of rank {rank}"
        )
    if perm is None or rank is None:
        return None if rank is None else (None,) * rank
    order = perm.reshape(-1).tolist()
    if len(order) != rank:
        raise ValueError(f"perm {order} has {len(order)} entries for an input of rank {rank}")
    if any(p >= rank for p in order):
        raise ValueError(
            f"perm dim {max(order)} is out of range of input rank {rank}: perm {order} must hold"
            f" each of 0 to {rank - 1} once"
        )
    known = (None,) * rank if dims is None else dims
    result = tuple(known[p] if p >= -rank else None for p in order)
    try:
        _check_order(order, rank)
    except ValueError as error:
        raise FailsAtRun(str(error), result) from None
    return result


def _check_order(order: list[int], rank: int) -> None:
    """Refuses what is no permutation of a tensor's dims."""
    if len(order) != rank:
        raise ValueError(
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size"
            f" {len(order)}"
        )
    if sorted(order) == list(range(rank)):
        return
    for entry in order:
        if not 0 <= entry < rank:
            raise ValueError(f"{entry} is out of range [0 .. {rank}): perm is {order}")
    missing = min(set(range(rank)) - set(order))
    shown = ",".join(map(str, order))
    raise ValueError(f"{missing} is missing from {{{shown}}}: perm must hold each dim once")


def _transpose_kernel(x: Any, perm: Any) -> Any:
    _check_order(perm, x.ndim)
    if isinstance(x, np.ndarray):
        return np.transpose(x, perm)
    return x.permute(perm)


def _transpose_inline(call: Any) -> str | None:
    if call.dtype("x").name == "string":
        return None
    perm = call.value("perm")
    if perm is None:
        return None
    if perm.tolist() == [1, 0]:
        return f"{call.arg['x']}.t()"
    return f"{call.arg['x']}.permute({call.arg['perm']})"


def _conjugate_kernel(x: Any, perm: Any) -> Any:
    _check_order(perm, x.ndim)
    if isinstance(x, np.ndarray):
        return np.transpose(x, perm)
    return torch.conj_physical(x.permute(perm))


def _fold_transpose(ctx: ShapeContext, x: Any, perm: Any) -> np.ndarray | None:
    return None if x is None or perm is None else np.transpose(x, perm)


def _transpose_grad(op: Any, grad: Tensor) -> list[Any]:
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


def _conjugate_grad(op: Any, grad: Tensor) -> list[Any]:
    return [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]


for _type, _kernel, _gradient, _views in (
    ("Transpose", _transpose_kernel, _transpose_grad, ("x",)),
    ("ConjugateTranspose", _conjugate_kernel, _conjugate_grad, ("x",)),
):
    define_op(
        _type,
        "x: T, perm: Tperm -> y: T",
        attrs=["T: type", f"Tperm: {_INDEX} = int32"],
        shape=_transpose_shape,
        kernel=_kernel,
        inline=_transpose_inline if _type == "Transpose" else None,
        fold=_fold_transpose if _type == "Transpose" else None,
        host=("perm",),
        aliases=_views,
        moves=_type == "Transpose",
        gradient=_gradient,
    )


def _invert_kernel(x: Any) -> torch.Tensor:
    count = x.numel()
    _check_permutation(x.tolist())
    result = torch.empty_like(x)
    result[x.long()] = torch.arange(count, dtype=x.dtype, device=x.device)
    return result


def _check_permutation(order: list[int]) -> None:
    count = len(order)
    if sorted(order) == list(range(count)):
        return
    for entry in order:
        if not 0 <= entry < count:
            raise ValueError(f"{entry} is not between 0 and {count}: {order} is no permutation")
    twice = next(entry for index, entry in enumerate(order) if entry in order[:index])
    raise ValueError(f"{twice} is duplicated in the input: {order} is no permutation")


def _fold_invert(ctx: ShapeContext, x: Any) -> np.ndarray | None:
    if x is None:
        return None
    _check_permutation(x.tolist())
    return np.argsort(x).astype(x.dtype)


define_op(
    "InvertPermutation",
    "x: T -> y: T",
    attrs=[f"T: {_INDEX} = int32"],
    shape=lambda ctx: ctx.rank("x", 1),
    kernel=_invert_kernel,
    fold=_fold_invert,
    gradient=lambda op, grad: None,
    moves=True,
)


# ---- Reverse, ReverseV2, ReverseSequence, Roll -------------------------------------------------


def _reverse_shape(ctx: ShapeContext) -> Dims:
    dims, vector = ctx["tensor"], ctx.rank("dims", 1)
    if dims and vector[0] not in (None, len(dims)):
        raise ValueError(f"dims must have one entry a dim of {show(dims)}; it has {vector[0]}")
    if dims is None and vector[0] is not None:
        return (None,) * vector[0]
    return dims  # type: ignore[no-any-return]


def _flip(value: Any, axes: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.flip(value, tuple(axes)).copy()
    return value.flip(axes)


def _reverse_kernel(tensor: Any, dims: Any) -> Any:
    if not len(tensor.shape):  # as TensorFlow does, whatever dims says
        return tensor.copy() if isinstance(tensor, np.ndarray) else tensor.clone()
    return _flip(tensor, [i for i, chosen in enumerate(dims) if chosen])


def _reverse_v2_shape(ctx: ShapeContext) -> Dims:
    dims, axis = ctx["tensor"], ctx.value("axis")
    ctx.rank("axis", 1)
    if dims is not None and axis is not None:
        chosen = [a % len(dims) if dims else a for a in axis.tolist()]
        for place, a in enumerate(axis.tolist()):
            if not -len(dims) <= a < len(dims):
                text = (
                    f"'axis'[{place}] = {a} is out of valid range [0, {len(dims) - 1}]: the tensor"
                    f" has shape {show(dims)}"
                )
                raise ValueError(text) if dims else RefusedAtBuild(text)
        if len(set(chosen)) != len(chosen):
            twice = next(a for a in chosen if chosen.count(a) > 1)
            raise ValueError(f"axis {twice} specified more than once: axis is {axis.tolist()}")
    return dims  # type: ignore[no-any-return]


def _reverse_v2_kernel(tensor: Any, axis: Any) -> Any:
    if not len(tensor.shape):  # as TensorFlow does, whatever axis says
        return tensor.copy() if isinstance(tensor, np.ndarray) else tensor.clone()
    return _flip(tensor, axis)


_REVERSIBLE = "uint8, int8, uint16, int16, int32, int64, bool, half, float, double"

define_op(
    "Reverse",
    "tensor: T, dims: bool -> output: T",
    attrs=[f"T: {{{_REVERSIBLE}, complex64, complex128, string}}"],
    shape=_reverse_shape,
    kernel=moving(_reverse_kernel),
    host=("dims",),
    gradient=lambda op, grad: [make("Reverse", grad, op.inputs[1]), None],
    moves=True,
)

define_op(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    attrs=[
        f"Tidx: {_INDEX} = int32",
        f"T: {{{_REVERSIBLE}, bfloat16, complex64, complex128, string}}",
    ],
    shape=_reverse_v2_shape,
    kernel=moving(_reverse_v2_kernel),
    host=("axis",),
    gradient=lambda op, grad: [make("ReverseV2", grad, op.inputs[1]), None],
    moves=True,
)


def _sequence_shape(ctx: ShapeContext) -> Dims:
    dims, (count,) = ctx["input"], ctx.rank("seq_lengths", 1)
    if dims is None:
        return None
    batch, seq = ctx.attr("batch_dim"), ctx.attr("seq_dim")
    if batch >= len(dims) or seq >= len(dims):
        raise ValueError(
            f"batch_dim {batch} and seq_dim {seq} must be dims of an input of shape {show(dims)}"
        )
    if batch < 0 or seq < 0:
        raise FailsAtRun(
            f"Invalid seq_dim {seq} or batch_dim {batch}: they do not count from the end; input"
            f" has shape {show(dims)}", dims,
        )  # fmt: skip
    if None not in (count, dims[batch]) and count != dims[batch]:
        raise ValueError(
            f"Dimensions must be equal, but are {dims[batch]} and {count}:"
            f" {count} seq_lengths for a batch of {dims[batch]}: {show(dims)}"
        )
    return (*dims[:batch], dims[batch] if dims[batch] is not None else count, *dims[batch + 1 :])


def _refuse_lengths(lengths: list[int], size: int, seq_dim: int) -> NoReturn:
    row, length = next((i, n) for i, n in enumerate(lengths) if not 0 <= n <= size)
    broken = f"seq_lens({row}) < 0" if length < 0 else f"seq_lens({row}) > input.dims({seq_dim})"
    raise ValueError(f"{broken}: seq_lengths {lengths} are not all in [0, {size}]")


def _sequence_kernel(input: Any, seq_lengths: Any, seq_dim: Any, batch_dim: Any) -> Any:
    if seq_dim < 0 or batch_dim < 0:
        raise ValueError(f"seq_dim {seq_dim} and batch_dim {batch_dim} must not be negative")
    if seq_dim == batch_dim:
        raise ValueError(f"seq_dim and batch_dim are both {seq_dim}")
    if isinstance(input, np.ndarray):
        places = torch.arange(input.size).reshape(input.shape)
        where = _sequence_kernel(places, seq_lengths, seq_dim, batch_dim)
        return input.reshape(-1)[where.numpy()]
    size = input.shape[seq_dim]
    lengths = seq_lengths.long().unsqueeze(1)
    if lengths.numel() and (lengths.min() < 0 or lengths.max() > size):
        _refuse_lengths(seq_lengths.tolist(), size, seq_dim)
    steps = torch.arange(size, device=input.device).unsqueeze(0)
    order = torch.where(steps < lengths, lengths - 1 - steps, steps)
    if batch_dim > seq_dim:
        order = order.t()
    form = [1] * input.dim()
    form[batch_dim], form[seq_dim] = input.shape[batch_dim], size
    return input.gather(seq_dim, order.reshape(form).expand(input.shape))


def _sequence_grad(op: Any, grad: Tensor) -> list[Any]:
    attrs = {k: op.attrs[k] for k in ("seq_dim", "batch_dim")}
    return [make("ReverseSequence", grad, op.inputs[1], **attrs), None]


define_op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    attrs=["seq_dim: int", "batch_dim: int = 0", "T: type", f"Tlen: {_INDEX} = int64"],
    shape=_sequence_shape,
    kernel=moving(_sequence_kernel),
    gradient=_sequence_grad,
    moves=True,
)


def _roll_shape(ctx: ShapeContext) -> Dims:
    dims = ctx.rank_at_least("input", 1)
    shift, axis = ctx["shift"], ctx["axis"]
    for given in (shift, axis):
        if given is not None and len(given) > 1:
            raise ValueError(
                f"Shape must be at most rank 1 but is rank {len(given)}: shift and axis are scalars"
                " or vectors"
            )
    if not shapes.is_compatible_static(shift, axis):
        raise ValueError(f"Shapes must be equal: shift has shape {show(shift)}, axis {show(axis)}")
    return dims


def _roll_kernel(input: Any, shift: Any, axis: Any) -> Any:
    shifts = shift if isinstance(shift, list) else [shift]
    axes = axis if isinstance(axis, list) else [axis]
    if len(shifts) != len(axes):
        raise ValueError(
            f"shift and axis must have the same size: {len(shifts)} shift(s) for {len(axes)} axes"
        )
    rank = input.ndim
    for one in axes:
        if not -rank <= one < rank:
            raise ValueError(f"axis {one} is out of range [{-rank}, {rank})")
    if isinstance(input, np.ndarray):
        return np.roll(input, shifts, axes)
    return torch.roll(input, shifts, axes)


def _roll_grad(op: Any, grad: Tensor) -> list[Any]:
    _, shift, axis = op.inputs
    return [make("Roll", grad, make("Neg", shift), axis), None, None]


def _roll_shape(ctx: ShapeContext) -> Dims:
    for name in ("shift", "axis"):
        if len(ctx[name] or ()) > 1:
            raise ValueError(
                f"Shape must be at most rank 1 but is rank {len(ctx[name])} for {name}"
            )
    if not shapes.is_compatible_static(ctx["shift"], ctx["axis"]):
        raise ValueError(
            "Shapes must be equal: shift and axis must be equal in shape; found"
            f" {show(ctx['shift'])} and {show(ctx['axis'])}"
        )
    return ctx.rank_at_least("input", 1)


define_op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    attrs=["T: type", f"Tshift: {_INDEX}", f"Taxis: {_INDEX}"],
    shape=_roll_shape,
    kernel=moving(_roll_kernel),
    host=("shift", "axis"),
    gradient=_roll_grad,
    moves=True,
)


# ---- public functions ------------------------------------------------------------------------


@one_operation
def transpose(
    a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """``a`` with its dims reordered: dim i of the result is dim ``perm[i]`` of ``a``.

    Args:
      a: a tensor.
      perm: integer vector; by default the dims in reverse order.
      conjugate: also conjugate the elements, if they are complex.

    Returns:
      A tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.transpose(tf.zeros([2, 3, 4]), [0, 2, 1]).shape.as_list()
      [2, 4, 3]
    """
    with name_scope(name, "transpose", [a]) as scope:
        tensor = convert_to_tensor(a, name="x") if perm is not None else convert_to_tensor(a)
        op_type = "Transpose"
        if conjugate and tensor.dtype.base_dtype.is_complex:
            op_type = "ConjugateTranspose"
        if perm is None:
            perm = _reversed_dims(tensor)
        return make(op_type, tensor, perm, name=scope)


def _reversed_dims(tensor: Tensor) -> Any:
    if tensor.sizes is not None:
        return np.arange(len(tensor.sizes) - 1, -1, -1, dtype=np.int32)
    rank = make("Rank", tensor)
    last = make("Sub", rank, 1, name="sub")
    return make("Sub", last, make("Range", 0, rank, 1), name="sub")


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes permutation ``x``.

    Args:
      x: int32 or int64 vector with 0..n-1 in some order.

    Returns:
      Tensor of the type and shape of ``x``.
    """
    return make("InvertPermutation", x, name=name)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """``tensor`` with the order along some dims reversed.

    Args:
      tensor: a tensor.
      axis: integer vector, the dims.

    Returns:
      A tensor like ``tensor``.
    """
    return make("ReverseV2", tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Reverses the first ``seq_lengths[i]`` steps of the i-th entry of a batch.

    Args:
      input: a tensor.
      seq_lengths: integer vector, one length a batch entry.
      seq_axis: dim of the steps; also called ``seq_dim``.
      batch_axis: dim of the batch, 0 by default; also called ``batch_dim``.
      seq_dim: deprecated synonym.
      batch_dim: deprecated synonym.

    Returns:
      A tensor like ``input``.
    """
    seq = reshape_ops.one_of("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = reshape_ops.one_of("batch_axis", batch_axis, "batch_dim", batch_dim)
    return make("ReverseSequence", input, seq_lengths, name=name, seq_dim=seq, batch_dim=batch or 0)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """``input`` with its elements moved along some dims; what falls off enters at the other end.

    Args:
      input: tensor of rank at least 1.
      shift: integer scalar or vector.
      axis: integer scalar or vector of that size.

    Returns:
      A tensor like ``input``.
    """
    return make("Roll", input, shift, axis, name=name)
