"""Arithmetic of two tensors, which broadcast as NumPy's arrays do, and sums of many.

Integers divide as TF's do: ``Div`` and ``TruncateDiv`` towards zero, ``FloorDiv`` down; dividing by
zero and raising to a negative power are errors.  The floor of a floating quotient is that of the
rounded quotient (``FloorDiv`` of 1.0 and 0.1 is 10).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.docstrings import example, named
from penstock.foundation.graph.build import make, of_two
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import OfTwo
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import broadcast
from penstock.foundation.opdef.program_text import literal
from penstock.ops.array import broadcasting, cast, nodes, unsigned

FLOATS = "bfloat16, half, float, double"
COMPLEX = "complex64, complex128"
NUMBERS = f"{FLOATS}, uint8, int8, int16, int32, int64, {COMPLEX}"
WITH_UINT16 = f"{NUMBERS}, uint16"
NO_NAN = f"half, float, double, {COMPLEX}"


def conj_both(x: Any, y: Any) -> tuple[Any, Any]:
    return nodes.conj(x), nodes.conj(y)


# ---- gradients ----------------------------------------------------------------------------------


def _mul_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    plain = grad.dtype in (dtypes.int32, dtypes.float32)
    if plain and broadcasting.all_known_and_equal(x, y, grad):
        return [make("Mul", grad, y), make("Mul", grad, x)]
    first, second = broadcasting.smart(x, y, grad)
    x, y = conj_both(x, y)
    return [first(make("Mul", grad, y)), second(make("Mul", x, grad))]


def _pow_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    first, second = broadcasting.smart(x, y, grad)
    x, y = conj_both(x, y)
    for_x = first(grad * y * make("Pow", x, y - 1))
    z = nodes.conj(op.outputs[0])
    # log(x) where x <= 0 does not exist: the gradient there is 0, not NaN.
    mask = make("NotEqual", x, 0) if x.dtype.is_complex else make("Greater", x, 0)
    safe = make("Select", mask, x, nodes.ones_like(x))
    log = make("Log", safe)
    logarithm = make("Select", mask, log, nodes.zeros_like(x))
    return [for_x, second(grad * z * logarithm)]


def _choice_grad(better: str) -> Callable[[Any, Any], Any]:
    def gradient(op: Any, grad: Any) -> list[Any]:
        x, y = op.inputs
        sx, sy = broadcasting.shape_of(x), broadcasting.shape_of(y)
        zeros = broadcasting.filled_with_zeros(broadcasting.shape_of(grad), grad.dtype.base_dtype)
        mask = make(better, x, y)
        rx, ry = make("BroadcastGradientArgs", sx, sy)
        return [
            broadcasting.Share(sx, rx)(make("Select", mask, grad, zeros)),
            broadcasting.Share(sy, ry)(make("Select", mask, zeros, grad)),
        ]

    return gradient


def _squared_difference_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    with control_dependencies([grad]):
        for_x = scalar_mul(2.0, grad) * (x - y)
    if broadcasting.all_known_and_equal(x, y, grad):
        return [for_x, -for_x]
    first, second = broadcasting.smart(x, y, grad)
    return [first(for_x), -second(for_x)]


def _not_zero(x: Any) -> Any:
    return cast.cast(make("NotEqual", x, cast.cast(0.0, x.dtype)), x.dtype)


def _xlogy_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    first, second = broadcasting.dynamic(x, y)
    with control_dependencies([grad]):
        for_x = make("Xlogy", _not_zero(x), y)
        for_y = make("Xdivy", x, y)
        return [first(for_x * grad), second(for_y * grad)]


def _xdivy_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    first, second = broadcasting.dynamic(x, y)
    with control_dependencies([grad]):
        for_x = make("Xdivy", _not_zero(x), y)
        for_y = make("Xdivy", -x, y**2)
        return [first(for_x * grad), second(for_y * grad)]


def _atan2_grad(op: Any, grad: Any) -> list[Any]:
    y, x = op.inputs
    grad = convert_to_tensor(grad)
    with control_dependencies([grad]):
        scaled = grad / (make("Square", x) + make("Square", y))
        for_y, for_x = x * scaled, -y * scaled
    if x.sizes == y.sizes and x.sizes is not None and len(x.sizes) == 0:
        return [for_y, for_x]
    if broadcasting.all_known_and_equal(y, x, grad) or grad.sizes is None:
        return [for_y, for_x]
    # TF 1.15 forgets that the operands may have been broadcast.
    first, second = broadcasting.smart(y, x, grad)
    return [first(for_y), second(for_x)]


def _pow(x: Any, y: Any) -> Any:
    if not (x.dtype.is_floating_point or x.dtype.is_complex) and bool((y < 0).any()):
        raise errors.invalid("Integers to negative integer powers are not allowed")
    return torch.pow(x, y)


def _pow_inline(call: Any) -> str | None:
    dtype = call.dtype("x")
    if dtype.is_integer:
        return None
    exponent = call.value("y")
    x, y = call.arg["x"], call.arg["y"]
    if exponent is not None and exponent.ndim == 0 and dtype.is_floating:
        value = float(exponent)
        if value == 1:
            return f"{x}.clone()"
        known = {
            2.0: "torch.square",
            0.5: "torch.sqrt",
            -0.5: "torch.rsqrt",
            -1.0: "torch.reciprocal",
        }.get(value)
        if known is not None:
            return f"{known}({x})"
        if np.isfinite(value):
            return f"torch.pow({x}, {literal(value)})"
    return f"torch.pow({x}, {y})"


def _squared_difference(x: Any, y: Any) -> Any:
    if x.dtype.is_complex:
        difference = part_by_part(torch.sub, x, y)
        return difference * torch.conj_physical(difference)
    return torch.sub(x, y).square_()


def _xdivy(x: Any, y: Any) -> Any:
    return torch.div(x, y).masked_fill_(x == 0, 0)


def _xlogy(x: Any, y: Any) -> Any:
    return torch.mul(x, torch.log(y)).masked_fill_(x == 0, 0)


def part_by_part(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A sum of complex numbers; ATen multiplies by its alpha, 1, which makes nan of inf's 0."""
    made = function(torch.view_as_real(x.resolve_conj()), torch.view_as_real(y.resolve_conj()))
    return torch.view_as_complex(made)


def of_reals(source: str) -> Callable[[Any], str | None]:
    """An ``inline`` for what ``unsigned.direct`` writes, but not of complex numbers."""
    direct = unsigned.direct(source)
    return lambda call: None if call.dtype("x").is_complex else direct(call)


def into_reals(source: str) -> Callable[[Any], str | None]:
    direct = unsigned.direct_inplace(source)
    return lambda op: None if op.outputs[0].dtype.is_complex else direct(op)


# ---- the table ----------------------------------------------------------------------------------


def define_binary(
    op_type: str,
    types: str,
    kernel: Any,
    gradient: Any = None,
    *,
    inputs: tuple[str, str] = ("x", "y"),
    inline: Any = None,
    inplace: Any = None,
    fold: Any = None,
    commutative: bool = False,
    no_gradient: str | None = None,
    **traits: Any,
) -> None:
    define_op(
        op_type,
        f"{inputs[0]}: T, {inputs[1]}: T -> z: T",
        attrs=[f"T: {{{types}}}"],
        shape=broadcast,
        kernel=kernel,
        inline=inline,
        inplace=inplace,
        gradient=gradient,
        no_gradient=no_gradient,
        commutative=commutative,
        fold=static.elementwise(fold) if fold else None,
        **traits,
    )


_extremes = f"{FLOATS}, int32, int64"

define_binary(
    "Mul",
    WITH_UINT16,
    unsigned.wrapping("mul", torch.mul),
    _mul_grad,
    fold=np.multiply,
    commutative=True,
    inline=unsigned.direct("torch.mul({x}, {y})"),
    inplace={
        "x": unsigned.direct_inplace("{x}.mul_({y})"),
        "y": unsigned.direct_inplace("{y}.mul_({x})"),
    },
    number="{0} * {1}",
    wraps=True,
    flops=arithmetic.each_output(1),
)
define_binary(
    "Pow",
    f"{FLOATS}, int32, int64, {COMPLEX}",
    _pow,
    _pow_grad,
    inline=_pow_inline,
    flops=arithmetic.each_output(1),
)
define_binary(
    "Maximum",
    _extremes,
    "torch.maximum({x}, {y})",
    _choice_grad("GreaterEqual"),
    fold=np.maximum,
    inplace={"x": "torch.maximum({x}, {y}, out={x})", "y": "torch.maximum({x}, {y}, out={y})"},
    number="max({0}, {1})",
    flops=arithmetic.each_output(1),
)
define_binary(
    "Minimum",
    _extremes,
    "torch.minimum({x}, {y})",
    _choice_grad("LessEqual"),
    fold=np.minimum,
    inplace={"x": "torch.minimum({x}, {y}, out={x})", "y": "torch.minimum({x}, {y}, out={y})"},
    number="min({0}, {1})",
    flops=arithmetic.each_output(1),
)
define_binary(
    "SquaredDifference",
    f"{FLOATS}, int32, int64, {COMPLEX}",
    _squared_difference,
    _squared_difference_grad,
    commutative=True,
    flops=arithmetic.each_output(2),
)
define_binary("Xdivy", NO_NAN, _xdivy, _xdivy_grad)
define_binary("Xlogy", NO_NAN, _xlogy, _xlogy_grad)
define_binary("Atan2", FLOATS, "torch.atan2({y}, {x})", _atan2_grad, inputs=("y", "x"))


# ---- public functions ---------------------------------------------------------------------------


def binary_function(name: str, op_type: str, what: str, call: str = "", gives: str = "") -> OfTwo:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return make(op_type, x, y, name=name)

    def function_of_y_x(y: Any, x: Any, name: str | None = None) -> Any:
        return make(op_type, y, x, name=name)

    made: Any = function_of_y_x if op_type == "Atan2" else of_two(op_type, function)
    doc = (
        f"{what}, element by element.\n\n    Args:\n      x, y: tensors of one type; they"
        " broadcast.\n\n    Returns:\n      A tensor of the"
        " broadcast shape.\n" + example(call, gives)
    )
    return named(name, doc)(made)


atan2 = binary_function(
    "atan2", "Atan2", "Arc tangent of y / x, with the signs of both telling the quadrant"
)
maximum = binary_function(
    "maximum", "Maximum", "The greater of ``x`` and ``y``",
    "tf.maximum([-1.0, 2.0], 0.0)", "[0.0, 2.0]",
)  # fmt: skip
minimum = binary_function(
    "minimum", "Minimum", "The smaller of ``x`` and ``y``",
    "tf.minimum([-1.0, 2.0], 0.0)", "[-1.0, 0.0]",
)  # fmt: skip
multiply = binary_function(
    "multiply", "Mul", "x * y", "tf.multiply([[1], [2]], [10, 20])", "[[10, 20], [20, 40]]"
)
mul = binary_function(
    "mul", "Mul", "x * y; the name that TF 0.x had for ``multiply``", "tf.mul([1, 2], 3)", "[3, 6]"
)
pow_ = binary_function("pow_", "Pow", "x to the power y", "tf.pow([2, 3], [3, 2])", "[8, 9]")
squared_difference = binary_function("squared_difference", "SquaredDifference", "(x - y) squared")
xdivy = binary_function("xdivy", "Xdivy", "x / y, and 0 where x is 0")
xlogy = binary_function("xlogy", "Xlogy", "x * log(y), and 0 where x is 0")


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices.

    Args:
      scalar: a number or 0-d tensor of the type of ``x``.
      x: Tensor or IndexedSlices.

    Returns:
      The product, of the class of ``x``.

    Raises:
      ValueError: ``scalar`` is not known to be a scalar.
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.sizes != ():
        raise ValueError(
            f"Only scalar multiply works, got shape {scalar.shape}: found {scalar}; only a"
            " scalar can be multiplied"
        )
    if isinstance(x, IndexedSlices):
        values = make("Mul", scalar, x.values, name=name)
        return IndexedSlices(values, x.indices, x.dense_shape)
    return make("Mul", scalar, x, name=name)


def product(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y as the operator builds it: a sparse operand keeps its zeros."""
    if isinstance(y, SparseTensor):
        parts = (y.indices, y.values, y.dense_shape)
        values = make("SparseDenseCwiseMul", *parts, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return make("Mul", x, y, name=name)
