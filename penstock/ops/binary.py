"""Arithmetic of two tensors, which broadcast as NumPy's arrays do, and sums of many.

Integers divide as TF's do: ``Div`` and ``TruncateDiv`` towards zero, ``FloorDiv`` down; dividing by
zero and raising to a negative power are errors.  The floor of a floating quotient is that of the
rounded quotient (``FloorDiv`` of 1.0 and 0.1 is 10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.base import dtypes, errors, shapes
from penstock.graph.build import constant, make
from penstock.graph.composite import IndexedSlices, SparseTensor
from penstock.graph.convert import convert_to_tensor
from penstock.graph.scopes import control_dependencies, name_scope
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op, static
from penstock.opdef.inference import Dims, ShapeContext, broadcast, merged
from penstock.ops import broadcasting, unsigned

__all__ = [
    "accumulate_n", "add", "add_n", "atan2", "div", "div_no_nan", "divide", "floor_div", "floordiv",
    "floormod", "maximum", "minimum", "mod", "mul", "multiply", "pow_", "realdiv", "scalar_mul",
    "squared_difference", "sub", "subtract", "truediv", "truncatediv", "truncatemod",
]  # fmt: skip

_FLOATS = "bfloat16, half, float, double"
_COMPLEX = "complex64, complex128"
_NUMBERS = f"{_FLOATS}, uint8, int8, int16, int32, int64, {_COMPLEX}"
_WITH_UINT16 = f"{_NUMBERS}, uint16"
_NO_NAN = f"half, float, double, {_COMPLEX}"


def _conj_both(x: Any, y: Any) -> tuple[Any, Any]:
    from penstock.ops import complex as complex_ops

    return complex_ops.conj(x), complex_ops.conj(y)


# ---- gradients ----------------------------------------------------------------------------------


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


def _mul_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    plain = grad.dtype in (dtypes.int32, dtypes.float32)
    if plain and broadcasting.all_known_and_equal(x, y, grad):
        return [make("Mul", grad, y), make("Mul", grad, x)]
    first, second = broadcasting.smart(x, y, grad)
    x, y = _conj_both(x, y)
    return [first(make("Mul", grad, y)), second(make("Mul", x, grad))]


def _quotient_grad(divide_by: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def gradient(op: Any, grad: Any) -> list[Any]:
        x, y = op.inputs
        first, second = broadcasting.dynamic(x, y)
        x, y = _conj_both(x, y)
        return [
            first(divide_by(grad, y)),
            second(grad * divide_by(divide_by(-x, y), y)),
        ]

    return gradient


def _floor_mod_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    first, second = broadcasting.dynamic(x, y)
    quotient = make("FloorDiv", x, y)
    return [first(grad), second(grad * -quotient)]


def _pow_grad(op: Any, grad: Any) -> list[Any]:
    from penstock.ops import complex as complex_ops
    from penstock.ops import elementwise

    x, y = op.inputs
    first, second = broadcasting.smart(x, y, grad)
    x, y = _conj_both(x, y)
    for_x = first(grad * y * make("Pow", x, y - 1))
    z = complex_ops.conj(op.outputs[0])
    # log(x) where x <= 0 does not exist: the gradient there is 0, not NaN.
    mask = make("NotEqual", x, 0) if x.dtype.is_complex else make("Greater", x, 0)
    safe = make("Select", mask, x, elementwise.ones_like(x))
    log = make("Log", safe)
    logarithm = make("Select", mask, log, elementwise.zeros_like(x))
    return [for_x, second(grad * z * logarithm)]


def _choice_grad(better: str) -> Callable[[Any, Any], Any]:
    def gradient(op: Any, grad: Any) -> list[Any]:
        x, y = op.inputs
        sx, sy = broadcasting.shape_of(x), broadcasting.shape_of(y)
        zeros = broadcasting.filled_with_zeros(
            broadcasting.shape_of(grad), grad.dtype.base_dtype
        )
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


def _mul_no_nan_grad(op: Any, grad: Any) -> list[Any]:
    x, y = op.inputs
    if broadcasting.all_known_and_equal(x, y, grad):
        return [make("MulNoNan", grad, y), make("MulNoNan", x, grad)]
    first, second = broadcasting.dynamic(x, y)
    return [first(make("MulNoNan", grad, y)), second(make("MulNoNan", x, grad))]


def _not_zero(x: Any) -> Any:
    from penstock.ops import cast

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
    with control_dependencies([grad]):
        scaled = grad / (make("Square", x) + make("Square", y))
        for_y, for_x = x * scaled, -y * scaled
    if x._dims == y._dims and x._dims is not None and len(x._dims) == 0:
        return [for_y, for_x]
    if broadcasting.all_known_and_equal(y, x, grad) or grad._dims is None:
        return [for_y, for_x]
    # TF 1.15 forgets that the operands may have been broadcast.
    first, second = broadcasting.smart(y, x, grad)
    return [first(for_y), second(for_x)]


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


def _pow(x: Any, y: Any) -> Any:
    if not (x.dtype.is_floating_point or x.dtype.is_complex) and bool((y < 0).any()):
        raise errors.InvalidArgumentError(
            None, None, "Integers to negative integer powers are not allowed"
        )
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
        known = {2.0: "torch.square", 0.5: "torch.sqrt", -0.5: "torch.rsqrt",
                 -1.0: "torch.reciprocal"}.get(value)  # fmt: skip
        if known is not None:
            return f"{known}({x})"
        if np.isfinite(value):
            return f"torch.pow({x}, {value!r})"
    return f"torch.pow({x}, {y})"


def _squared_difference(x: Any, y: Any) -> Any:
    difference = torch.sub(x, y)
    if difference.dtype.is_complex:
        return difference * torch.conj_physical(difference)
    return difference.square_()


def _div_no_nan(x: Any, y: Any) -> Any:
    return torch.div(x, y).masked_fill_(y == 0, 0)


def _mul_no_nan(x: Any, y: Any) -> Any:
    return torch.mul(x, y).masked_fill_(y == 0, 0)


def _xdivy(x: Any, y: Any) -> Any:
    return torch.div(x, y).masked_fill_(x == 0, 0)


def _xlogy(x: Any, y: Any) -> Any:
    return torch.mul(x, torch.log(y)).masked_fill_(x == 0, 0)


def _add(x: Any, y: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.asarray(x + y, object)
    return torch.add(x, y)


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


def _mirrored(method: str, into_y: str) -> dict[str, Any]:
    return {
        "x": unsigned.direct_inplace(f"{{x}}.{method}_({{y}})"),
        "y": unsigned.direct_inplace(into_y),
    }


# ---- the table ----------------------------------------------------------------------------------


def _binary(
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
    )


_direct = unsigned.direct
_wrapping = unsigned.wrapping
_mod_types = f"int32, int64, {_FLOATS}"
_extremes = f"{_FLOATS}, int32, int64"

_binary("Add", f"{_NUMBERS}, string", _add, _add_grad, inline=_direct("torch.add({x}, {y})"),
        inplace=_mirrored("add", "{y}.add_({x})"), fold=np.add)  # fmt: skip
_binary("AddV2", _NUMBERS, "torch.add({x}, {y})", _add_grad, commutative=True, fold=np.add,
        inplace={"x": "{x}.add_({y})", "y": "{y}.add_({x})"})  # fmt: skip
_binary("Sub", _WITH_UINT16, _wrapping("sub", torch.sub), _sub_grad, fold=np.subtract,
        inline=_direct("torch.sub({x}, {y})"),
        inplace=_mirrored("sub", "torch.sub({x}, {y}, out={y})"))  # fmt: skip
_binary("Mul", _WITH_UINT16, _wrapping("mul", torch.mul), _mul_grad, fold=np.multiply,
        commutative=True, inline=_direct("torch.mul({x}, {y})"),
        inplace=_mirrored("mul", "{y}.mul_({x})"))  # fmt: skip


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


def _fold_unless_error(function: Callable[..., Any]) -> Callable[..., Any]:
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


def _np_mod(x: Any, y: Any) -> Any:
    return np.mod(x, y) if x.dtype.kind == "f" or np.all(y) else None


_by_truediv = _quotient_grad(lambda x, y: x / y)
_by_realdiv = _quotient_grad(lambda x, y: make("RealDiv", x, y))
_in_place_div = {
    "x": _floating_inplace("{x}.div_({y})"),
    "y": _floating_inplace("torch.div({x}, {y}, out={y})"),
}
for _name, _kernel, _gradient, _fold in (
    ("Div", unsigned.widened("div", _quotient), _by_truediv, _np_divide),
    ("RealDiv", unsigned.widened("realdiv", _quotient), _by_realdiv, _np_divide),
):
    define_op(
        _name,
        "x: T, y: T -> z: T",
        attrs=[f"T: {{{_WITH_UINT16}}}"],
        shape=broadcast,
        kernel=_kernel,
        inline=_floating(
            "torch.div({x}, {y})", 'torch.div({x}, {y}, rounding_mode="trunc")'
        ),
        inplace=_in_place_div,
        gradient=_gradient,
        fold=_fold_unless_error(_fold),
    )

define_op(
    "FloorDiv",
    "x: T, y: T -> z: T",
    attrs=[f"T: {{{_WITH_UINT16}}}"],
    shape=broadcast,
    kernel=unsigned.widened("floor_div", _floor_quotient),
    inline=_floating(
        "torch.div({x}, {y}).floor_()", 'torch.div({x}, {y}, rounding_mode="floor")'
    ),
    fold=_fold_unless_error(_np_floor_divide),
    no_gradient="piecewise constant",
)
define_op(
    "FloorMod",
    "x: T, y: T -> z: T",
    attrs=[f"T: {{{_mod_types}}}"],
    shape=broadcast,
    kernel="torch.remainder({x}, {y})",
    inplace={"x": "{x}.remainder_({y})"},
    gradient=_floor_mod_grad,
    fold=_fold_unless_error(_np_mod),
)
_binary("TruncateDiv", _WITH_UINT16, unsigned.widened("truncate_div", _truncated_quotient),
        no_gradient="piecewise constant")  # fmt: skip
for _name in ("Mod", "TruncateMod"):
    _binary(_name, _mod_types, "torch.fmod({x}, {y})", inplace={"x": "{x}.fmod_({y})"},
            no_gradient="none is defined in TF; FloorMod has one")  # fmt: skip
_binary("Pow", f"{_FLOATS}, int32, int64, {_COMPLEX}", _pow, _pow_grad, inline=_pow_inline)
_binary("Maximum", _extremes, "torch.maximum({x}, {y})", _choice_grad("GreaterEqual"),
        fold=np.maximum, inplace={"x": "torch.maximum({x}, {y}, out={x})",
                                  "y": "torch.maximum({x}, {y}, out={y})"})  # fmt: skip
_binary("Minimum", _extremes, "torch.minimum({x}, {y})", _choice_grad("LessEqual"),
        fold=np.minimum, inplace={"x": "torch.minimum({x}, {y}, out={x})",
                                  "y": "torch.minimum({x}, {y}, out={y})"})  # fmt: skip
_binary("SquaredDifference", f"{_FLOATS}, int32, int64, {_COMPLEX}", _squared_difference,
        _squared_difference_grad, commutative=True)  # fmt: skip
_binary("DivNoNan", _NO_NAN, _div_no_nan, _quotient_grad(lambda x, y: div_no_nan(x, y)))
_binary("MulNoNan", _NO_NAN, _mul_no_nan, _mul_no_nan_grad)
_binary("Xdivy", _NO_NAN, _xdivy, _xdivy_grad)
_binary("Xlogy", _NO_NAN, _xlogy, _xlogy_grad)
_binary("Atan2", _FLOATS, "torch.atan2({y}, {x})", _atan2_grad, inputs=("y", "x"))


# ---- sums of many -------------------------------------------------------------------------------


def _sum_of(inputs: Sequence[Any]) -> Any:
    dtype = inputs[0].dtype
    signed = unsigned.SIGNED.get(dtype)
    parts = list(inputs) if signed is None else [t.view(signed) for t in inputs]
    shape = parts[0].shape
    for part in parts:
        if part.shape != shape:
            found = ", ".join(str(list(p.shape)) for p in parts)
            raise ValueError(f"inputs must all have one shape; found {found}")
    if len(parts) == 1:
        total = parts[0].clone()
    else:
        total = torch.add(parts[0], parts[1])
        for part in parts[2:]:
            total.add_(part)
    return total if signed is None else total.view(dtype)


def _sum_inline(call: Any) -> str | None:
    tensors = call.tensors["inputs"]
    dims = tensors[0]._dims
    same = dims is not None and None not in dims and all(t._dims == dims for t in tensors)
    if not same or tensors[0].dtype.base_dtype in unsigned.INDIRECT or len(tensors) < 2:
        return None
    first, second, *rest = call.arg["inputs"]
    return f"torch.add({first}, {second})" + "".join(f".add_({part})" for part in rest)


def _each_grad(op: Any, grad: Any) -> list[Any]:
    return [grad] * len(op.inputs)


def _accumulated_shape(ctx: ShapeContext) -> Dims:
    return shapes.merge_static(merged("inputs")(ctx), ctx.attr("shape")._dims)


_SUMMED = (
    f"{_FLOATS}, int32, uint8, int16, int8, {_COMPLEX}, int64, qint8, quint8, qint32, uint16,"
    " uint32, uint64"
)
define_op(
    "AddN",
    "inputs: N * T -> sum: T",
    attrs=["N: int >= 1", f"T: {{{_SUMMED}, variant}}"],
    shape=merged("inputs"),
    kernel=_sum_of,
    inline=_sum_inline,
    gradient=_each_grad,
    commutative=True,
)
define_op(
    "AccumulateNV2",
    "inputs: N * T -> sum: T",
    attrs=["N: int >= 1", f"T: {{{_SUMMED}}}", "shape: shape"],
    shape=_accumulated_shape,
    kernel=_sum_of,
    inline=_sum_inline,
    gradient=_each_grad,
    commutative=True,
)


# ---- public functions ---------------------------------------------------------------------------

def _function(name: str, op_type: str, what: str) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return make(op_type, x, y, name=name)

    def function_of_y_x(y: Any, x: Any, name: str | None = None) -> Any:
        return make(op_type, y, x, name=name)

    made = function_of_y_x if op_type == "Atan2" else function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = (
        f"{what}, element by element.\n\n    Args:\n      x, y: tensors of one type; they"
        " broadcast.\n      name: name of the node.\n\n    Returns:\n      A tensor of the"
        " broadcast shape.\n    "
    )
    return made


add = _function("add", "Add", "x + y")
atan2 = _function(
    "atan2", "Atan2", "Arc tangent of y / x, with the signs of both telling the quadrant"
)
floor_div = _function("floor_div", "FloorDiv", "x / y, rounded down")
floormod = _function(
    "floormod", "FloorMod", "Rest of division that rounds down: it has the sign of ``y``"
)
maximum = _function("maximum", "Maximum", "The greater of ``x`` and ``y``")
minimum = _function("minimum", "Minimum", "The smaller of ``x`` and ``y``")
multiply = _function("multiply", "Mul", "x * y")
mul = _function("mul", "Mul", "x * y; the name that TF 0.x had for ``multiply``")
pow_ = _function("pow_", "Pow", "x to the power y")
realdiv = _function("realdiv", "RealDiv", "x / y of real or complex numbers")
squared_difference = _function("squared_difference", "SquaredDifference", "(x - y) squared")
subtract = _function("subtract", "Sub", "x - y")
sub = _function("sub", "Sub", "x - y; the name that TF 0.x had for ``subtract``")
truncatediv = _function("truncatediv", "TruncateDiv", "x / y, rounded towards zero")
truncatemod = _function("truncatemod", "TruncateMod", "Rest of division that rounds towards zero")
xdivy = _function("xdivy", "Xdivy", "x / y, and 0 where x is 0")
xlogy = _function("xlogy", "Xlogy", "x * log(y), and 0 where x is 0")

mod = floormod

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


def _same_type(what: str, x: Tensor, y: Tensor) -> dtypes.DType:
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
    from penstock.ops import cast

    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        kind = _same_type("truediv", x, y)
        if kind not in _TRUE_DIVISION:
            allowed = ", ".join(d.name for d in _TRUE_DIVISION)
            raise TypeError(f"truediv: invalid dtype {kind.name}; allowed are {allowed}")
        wider = _TRUE_DIVISION[kind]
        if wider is not None:
            x, y = cast.cast(x, wider), cast.cast(y, wider)
        made: Tensor = make("RealDiv", x, y, name=scope)
        return made


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
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        kind = _same_type("div", x, y)
        real = kind.is_floating or kind.is_complex
        made: Tensor = make("RealDiv" if real else "FloorDiv", x, y, name=scope)
        return made


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, rounded down, as Python's ``//``.

    Args:
      x, y: real tensors of one type; they broadcast.
      name: name of the result.

    Returns:
      A tensor of the type of ``x``.
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        made: Tensor = make("FloorDiv", x, y, name=scope)
        return made


def _without_nan(op_type: str, default: str) -> Callable[..., Tensor]:
    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        with name_scope(name, default, [x, y]) as scope:
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
            made: Tensor = make(op_type, x, y, name=scope)
            return made

    return function


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0.

    Args:
      x, y: floating or complex tensors of one type; they broadcast.
      name: name of the result.

    Returns:
      A tensor of the type of ``x``.
    """
    return _without_nan("DivNoNan", "div_no_nan")(x, y, name)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0, even if x is infinite or NaN (``tf.math.multiply_no_nan``).

    Args:
      x, y: floating or complex tensors of one type; they broadcast.
      name: name of the result.

    Returns:
      A tensor of the type of ``x``.
    """
    return _without_nan("MulNoNan", "multiply_no_nan")(x, y, name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0 (``tf.math.reciprocal_no_nan``).

    Args:
      x: floating or complex tensor.
      name: name of the result.

    Returns:
      A tensor of the shape and type of ``x``.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        kind = x.dtype.base_dtype
        one = constant(np.ones((), kind.as_numpy_dtype), kind, "one")
        return div_no_nan(one, x, scope)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices.

    Args:
      scalar: a number or 0-d tensor of the type of ``x``.
      x: Tensor or IndexedSlices.
      name: name of the node.

    Returns:
      The product, of the class of ``x``.

    Raises:
      ValueError: ``scalar`` is not known to be a scalar.
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar._dims != ():
        raise ValueError(f"scalar_mul: only a scalar can be multiplied; found {scalar}")
    if isinstance(x, IndexedSlices):
        values = make("Mul", scalar, x.values, name=name)
        return IndexedSlices(values, x.indices, x.dense_shape)
    return make("Mul", scalar, x, name=name)


_ADDENDS = "inputs must be a list of at least one Tensor{} of one dtype and shape; found {!r}"


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape.

    Args:
      inputs: list of tensors or IndexedSlices, of one type and shape.
      name: name of the node.

    Returns:
      The sum; of a list of one without a name, that tensor itself.

    Raises:
      ValueError: an empty list, or shapes that differ.
      TypeError: types that differ.
    """
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(f"add_n: {_ADDENDS.format('/IndexedSlices', inputs)}")
    if len(inputs) == 1:
        value = convert_to_tensor(inputs[0])
        return make("Identity", value, name=name) if name else value
    tensors = [t if isinstance(t, IndexedSlices) else convert_to_tensor(t) for t in inputs]
    made: Tensor = make("AddN", tensors, name=name)
    return made


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of tensors of one shape; like ``add_n``.

    Args:
      inputs: list of tensors of one type and shape.
      shape: expected shape, if it is not to be found from the inputs.
      tensor_dtype: expected element type.
      name: name of the node.

    Returns:
      The sum; of a list of one without a name, that tensor itself.

    Raises:
      ValueError: an empty list, or shapes that differ.
      TypeError: ``tensor_dtype`` is not the type of the inputs.
    """
    if not inputs or not isinstance(inputs, list | tuple):
        raise ValueError(f"accumulate_n: {_ADDENDS.format('', inputs)}")
    tensors = [convert_to_tensor(t) for t in inputs]
    if any(t.dtype.base_dtype is not tensors[0].dtype.base_dtype for t in tensors):
        raise ValueError(f"accumulate_n: {_ADDENDS.format('', tensors)}")
    total = shapes.as_shape(shape)
    for tensor in tensors:
        total = total.merge_with(tensor.shape)
    wanted = None if tensor_dtype is None else dtypes.as_dtype(tensor_dtype)
    if wanted is not None and wanted is not tensors[0].dtype.base_dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {wanted.name}, but the inputs are of type"
            f" {tensors[0].dtype.name}"
        )
    if len(tensors) == 1:
        return make("Identity", tensors[0], name=name) if name else tensors[0]
    made: Tensor = make("AccumulateNV2", tensors, name=name, shape=total)
    return made


def product(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y as the operator builds it: a sparse operand keeps its zeros."""
    if isinstance(y, SparseTensor):
        parts = (y.indices, y.values, y.dense_shape)
        values = make("SparseDenseCwiseMul", *parts, x, name=name)
        return SparseTensor(y.indices, values, y.dense_shape)
    return make("Mul", x, y, name=name)
