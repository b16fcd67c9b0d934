"""Comparison and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.docstrings import example, named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.families import OfTwo
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, broadcast, merged
from penstock.foundation.opdef.program_text import identifier
from penstock.ops.array import unsigned

_TRUTH = "a truth value"
_REALS = "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"

for _name, _sign, _function, _fold in (
    ("Less", "<", torch.lt, np.less),
    ("LessEqual", "<=", torch.le, np.less_equal),
    ("Greater", ">", torch.gt, np.greater),
    ("GreaterEqual", ">=", torch.ge, np.greater_equal),
):
    define_op(
        _name,
        "x: T, y: T -> z: bool",
        attrs=[f"T: {{{_REALS}}}"],
        shape=broadcast,
        kernel=unsigned.ordered(_name.lower(), _function),
        inline=unsigned.direct(f"torch.{identifier(_function.__name__)}({{x}}, {{y}})"),
        fold=static.elementwise(_fold),
        number=f"{{0}} {_sign} {{1}}",
        flops=arithmetic.each_output(1),
        no_gradient=_TRUTH,
    )


def _equality_shape(ctx: ShapeContext) -> Dims:
    x, y = ctx["x"], ctx["y"]
    if ctx.attr("incompatible_shape_error"):
        return broadcast(ctx)
    if x is None or y is None:
        return None
    try:
        dims = shapes.broadcast_static(x, y)
    except ValueError:
        return ()
    # An unknown dim may turn out not to fit, and then the result is a scalar.
    return dims if dims is None or None not in (*x, *y) else None


def _equality(name: str, function: Callable[..., Any], otherwise: bool) -> Callable[..., Any]:
    def kernel(x: Any, y: Any, incompatible_shape_error: bool) -> Any:
        if not incompatible_shape_error:
            try:
                shapes.broadcast_static(tuple(x.shape), tuple(y.shape))  # torch's imports sympy
            except ValueError:
                return torch.tensor(otherwise).to(x.device)
        if isinstance(x, np.ndarray):
            result = np.equal(x, y) if not otherwise else np.not_equal(x, y)
            return torch.from_numpy(np.array(result, bool))
        return function(x, y)

    kernel.__name__ = f"_{name}"
    return kernel


def _equality_fold(function: Callable[..., Any]) -> Callable[..., Any]:
    fold = static.elementwise(function)

    def rule(ctx: ShapeContext, x: Any, y: Any) -> Any:
        # Shapes that do not fit have a result of their own: the kernel knows it.
        return fold(ctx, x, y) if ctx.attr("incompatible_shape_error") else None

    return rule


def _equality_inline(source: str) -> Callable[[Any], str | None]:
    def inline(call: Any) -> str | None:
        if call.dtype("x") is dtypes.string or not call.attr("incompatible_shape_error"):
            return None
        return source.format(**call.arg)

    return inline


for _name, _sign, _function, _fold in (
    ("Equal", "==", torch.eq, np.equal), ("NotEqual", "!=", torch.ne, np.not_equal)
):  # fmt: skip
    define_op(
        _name,
        "x: T, y: T -> z: bool",
        attrs=[
            "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64,"
            " quint8, qint8, qint32, string, bool, complex128}",
            "incompatible_shape_error: bool = True",
        ],
        shape=_equality_shape,
        kernel=_equality(_name.lower(), _function, _name == "NotEqual"),
        inline=_equality_inline(f"torch.{identifier(_function.__name__)}({{x}}, {{y}})"),
        fold=_equality_fold(_fold),
        number=f"{{0}} {_sign} {{1}}",
        flops=arithmetic.each_output(1),
        commutative=True,
        no_gradient=_TRUTH,
    )


def _approximately_equal(x: Any, y: Any, tolerance: float) -> Any:
    if x.shape != y.shape:
        raise ValueError(f"x has shape {list(x.shape)}, y {list(y.shape)}; they must agree")
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return torch.sub(x, y).abs() <= tolerance
    # TF rounds the tolerance of integers down, and asks for less than it.
    wide = unsigned.WIDER.get(x.dtype, torch.int64)
    return (x.to(wide) - y.to(wide)).abs() < int(tolerance)


define_op(
    "ApproximateEqual",
    "x: T, y: T -> z: bool",
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
        " bfloat16, uint16, complex128, half, uint32, uint64}",
        "tolerance: float = 9.999999747378752e-06",
    ],
    shape=merged("x", "y"),
    kernel=_approximately_equal,
    commutative=True,
    no_gradient=_TRUTH,
)

for _name, _word, _function, _fold in (
    ("LogicalAnd", "and", "logical_and", np.logical_and),
    ("LogicalOr", "or", "logical_or", np.logical_or),
):  # fmt: skip
    define_op(
        _name,
        "x: bool, y: bool -> z: bool",
        shape=broadcast,
        kernel=f"torch.{_function}({{x}}, {{y}})",
        inplace={"x": f"{{x}}.{_function}_({{y}})", "y": f"{{y}}.{_function}_({{x}})"},
        fold=static.elementwise(_fold),
        number=f"{{0}} {_word} {{1}}",
        commutative=True,
        no_gradient=_TRUTH,
    )


# ---- public functions ---------------------------------------------------------------------------


def _function_of_two(name: str, op_type: str, what: str, call: str = "", gives: str = "") -> OfTwo:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return make(op_type, x, y, name=name)

    doc = (
        f"{what}, element by element.\n\n    Args:\n      x, y: tensors of one type; they"
        " broadcast.\n\n    Returns:\n      A bool tensor of the"
        " broadcast shape.\n" + example(call, gives)
    )
    return named(name, doc)(function)


equal = _function_of_two("equal", "Equal", "x == y", "tf.equal([1, 2], [1, 3])", "[True, False]")
greater = _function_of_two("greater", "Greater", "x > y", "tf.greater([1, 3], 2)", "[False, True]")
greater_equal = _function_of_two("greater_equal", "GreaterEqual", "x >= y")
less = _function_of_two("less", "Less", "x < y", "tf.less([1, 3], 2)", "[True, False]")
less_equal = _function_of_two("less_equal", "LessEqual", "x <= y")
logical_and = _function_of_two(
    "logical_and", "LogicalAnd", "x and y, of truth values",
    "tf.logical_and([True, True], [True, False])", "[True, False]",
)  # fmt: skip
logical_or = _function_of_two("logical_or", "LogicalOr", "x or y, of truth values")
not_equal = _function_of_two(
    "not_equal", "NotEqual", "x != y", "tf.not_equal([1, 2], [1, 3])", "[False, True]"
)


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Whether one of ``x`` and ``y``, but not both, is true, element by element.

    Args:
      x, y: bool tensors; they broadcast.

    Returns:
      A bool tensor of the broadcast shape.
    """
    either = make("LogicalOr", x, y)
    not_both = make("LogicalNot", make("LogicalAnd", x, y))
    return make("LogicalAnd", either, not_both, name=name)
