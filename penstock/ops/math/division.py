"""Quotients of two tensors.

TF has four divisions that differ for integers: Div and TruncateDiv round towards zero, FloorDiv
down, RealDiv takes floats only; ``truediv`` casts integers first, as Python 3 does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import ShapeContext, broadcast
from penstock.ops.array import broadcasting, cast, unsigned
from penstock.ops.math.binary import (
    WITH_UINT16,
    binary_function,
    conj_both,
    define_binary,
)


def quotient_grad(divide_by: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def gradient(op: Any, grad: Any) -> list[Any]:
        x, y = op.inputs
        first, second = broadcasting.dynamic(x, y)
        x, y = conj_both(x, y)
        return [
            first(divide_by(grad, y)),
            second(grad * divide_by(divide_by(-x, y), y)),
        ]

    return gradient


# ---- kernels ------------------------------------------------------------------------------------


def _floor_quotient(x: Any, y: Any) -> Any:
    if x.dtype.is_floating_point:
        return torch.div(x, y).floor_()
    return torch.div(x, y, rounding_mode="floor")


def _quotient(x: Any, y: Any) -> Any:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return torch.div(x, y)
    return torch.div(x, y, rounding_mode="trunc")


def _truncated_quotient(x: Any, y: Any) -> Any:
    return torch.div(x, y) if x.dtype.is_complex else torch.div(x, y, rounding_mode="trunc")


def _floating(source: str, otherwise: str | None = None) -> Callable[[Any], str | None]:
    """Source for floating and complex dtypes; ``otherwise`` for integers ATen knows."""

    def inline(call: Any) -> str | None:
        dtype = call.dtype("x")
        if dtype.is_floating or dtype.is_complex:
            return source.format(**call.arg)
        if otherwise is None or dtype in unsigned.INDIRECT:
            return None
        return otherwise.format(**call.arg)

    return inline


def _floating_inplace(source: str) -> Callable[[Any], str | None]:
    def choose(op: Any) -> str | None:
        dtype = op.outputs[0].dtype.base_dtype
        return source if dtype.is_floating or dtype.is_complex else None

    return choose


def _np_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    if not np.all(y):
        return None
    return np.trunc(np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y))


def _np_floor_divide(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return np.floor_divide(x, y) if np.all(y) else None
    return np.floor(np.divide(x, y))


def fold_unless_error(function: Callable[..., Any]) -> Callable[..., Any]:
    """A fold that leaves a division by zero to the step, which raises it."""

    def fold(ctx: ShapeContext, x: Any, y: Any) -> Any:
        if x is None or y is None:
            return None
        with np.errstate(all="ignore"):
            result = function(x, y)
        if result is None:
            return None
        return np.asarray(result).astype(ctx.op.outputs[0].dtype.as_numpy_dtype, copy=False)

    return fold


_by_truediv = quotient_grad(lambda x, y: x / y)
_by_realdiv = quotient_grad(lambda x, y: make("RealDiv", x, y))
_in_place_div = {
    "x": _floating_inplace("{x}.div_({y})"),
    "y": _floating_inplace("torch.div({x}, {y}, out={y})"),
}
for _name, _kernel, _gradient, _fold, _flops in (
    ("Div", unsigned.widened("div", _quotient), _by_truediv, _np_divide, None),
    ("RealDiv", unsigned.widened("realdiv", _quotient), _by_realdiv, _np_divide,
     arithmetic.each_output(1)),
):  # fmt: skip
    define_op(
        _name,
        "x: T, y: T -> z: T",
        attrs=[f"T: {{{WITH_UINT16}}}"],
        shape=broadcast,
        kernel=_kernel,
        inline=_floating("torch.div({x}, {y})", 'torch.div({x}, {y}, rounding_mode="trunc")'),
        inplace=_in_place_div,
        gradient=_gradient,
        fold=fold_unless_error(_fold),
        flops=_flops,
    )

define_op(
    "FloorDiv",
    "x: T, y: T -> z: T",
    attrs=[f"T: {{{WITH_UINT16}}}"],
    shape=broadcast,
    kernel=unsigned.widened("floor_div", _floor_quotient),
    inline=_floating("torch.div({x}, {y}).floor_()", 'torch.div({x}, {y}, rounding_mode="floor")'),
    fold=fold_unless_error(_np_floor_divide),
    no_gradient="piecewise constant",
    number="{0} // {1}",
    wraps=True,
)
define_binary(
    "TruncateDiv",
    WITH_UINT16,
    unsigned.widened("truncate_div", _truncated_quotient),
    no_gradient="piecewise constant",
)
floor_div = binary_function("floor_div", "FloorDiv", "x / y, rounded down")
realdiv = binary_function("realdiv", "RealDiv", "x / y of real or complex numbers")
truncatediv = binary_function("truncatediv", "TruncateDiv", "x / y, rounded towards zero")


_TRUE_DIVISION: dict[dtypes.DType, dtypes.DType | None] = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.bfloat16: None,
    dtypes.float16: None,
    dtypes.float32: None,
    dtypes.float64: None,
    dtypes.complex64: None,
    dtypes.complex128: None,
}


def same_type(what: str, x: Tensor, y: Tensor) -> dtypes.DType:
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise TypeError(
            f"{what}: x and y must have the same dtype; found {x.name} of"
            f" {x.dtype.base_dtype.name} and {y.name} of {y.dtype.base_dtype.name}"
        )
    return x.dtype.base_dtype


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 divides: integers are cast to float (8 and 16 bits: float32) first.

    Args:
      x, y: numeric tensors of one type; they broadcast.
      name: name of the scope and of the result.

    Returns:
      A floating or complex tensor of the broadcast shape.

    Raises:
      TypeError: the types differ or are not numeric.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        return make("RealDiv", *widened(x, y), name=scope)


def widened(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The operands of ``truediv`` as what it divides.

    Raises:
      TypeError: the types differ or are not numeric.
    """
    kind = same_type("truediv", x, y)
    if kind not in _TRUE_DIVISION:
        allowed = ", ".join(d.name for d in _TRUE_DIVISION)
        raise TypeError(f"truediv: invalid dtype {kind.name}; allowed are {allowed}")
    wider = _TRUE_DIVISION[kind]
    return (x, y) if wider is None else (cast.cast(x, wider), cast.cast(y, wider))


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python's operator divides; see ``truediv``.

    Args:
      x, y: numeric tensors of one type, or Python numbers.
      name: name of the result; without it, two Python numbers give a Python number.

    Returns:
      A tensor of the broadcast shape.
    """
    return truediv(x, y, name) if name is not None else x / y


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 divides: integers are rounded down.  Deprecated; use ``divide``.

    Args:
      x, y: numeric tensors of one type; they broadcast.
      name: name of the scope and of the result.

    Returns:
      A tensor of the type of ``x``.

    Raises:
      TypeError: the types differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.div([7, -7], 2)).tolist(), float(session.run(tf.div(7.0, 2.0)))
      ([3, -4], 3.5)
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        kind = same_type("div", x, y)
        real = kind.is_floating or kind.is_complex
        return make("RealDiv" if real else "FloorDiv", x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, rounded down, as Python's ``//``.

    Args:
      x, y: real tensors of one type; they broadcast.

    Returns:
      A tensor of the type of ``x``.
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        return make("FloorDiv", x, y, name=scope)
