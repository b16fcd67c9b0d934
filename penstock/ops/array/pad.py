"""Pad, PadV2, MirrorPad and MirrorPadGrad.

A mirrored pad is an ``index_select`` along each padded dim with an index that runs back and forth;
its gradient adds along the same index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import join, ranks, reshape as reshape_ops, shape as shape_ops
from penstock.ops.array.movement import moving

_INDEX = "{int32, int64}"


# ---- shape rules -----------------------------------------------------------------------------


_Pairs = list[list[int | None]]


def _paddings(ctx: ShapeContext) -> tuple[Dims, _Pairs | None]:
    """Input dims (rank found from the paddings if need be) and the paddings where known."""
    dims, form = ctx["input"], ctx.rank("paddings", 2)
    if form[1] not in (None, 2):
        raise ValueError(f"paddings must have shape [rank, 2]; found {show(form)}")
    if dims is None and form[0] is not None:
        dims = (None,) * form[0]
    if dims is not None and form[0] not in (None, len(dims)):
        raise ValueError(
            f"Shape must be rank {form[0]} but is rank {len(dims)}: The first dimension of paddings"
            f" must be the rank of inputs{show(form)} {show(dims)}"
        )
    pairs = _known_pairs(ctx.tensor("paddings"), form[0])
    if pairs is not None:
        _check_pairs(pairs)
    return dims, pairs


def _check_pairs(pairs: Sequence[Sequence[int | None]]) -> None:
    for pair in pairs:
        if any(p is not None and p < 0 for p in pair):
            found = " ".join("?" if p is None else str(p) for p in pair)
            raise ValueError(f"Paddings must be non-negative: {found}: paddings are {pairs}")


def _known_pairs(paddings: Tensor, rank: int | None) -> _Pairs | None:
    """What is known of the paddings: all, or the rows and numbers that they are packed from."""
    value = static.constant_value(paddings)
    if value is not None:
        return value.tolist()  # type: ignore[no-any-return]
    if rank is None:
        return None
    if paddings.op_type != "Pack" or paddings.op.attrs["axis"] != 0:
        return [[None, None] for _ in range(rank)]
    return [_known_row(row) for row in paddings.op.inputs]


def _known_row(row: Tensor) -> list[int | None]:
    value = static.constant_value(row)
    if value is not None:
        return value.tolist()  # type: ignore[no-any-return]
    if row.op_type != "Pack":
        return [None, None]
    numbers = [static.constant_value(number) for number in row.op.inputs]
    return [None if number is None else int(number) for number in numbers]


def _pad_shape(ctx: ShapeContext) -> Dims:
    dims, pairs = _paddings(ctx)
    if dims is None or pairs is None:
        return None if dims is None else (None,) * len(dims)
    return tuple(
        None if None in (d, before, after) else d + before + after
        for d, (before, after) in zip(dims, pairs, strict=True)
    )


def _mirror_grad_shape(ctx: ShapeContext) -> Dims:
    dims, pairs = _paddings(ctx)
    if dims is None or pairs is None:
        return None if dims is None else (None,) * len(dims)
    return tuple(
        None if None in (d, before, after) else d - before - after
        for d, (before, after) in zip(dims, pairs, strict=True)
    )


# ---- kernels ---------------------------------------------------------------------------------


def _flat_pairs(paddings: Any) -> list[int]:
    """Torch's order: last dim first."""
    _check_pairs(paddings)
    return [p for pair in reversed(paddings) for p in pair]


def _pad_strings(input: np.ndarray, paddings: Any, value: bytes) -> np.ndarray:
    _flat_pairs(paddings)
    sizes = [d + before + after for d, (before, after) in zip(input.shape, paddings, strict=True)]
    padded = np.full(sizes, None, object)
    padded.fill(value)  # NumPy's own padding makes a NumPy scalar of it
    inside = (slice(b, b + d) for d, (b, _) in zip(input.shape, paddings, strict=True))
    padded[tuple(inside)] = input
    return padded


def _pad_kernel(input: Any, paddings: Any) -> Any:
    if isinstance(input, np.ndarray):
        return _pad_strings(input, paddings, b"")
    return torch.constant_pad_nd(input, _flat_pairs(paddings), 0)


def _pad_v2_kernel(input: Any, paddings: Any, constant_values: Any) -> Any:
    if isinstance(input, np.ndarray):
        return _pad_strings(input, paddings, constant_values.item())
    return torch.constant_pad_nd(input, _flat_pairs(paddings), constant_values.item())


def _pad_inline(call: Any) -> str | None:
    value = call.value("paddings")
    if value is None or call.dtype("input") is dtypes.string:
        return None
    flat = _flat_pairs(value.tolist())
    return f"torch.constant_pad_nd({call.arg['input']}, {literal(flat)}, 0)"


def _mirror_index(size: int, before: int, after: int, offset: int, axis: int) -> np.ndarray:
    limit = size - offset
    if before > limit or after > limit:
        kind = "REFLECT" if offset else "SYMMETRIC"
        rule, broken = ("less than", "not less") if offset else ("no greater than", "greater")
        raise ValueError(
            f"paddings must be {rule} the dimension size: {before}, {after} {broken} than {size}:"
            f" {kind} padding of dim {axis}"
        )
    left = np.arange(before + offset - 1, offset - 1, -1)
    right = np.arange(size - 1 - offset, size - 1 - offset - after, -1)
    return np.concatenate([left, np.arange(size), right])


def mirrored(input: Any, paddings: Any, mode: Any) -> Any:
    offset = int(mode == "REFLECT")
    for axis, (before, after) in enumerate(paddings):
        # Nothing is less than a size of 0, not even no padding.
        if before or after or (offset and not input.shape[axis]):
            index = _mirror_index(input.shape[axis], before, after, offset, axis)
            if isinstance(input, np.ndarray):
                input = input.take(index, axis)
            else:
                input = input.index_select(axis, torch.from_numpy(index).to(input.device))
    return input


def _mirror_grad_kernel(input: Any, paddings: Any, mode: Any) -> Any:
    offset = int(mode == "REFLECT")
    for axis, (before, after) in enumerate(paddings):
        if before or after:
            size = input.shape[axis] - before - after
            index = _mirror_index(size, before, after, offset, axis)
            dims = list(input.shape)
            dims[axis] = size
            total = input.new_zeros(dims)
            input = total.index_add_(axis, torch.from_numpy(index).to(input.device), input)
    return input


# ---- gradients -------------------------------------------------------------------------------


def _pad_grad(op: Any, grad: Tensor) -> list[Any]:
    source, paddings = op.inputs[0], op.inputs[1]
    column = make("Slice", paddings, [0, 0], join.stack([ranks.rank(source), 1]))
    begin = reshape_ops.reshape(column, [-1])
    # TensorFlow 1.15 refuses int64 paddings here, which must match the size.
    size = shape_ops.shape(source, out_type=paddings.dtype.base_dtype)
    return [make("Slice", grad, begin, size), *[None] * (len(op.inputs) - 1)]


def _mirror_grad(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> list[Any]:
        return [make(op_type, grad, op.inputs[1], mode=op.attrs["mode"]), None]

    return gradient


_PADDINGS = f"Tpaddings: {_INDEX} = int32"

define_op(
    "Pad",
    "input: T, paddings: Tpaddings -> output: T",
    attrs=["T: type", _PADDINGS],
    shape=_pad_shape,
    kernel=_pad_kernel,
    inline=_pad_inline,
    host=("paddings",),
    gradient=_pad_grad,
    moves=True,
)

define_op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    attrs=["T: type", _PADDINGS],
    shape=_pad_shape,
    kernel=_pad_v2_kernel,
    host=("paddings",),
    gradient=_pad_grad,
    moves=True,
)

for _type, _shape, _kernel, _back in (
    ("MirrorPad", _pad_shape, moving(mirrored), "MirrorPadGrad"),
    ("MirrorPadGrad", _mirror_grad_shape, moving(_mirror_grad_kernel), "MirrorPad"),
):
    define_op(
        _type,
        "input: T, paddings: Tpaddings -> output: T",
        attrs=["T: type", _PADDINGS, "mode: {'REFLECT', 'SYMMETRIC'}"],
        shape=_shape,
        kernel=_kernel,
        host=("paddings",),
        aliases=("input",),
        moves=_type == "MirrorPad",
        gradient=_mirror_grad(_back),
    )


@one_operation
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """``tensor`` with values added before and after the contents of each dim.

    Args:
      tensor: a tensor.
      paddings: integer tensor [rank, 2], how many before and after.
      mode: "CONSTANT", "REFLECT" (mirrored, the edge not repeated) or "SYMMETRIC" (mirrored with
        the edge); any case.
      constant_values: scalar to pad with in mode CONSTANT.

    Returns:
      A tensor of the rank of ``tensor``.

    Raises:
      ValueError: an unknown mode.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.pad(tf.zeros([2, 3]), [[1, 1], [0, 2]]).shape.as_list()
      [4, 5]
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if isinstance(constant_values, Tensor) or constant_values != 0:
            made: Tensor = make("PadV2", tensor, paddings, constant_values, name=name)
        else:
            made = make("Pad", tensor, paddings, name=name)
        return made
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(
            f"Unknown padding mode: {mode}: pad: mode must be CONSTANT, REFLECT or SYMMETRIC;"
            f" found {mode}"
        )
    made = make("MirrorPad", tensor, paddings, name=name, mode=mode)
    return made
