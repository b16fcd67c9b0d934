"""Remainders: FloorMod, Mod and TruncateMod."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import broadcast
from penstock.ops.array import broadcasting
from penstock.ops.math.binary import (
    FLOATS,
    binary_function,
    define_binary,
)
from penstock.ops.math.division import fold_unless_error


def _floor_mod_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    first, second = broadcasting.dynamic(x, y)
    quotient = make("FloorDiv", x, y)
    return [first(grad), second(grad * -quotient)]


_mod_types = f"int32, int64, {FLOATS}"


def _np_mod(x: Any, y: Any) -> Any:
    return np.mod(x, y) if x.dtype.kind == "f" or np.all(y) else None


define_op(
    "FloorMod",
    "x: T, y: T -> z: T",
    attrs=[f"T: {{{_mod_types}}}"],
    shape=broadcast,
    kernel="torch.remainder({x}, {y})",
    inplace={"x": "{x}.remainder_({y})"},
    gradient=_floor_mod_grad,
    fold=fold_unless_error(_np_mod),
    number="{0} % {1}",
)


for _name in ("Mod", "TruncateMod"):
    define_binary(
        _name,
        _mod_types,
        "torch.fmod({x}, {y})",
        inplace={"x": "{x}.fmod_({y})"},
        no_gradient="none is defined in TF; FloorMod has one",
    )


floormod = binary_function(
    "floormod", "FloorMod", "Rest of division that rounds down: it has the sign of ``y``"
)


truncatemod = binary_function(
    "truncatemod", "TruncateMod", "Rest of division that rounds towards zero"
)


mod = floormod
