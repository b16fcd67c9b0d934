"""What the rules of operators that come in share: operands, axes, shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.onnx_reader import Reader


def int_vector(*values: int) -> Any:
    """A constant vector of int64."""
    return constant(np.array(values, np.int64))


def number_like(value: float, like: Any) -> Any:
    """A scalar constant of another tensor's type."""
    return constant(np.array(value, like.dtype.base_dtype.as_numpy_dtype))


def rank_of(x: Any) -> int:
    """The rank of a tensor, where that must be known."""
    if x.sizes is None:
        raise Unportable("the rank of an input is not known")
    return len(x.sizes)


def shape_tensor(x: Any) -> Any:
    """The shape of a tensor, as int64."""
    return make("Shape", x, out_type=dtypes.int64)


def flat_sizes(x: Any, axis: int) -> tuple[int, int]:
    """The two sizes of a tensor with its dims before and from an axis on as one each."""
    sizes = x.sizes
    outer, inner = sizes[:axis], sizes[axis:]
    if None in outer and None in inner:
        raise Unportable("the shape of its input is not known")
    left = -1 if None in outer else math.prod(outer)
    return left, -1 if None in inner else math.prod(inner)


def is_known(tensor: Any) -> bool:
    """Whether a tensor is a constant."""
    return bool(tensor.op.op_def.role == "constant")


def axes_of(r: Reader, axes: Any) -> list[int] | None:
    """Axes, given by a tensor or by an attribute."""
    if axes is None or isinstance(axes, list | tuple):
        return None if axes is None else list(axes)
    return [int(axis) for axis in r.known(axes, "axes").reshape(-1)]


def as_scalar(x: Any) -> Any:
    """A tensor of one element without dims."""
    return make("Reshape", x, constant(np.array([], np.int32)))
