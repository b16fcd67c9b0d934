"""Moving blocks between space, batch and depth.

Each of these is a reshape, a permute and a reshape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import (
    constant as constant_ops,
    fill as fill_ops,
    join,
    reshape as reshape_ops,
    slicing,
)

_INDEX = "{int32, int64}"


# ---- SpaceToBatch(ND), BatchToSpace(ND) --------------------------------------------------------


def _block_of(ctx: ShapeContext) -> list[int] | list[None]:
    """The sizes of the block; as many times None where they are not known."""
    if "block_size" in ctx.op.attrs:
        return [ctx.attr("block_size")] * 2
    if ctx["block_shape"] is None:
        raise ValueError("block_shape must have rank 1; its rank is unknown")
    count = ctx.rank("block_shape", 1)[0]
    if count is None:
        raise ValueError("block_shape must have known size; found a vector of unknown length")
    value = ctx.value("block_shape")
    if value is None:
        return [None] * count
    if (value < 1).any():
        raise ValueError(f"block_shape must be positive; found {value.tolist()}")
    return value.tolist()  # type: ignore[no-any-return]


def _input_dims(ctx: ShapeContext) -> Dims:
    return ctx.rank("input", 4) if "block_size" in ctx.op.attrs else ctx["input"]


def _pairs(ctx: ShapeContext, name: str) -> np.ndarray | None:
    """Paddings or crops, two a dim of the block; their value if it is known."""
    dims, rows = ctx.rank(name, 2), 2
    if "block_size" not in ctx.op.attrs:
        rows = ctx.rank("block_shape", 1)[0]
    if None not in (dims[0], rows) and dims[0] != rows or dims[1] not in (None, 2):
        raise ValueError(f"{name} must have shape {show((rows, 2))}, but has {show(dims)}")
    value = ctx.value(name)
    if value is not None and (value < 0).any():
        raise ValueError(f"{name} must not be negative; found {value.tolist()}")
    return value


def _space_to_batch_shape(ctx: ShapeContext) -> Dims:
    dims, block, pads = _input_dims(ctx), _block_of(ctx), _pairs(ctx, "paddings")
    if dims is None:
        return None
    _check_block_rank(dims, block)
    if None in block:
        return (None,) * (len(block) + 1) + dims[len(block) + 1 :]
    count = math.prod(block)
    result = [None if dims[0] is None else dims[0] * count]
    for axis, size in enumerate(block):
        dim = dims[axis + 1]
        if dim is None or pads is None:
            result.append(None)
            continue
        padded = dim + int(pads[axis].sum())
        if padded % size:
            raise ValueError(
                f"padded dim {axis + 1} of size {padded} is no multiple of block {size}"
            )
        result.append(padded // size)
    return (*result, *dims[len(block) + 1 :])


def _batch_to_space_shape(ctx: ShapeContext) -> Dims:
    dims, block, crops = _input_dims(ctx), _block_of(ctx), _pairs(ctx, "crops")
    if dims is None:
        return None
    _check_block_rank(dims, block)
    if None in block:
        return (None,) * (len(block) + 1) + dims[len(block) + 1 :]
    count = math.prod(block)
    if dims[0] is not None and dims[0] % count:
        raise ValueError(f"batch {dims[0]} is no multiple of the product {count} of the block")
    result = [None if dims[0] is None else dims[0] // count]
    for axis, size in enumerate(block):
        dim = dims[axis + 1]
        if dim is None or crops is None:
            result.append(None)
            continue
        left = dim * size - int(crops[axis].sum())
        if left < 0:
            raise ValueError(f"crops {crops[axis].tolist()} leave nothing of dim {axis + 1}")
        result.append(left)
    return (*result, *dims[len(block) + 1 :])


def _check_block_rank(dims: tuple[int | None, ...], block: list[Any]) -> None:
    if len(dims) < len(block) + 1:
        raise ValueError(
            f"an input of shape {show(dims)} has no batch dim and {len(block)} spatial ones"
        )


def _to_batch(input: Any, block_shape: Any, paddings: Any) -> Any:
    count = len(block_shape)
    flat = [p for pair in reversed(paddings) for p in pair]
    if any(p < 0 for p in flat):
        raise ValueError(f"Paddings must be non-negative; found {paddings}")
    if any(flat):
        rest = input.dim() - 1 - count
        input = torch.constant_pad_nd(input, [0, 0] * rest + flat, 0)
    batch, *space = input.shape[: count + 1]
    rest = list(input.shape[count + 1 :])
    split = []
    for size, block in zip(space, block_shape, strict=True):
        if size % block:
            raise ValueError(f"padded size {size} is no multiple of block {block}")
        split += [size // block, block]
    order = [
        *range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2),
        *range(2 * count + 1, 2 * count + 1 + len(rest)),
    ]  # fmt: skip
    form = [batch * math.prod(block_shape), *split[0::2], *rest]
    return input.reshape(batch, *split, *rest).permute(order).reshape(form)


def _to_space(input: Any, block_shape: Any, crops: Any) -> Any:
    count, blocks = len(block_shape), math.prod(block_shape)
    batch, *space = input.shape[: count + 1]
    rest = list(input.shape[count + 1 :])
    if batch % blocks:
        raise ValueError(f"batch {batch} is no multiple of the block's product {blocks}")
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    wide = input.reshape(*block_shape, batch // blocks, *space, *rest).permute(order)
    sizes = [s * b for s, b in zip(space, block_shape, strict=True)]
    result = wide.reshape(batch // blocks, *sizes, *rest)
    for axis, (size, (before, after)) in enumerate(zip(sizes, crops, strict=True)):
        if before or after:
            result = result.narrow(axis + 1, before, size - before - after)
    return result


def _space_to_batch_kernel(input: Any, paddings: Any, block_size: Any) -> Any:
    return _to_batch(input, [block_size] * 2, paddings)


def _batch_to_space_kernel(input: Any, crops: Any, block_size: Any) -> Any:
    return _to_space(input, [block_size] * 2, crops)


def _opposite(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> list[Any]:
        attrs = {"block_size": op.attrs["block_size"]} if "block_size" in op.attrs else {}
        back = make(op_type, grad, *op.inputs[1:], **attrs)
        return [back, *[None] * (len(op.inputs) - 1)]

    return gradient


_BLOCK = f"Tblock_shape: {_INDEX} = int32"

define_op(
    "SpaceToBatch",
    "input: T, paddings: Tpaddings -> output: T",
    attrs=["T: type", f"Tpaddings: {_INDEX} = int32", "block_size: int >= 2"],
    shape=_space_to_batch_shape,
    kernel=_space_to_batch_kernel,
    host=("paddings",),
    aliases=("input",),
    gradient=_opposite("BatchToSpace"),
    moves=True,
)

define_op(
    "BatchToSpace",
    "input: T, crops: Tidx -> output: T",
    attrs=["T: type", "block_size: int >= 2", f"Tidx: {_INDEX} = int32"],
    shape=_batch_to_space_shape,
    kernel=_batch_to_space_kernel,
    host=("crops",),
    aliases=("input",),
    gradient=_opposite("SpaceToBatch"),
    moves=True,
)

define_op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    attrs=["T: type", _BLOCK, f"Tpaddings: {_INDEX} = int32"],
    shape=_space_to_batch_shape,
    kernel=_to_batch,
    host=("block_shape", "paddings"),
    aliases=("input",),
    gradient=_opposite("BatchToSpaceND"),
    moves=True,
)

define_op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    attrs=["T: type", _BLOCK, f"Tcrops: {_INDEX} = int32"],
    shape=_batch_to_space_shape,
    kernel=_to_space,
    host=("block_shape", "crops"),
    aliases=("input",),
    gradient=_opposite("SpaceToBatchND"),
    moves=True,
)


# ---- SpaceToDepth, DepthToSpace ----------------------------------------------------------------


def _depth_dims(ctx: ShapeContext, shrink: bool) -> Dims:
    layout, size = ctx.attr("data_format"), ctx.attr("block_size")
    if layout == "NCHW_VECT_C":
        raise ValueError("data_format NCHW_VECT_C (int8 on GPU only) is not supported")
    dims = list(ctx.rank("input", 4))
    channel = layout.index("C")
    for axis in (layout.index("H"), layout.index("W")):
        dims[axis] = _scaled("a side", dims[axis], size, shrink, ctx["input"])
    dims[channel] = _scaled("Input depth", dims[channel], size**2, not shrink, ctx["input"])
    return tuple(dims)


def _scaled(what: str, dim: int | None, factor: int, shrink: bool, dims: Dims) -> int | None:
    if dim is None or not shrink:
        return None if dim is None else dim * factor
    if dim % factor:
        words = f"Dimension size must be evenly divisible by {factor} but is {dim}: {what} of"
        raise ValueError(f"{words} {show(dims)} should be divisible by: {factor}")
    return dim // factor


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(order)


def _to_depth(input: Any, block_size: Any, data_format: Any) -> Any:
    n = block_size
    if data_format == "NCHW":
        b, c, h, w = input.shape
        wide = _permuted(input.reshape(b, c, h // n, n, w // n, n), (0, 3, 5, 1, 2, 4))
        return wide.reshape(b, n * n * c, h // n, w // n)
    b, h, w, c = input.shape
    wide = _permuted(input.reshape(b, h // n, n, w // n, n, c), (0, 1, 3, 2, 4, 5))
    return wide.reshape(b, h // n, w // n, n * n * c)


def _from_depth(input: Any, block_size: Any, data_format: Any) -> Any:
    n = block_size
    if data_format == "NCHW":
        b, c, h, w = input.shape
        wide = _permuted(input.reshape(b, n, n, c // (n * n), h, w), (0, 3, 4, 1, 5, 2))
        return wide.reshape(b, c // (n * n), h * n, w * n)
    b, h, w, c = input.shape
    wide = _permuted(input.reshape(b, h, w, n, n, c // (n * n)), (0, 1, 3, 2, 4, 5))
    return wide.reshape(b, h * n, w * n, c // (n * n))


def _depth_grad(op_type: str) -> Any:
    def gradient(op: Any, grad: Tensor) -> Tensor:
        size, layout = op.attrs["block_size"], op.attrs["data_format"]
        return make(op_type, grad, block_size=size, data_format=layout)

    return gradient


for _type, _kernel, _shrink, _back in (
    ("SpaceToDepth", _to_depth, True, "DepthToSpace"),
    ("DepthToSpace", _from_depth, False, "SpaceToDepth"),
):
    define_op(
        _type,
        "input: T -> output: T",
        attrs=[
            "T: type",
            "block_size: int >= 2",
            "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
        ],
        shape=lambda ctx, shrink=_shrink: _depth_dims(ctx, shrink),
        kernel=_kernel,
        aliases=("input",),
        moves=True,
        gradient=_depth_grad(_back),
    )


# ---- public functions ------------------------------------------------------------------------


def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """Cuts spatial dims into blocks and moves the places in a block into the batch dim.

    Args:
      input: tensor [batch, spatial..., rest...].
      block_shape: integer vector [m], block sizes of the first m spatial dims.
      paddings: integer tensor [m, 2], zeros added before and after.

    Returns:
      Tensor of the rank of ``input``.
    """
    return make("SpaceToBatchND", input, block_shape, paddings, name=name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Undoes space_to_batch_nd; ``crops`` [m, 2] is cut off where it padded."""
    return make("BatchToSpaceND", input, block_shape, crops, name=name)


def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """space_to_batch_nd with square blocks of two spatial dims.

    Args:
      input: tensor [batch, height, width, depth].
      paddings: integer tensor [2, 2].
      block_size: size of a block, at least 2.
      block_shape: synonym of ``block_size``.

    Returns:
      A 4-D tensor.
    """
    size = reshape_ops.one_of("block_shape", block_shape, "block_size", block_size)
    result = space_to_batch_nd(input, np.array([size, size], np.int32), paddings, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(
    input: Any,
    crops: Any,
    block_size: int,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """Undoes space_to_batch; ``crops`` [2, 2] is cut off where it padded."""
    size = reshape_ops.one_of("block_shape", block_shape, "block_size", block_size)
    result = batch_to_space_nd(input, np.array([size, size], np.int32), crops, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Paddings (and crops that undo them) that make spatial sizes multiples of the block.

    Args:
      input_shape: int32 vector [n].
      block_shape: int32 vector [n].
      base_paddings: int32 tensor [n, 2], the least paddings; zeros by default.

    Returns:
      ``(paddings, crops)``, int32 tensors [n, 2].

    Raises:
      ValueError: the length of ``block_shape`` is not known.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert_to_tensor(input_shape, dtypes.int32, "input_shape")
        block = convert_to_tensor(block_shape, dtypes.int32, "block_shape")
        if block.sizes is None or len(block.sizes) != 1 or block.sizes[0] is None:
            raise ValueError(
                f"block_shape must be a vector of known length; found {show(block.sizes)}"
            )
        if not block.sizes[0]:
            nothing = [fill_ops.zeros([0, 2], dtypes.int32) for _ in range(2)]
            return nothing[0], nothing[1]
        sizes.shape.assert_is_compatible_with([block.sizes[0]])
        if base_paddings is None:
            base_paddings = fill_ops.zeros([block.sizes[0], 2], dtypes.int32)
        base = convert_to_tensor(base_paddings, dtypes.int32, "base_paddings")
        known = [static.constant_value(t) for t in (sizes, block, base)]
        if all(k is not None for k in known):
            return _known_paddings(*known)  # type: ignore[arg-type]
        return _computed_paddings(sizes, block, base)


def _known_paddings(
    sizes: np.ndarray, block: np.ndarray, base: np.ndarray
) -> tuple[Tensor, Tensor]:
    extra = -(sizes + base.sum(1)) % block
    paddings = np.stack([base[:, 0], base[:, 1] + extra], 1)
    crops = np.stack([np.zeros_like(extra), extra], 1)
    made = [constant_ops.constant(v, dtypes.int32, name=n)
            for v, n in ((paddings, "paddings"), (crops, "crops"))]  # fmt: skip
    return made[0], made[1]


def _computed_paddings(sizes: Tensor, block: Tensor, base: Tensor) -> tuple[Tensor, Tensor]:
    count = (block.sizes or (0,))[0] or 0
    item = slicing.getitem
    start, end = item(base, (slice(None), 0)), item(base, (slice(None), 1))
    full = make("AddV2", make("AddV2", sizes, start, name="add"), end, name="add")
    rest = make("FloorMod", full, block, name="mod")
    extra = make("FloorMod", make("Sub", block, rest, name="sub"), block, name="mod")
    stop = make("AddV2", end, extra, name="add")
    rows = [[item(start, i), item(stop, i)] for i in range(count)]
    paddings = join.stack(rows, name="paddings")
    crops = join.stack([[0, item(extra, i)] for i in range(count)], name="crops")
    return paddings, crops


def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Moves each block of height and width into the depth dim.

    Args:
      input: 4-D tensor.
      block_size: at least 2.
      data_format: "NHWC" or "NCHW".

    Returns:
      4-D tensor.
    """
    return make("SpaceToDepth", input, name=name, block_size=block_size, data_format=data_format)


def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Undoes space_to_depth."""
    return make("DepthToSpace", input, name=name, block_size=block_size, data_format=data_format)
