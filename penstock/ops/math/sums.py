"""Add, AddV2 and Sub."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.opdef import arithmetic
from penstock.ops.array import broadcasting, unsigned
from penstock.ops.math.binary import (
    NUMBERS,
    WITH_UINT16,
    binary_function,
    define_binary,
    into_reals,
    of_reals,
    part_by_part,
)


def _add_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    if broadcasting.all_known_and_equal(x, y, grad):
        return [grad, grad]
    first, second = broadcasting.smart(x, y, grad)
    return [first(grad), second(grad)]


def _sub_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    if broadcasting.all_known_and_equal(x, y, grad):
        return [grad, -grad]
    first, second = broadcasting.smart(x, y, grad)
    return [first(grad), second(-grad)]


def _add(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.asarray(x + y, object)
    return part_by_part(torch.add, x, y) if x.is_complex() else torch.add(x, y)


def _sub(x: Any, y: Any) -> Any:
    return part_by_part(torch.sub, x, y) if x.is_complex() else torch.sub(x, y)


define_binary(
    "Add",
    f"{NUMBERS}, string",
    _add,
    _add_grad,
    inline=of_reals("torch.add({x}, {y})"),
    inplace={"x": into_reals("{x}.add_({y})"), "y": into_reals("{y}.add_({x})")},
    fold=np.add,
    number="{0} + {1}",
    wraps=True,
    flops=arithmetic.each_output(1),
)


define_binary(
    "AddV2",
    NUMBERS,
    _add,
    _add_grad,
    commutative=True,
    fold=np.add,
    inline=of_reals("torch.add({x}, {y})"),
    inplace={"x": into_reals("{x}.add_({y})"), "y": into_reals("{y}.add_({x})")},
    number="{0} + {1}",
    wraps=True,
    flops=arithmetic.each_output(1),
)


define_binary(
    "Sub",
    WITH_UINT16,
    unsigned.wrapping("sub", _sub),
    _sub_grad,
    fold=np.subtract,
    inline=of_reals("torch.sub({x}, {y})"),
    inplace={"x": into_reals("{x}.sub_({y})"), "y": into_reals("torch.sub({x}, {y}, out={y})")},
    number="{0} - {1}",
    wraps=True,
    flops=arithmetic.each_output(1),
)


add = binary_function("add", "Add", "x + y", "tf.add([[1], [2]], [10, 20])", "[[11, 21], [12, 22]]")


subtract = binary_function("subtract", "Sub", "x - y", "tf.subtract([5, 7], 2)", "[3, 5]")


sub = binary_function("sub", "Sub", "x - y; the name that TF 0.x had for ``subtract``")
