"""Comparison, logic, and choice by a condition.

``Select`` takes a condition of the shape of its operands, a scalar, or a vector that chooses rows;
``SelectV2`` broadcasts all three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import Dims, ShapeContext, broadcast, merged, show
from penstock.foundation.opdef.program_text import identifier
from penstock.ops.array import broadcasting, unsigned
from penstock.ops.math import elementwise

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
                np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
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


# ---- Select -------------------------------------------------------------------------------------


def _select_shape(ctx: ShapeContext) -> Dims:
    dims = shapes.merge_static(ctx["t"], ctx["e"])
    condition = ctx["condition"]
    if condition is None or dims is None or len(condition) == 0:
        return dims
    if len(condition) == 1 and len(dims) != 1:
        if not dims or not shapes.is_compatible_static(condition, dims[:1]):
            raise ValueError(
                f"Number of batches of 'then' must match size of 'cond', but saw:"
                f" {dims[0] if dims else 'a scalar'} vs. {condition[0]}: a vector chooses among the"
                f" rows of t and e, which have shape {show(dims)}"
            )
        return dims
    return shapes.merge_static(dims, condition)


def _select(condition: Any, t: Any, e: Any) -> Any:
    if t.shape != e.shape:
        raise ValueError(f"t has shape {list(t.shape)}, e {list(e.shape)}; they must agree")
    shape = condition.shape
    if len(shape) == 1 and t.ndim > 1 and shape[0] == t.shape[0]:
        condition = condition.reshape(-1, *[1] * (t.ndim - 1))
    elif len(shape) and shape != t.shape:
        raise ValueError(
            f"condition has shape {list(shape)}; t and e have {list(t.shape)}: it must have that"
            " shape, be a scalar, or a vector with an element for each row"
        )
    return _select_v2(condition, t, e)


def _select_v2(condition: Any, t: Any, e: Any) -> Any:
    if isinstance(t, np.ndarray):
        return np.array(np.where(condition.cpu().numpy(), t, e), object)
    return torch.where(condition, t, e)


def _select_inline(call: Any) -> str | None:
    condition, dims = call.dims("condition"), call.dims("t")
    fits = condition == () or (condition == dims and dims is not None and None not in dims)
    same = dims is not None and None not in dims and dims == call.dims("e")
    if same and condition is not None and len(condition) == 1 < len(dims):
        rows = call.arg["condition"] + f".view(-1{', 1' * (len(dims) - 1)})"
        if condition == dims[:1] and call.dtype("t") is not dtypes.string:
            return f"torch.where({rows}, {call.arg['t']}, {call.arg['e']})"
    return _select_v2_inline(call) if fits and same else None


def _select_v2_inline(call: Any) -> str | None:
    if call.dtype("t") is dtypes.string:
        return None
    return "torch.where({condition}, {t}, {e})".format(**call.arg)


def _select_grad(op: Any, grad: Any) -> list[Any]:
    condition, chosen, _ = op.inputs
    zeros = elementwise.zeros_like(chosen)
    return [
        None,
        make("Select", condition, grad, zeros),
        make("Select", condition, zeros, grad),
    ]


def _select_v2_grad(op: Any, grad: Any) -> list[Any]:
    condition, first, second = op.inputs
    kind = grad.dtype.base_dtype
    zeros = constant(np.zeros((), kind.as_numpy_dtype), kind, "zeros")
    for_first = make("SelectV2", condition, grad, zeros)
    shape, whole = broadcasting.shape_of(first), broadcasting.shape_of(op.outputs[0])
    for_first = _reduced(for_first, shape, whole)
    for_second = make("SelectV2", condition, zeros, grad)
    shape = broadcasting.shape_of(second)
    return [None, for_first, _reduced(for_second, shape, whole)]


def _reduced(grad: Any, shape: Any, whole: Any) -> Any:
    axes, _ = make("BroadcastGradientArgs", shape, whole)
    return make("Reshape", make("Sum", grad, axes, keep_dims=True), shape)


def _select_v2_shape(ctx: ShapeContext) -> Dims:
    return shapes.broadcast_static(ctx["condition"], shapes.broadcast_static(ctx["t"], ctx["e"]))


define_op(
    "Select",
    "condition: bool, t: T, e: T -> output: T",
    attrs=["T: type"],
    shape=_select_shape,
    kernel=_select,
    inline=_select_inline,
    gradient=_select_grad,
    moves=True,
)
define_op(
    "SelectV2",
    "condition: bool, t: T, e: T -> output: T",
    attrs=["T: type"],
    shape=_select_v2_shape,
    kernel=_select_v2,
    inline=_select_v2_inline,
    gradient=_select_v2_grad,
)


# ---- public functions ---------------------------------------------------------------------------


def _function_of_two(name: str, op_type: str, what: str) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return make(op_type, x, y, name=name)

    doc = (
        f"{what}, element by element.\n\n    Args:\n      x, y: tensors of one type; they"
        " broadcast.\n\n    Returns:\n      A bool tensor of the"
        " broadcast shape.\n    "
    )
    return named(name, doc)(function)


equal = _function_of_two("equal", "Equal", "x == y")
greater = _function_of_two("greater", "Greater", "x > y")
greater_equal = _function_of_two("greater_equal", "GreaterEqual", "x >= y")
less = _function_of_two("less", "Less", "x < y")
less_equal = _function_of_two("less_equal", "LessEqual", "x <= y")
logical_and = _function_of_two("logical_and", "LogicalAnd", "x and y, of truth values")
logical_or = _function_of_two("logical_or", "LogicalOr", "x or y, of truth values")
not_equal = _function_of_two("not_equal", "NotEqual", "x != y")


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


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of ``x`` where ``condition`` holds, else of ``y``; or the positions where it holds.

    Args:
      condition: bool tensor; with ``x`` and ``y``, of their shape, a scalar, or a vector that
        chooses whole rows.
      x, y: tensors of one shape and type, or both None.

    Returns:
      A tensor like ``x``; without ``x`` and ``y``, an int64 tensor [n, rank] of positions.

    Raises:
      ValueError: only one of ``x`` and ``y`` is given, or the shapes do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.where([True, False], [1, 2], [3, 4])).tolist()
      [1, 4]
    """
    return _where("Select", condition, x, y, name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Like ``where``, but ``condition``, ``x`` and ``y`` broadcast.

    Args:
      condition: bool tensor.
      x, y: tensors of one type, or both None.

    Returns:
      A tensor of the broadcast shape; without ``x`` and ``y``, the positions, int64 [n, rank].

    Raises:
      ValueError: only one of ``x`` and ``y`` is given, or the shapes do not broadcast.
    """
    return _where("SelectV2", condition, x, y, name)


def _where(op_type: str, condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if (x is None) != (y is None):
        missing = "x" if x is None else "y"
        raise ValueError(
            "x and y must both be non-None or both be None.:"
            f" where: x and y must both be given, or neither; {missing} is None"
        )
    made: Tensor
    if x is not None:
        made = make(op_type, condition, x, y, name=name)
        return made
    with name_scope(name, "Where", [condition]) as scope:
        condition = convert_to_tensor(condition, name="condition", preferred_dtype=dtypes.bool)
        made = make("Where", condition, name=scope)
    return made
