"""Where: the places of what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array.unsigned import INDIRECT, SIGNED

# From so many truths on NumPy finds them faster than ATen: an eighth of its time for a mask of
# 50,000, a twentieth for a million (ATen takes each by a branch that the processor must guess).
_MANY = 1000
_COUNTED = 1 << 32  # so many elements are counted in 32 bits


def _where_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["input"]
    return (None, None if dims is None else len(dims))


def places(input: Any) -> Any:
    """The places of what is not zero, in order: int64 [count, rank]."""
    if not input.dim():
        raise ValueError("Where needs a tensor of rank 1 or more; found a scalar")
    size = input.numel()
    if input.dtype == torch.bool and input.device.type == "cpu" and _MANY < size < _COUNTED:
        return _places_of_many(input)
    return input.view(SIGNED.get(input.dtype, input.dtype)).nonzero()


def _places_of_many(mask: Any) -> Any:
    flat = np.flatnonzero(mask.numpy())
    if mask.dim() == 1:
        return torch.from_numpy(flat).unsqueeze(1)
    made = np.empty((len(flat), mask.dim()), np.int64)
    rest = flat.astype(np.uint32)
    for axis in range(mask.dim() - 1, 0, -1):
        size = np.uint32(mask.shape[axis])
        above = rest // size
        made[:, axis] = rest - above * size
        rest = above
    made[:, 0] = rest
    return torch.from_numpy(made)


def _where_inline(call: Any) -> str | None:
    dims = call.dims("input")
    # Scalars go to the kernel, which refuses them.
    if call.dtype("input") in INDIRECT or not dims:
        return None
    if call.dtype("input").name == "bool" and not _are_few(dims):
        return None
    return f"{call.arg['input']}.nonzero()"


def _are_few(dims: Any) -> bool:
    return None not in dims and int(np.prod(dims)) <= _MANY


define_op(
    "Where",
    "input: T -> index: int64",
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
        " bfloat16, uint16, complex128, half, uint32, uint64, bool} = bool"
    ],
    shape=_where_shape,
    kernel=places,
    inline=_where_inline,
    no_gradient="positions are integers",
    moves=True,
)
