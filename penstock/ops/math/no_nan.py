"""Quotients and products that are 0 where one operand is: DivNoNan, MulNoNan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import broadcasting
from penstock.ops.math.binary import (
    NO_NAN,
    define_binary,
)
from penstock.ops.math.division import quotient_grad


def _mul_no_nan_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    if broadcasting.all_known_and_equal(x, y, grad):
        return [make("MulNoNan", grad, y), make("MulNoNan", x, grad)]
    first, second = broadcasting.dynamic(x, y)
    return [first(make("MulNoNan", grad, y)), second(make("MulNoNan", x, grad))]


def _div_no_nan(x: Any, y: Any) -> Any:
    return torch.div(x, y).masked_fill_(y == 0, 0)


def _mul_no_nan(x: Any, y: Any) -> Any:
    return torch.mul(x, y).masked_fill_(y == 0, 0)


define_binary("DivNoNan", NO_NAN, _div_no_nan, quotient_grad(lambda x, y: div_no_nan(x, y)))


define_binary("MulNoNan", NO_NAN, _mul_no_nan, _mul_no_nan_grad)


def _without_nan(op_type: str, default: str) -> Callable[..., Tensor]:
    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        with name_scope(name, default, [x, y]) as scope:
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
            return make(op_type, x, y, name=scope)

    return function


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0.

    Args:
      x, y: floating or complex tensors of one type; they broadcast.

    Returns:
      A tensor of the type of ``x``.
    """
    return _without_nan("DivNoNan", "div_no_nan")(x, y, name)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0, even if x is infinite or NaN (``tf.math.multiply_no_nan``).

    Args:
      x, y: floating or complex tensors of one type; they broadcast.

    Returns:
      A tensor of the type of ``x``.
    """
    return _without_nan("MulNoNan", "multiply_no_nan")(x, y, name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0 (``tf.math.reciprocal_no_nan``).

    Args:
      x: floating or complex tensor.

    Returns:
      A tensor of the shape and type of ``x``.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        kind = x.dtype.base_dtype
        one = constant(np.ones((), kind.as_numpy_dtype), kind, "one")
        return div_no_nan(one, x, scope)
