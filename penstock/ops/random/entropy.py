"""Integers that the operating system draws: no seed gives them again."""

from __future__ import annotations

import math
import os

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_value


def _ints(shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    data = bytearray(os.urandom(math.prod(shape) * dtype.itemsize))
    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(shape)


define_op(
    "NonDeterministicInts",
    "shape: shape_dtype -> output: dtype",
    attrs=["dtype: type = int64", "shape_dtype: type = int64"],
    shape=from_value("shape"),
    kernel=_ints,
    host=("shape",),
    stateful=True,
    no_gradient="it depends on no input's value",
)
