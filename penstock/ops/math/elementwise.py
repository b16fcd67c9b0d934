"""Element-wise functions of one tensor, as rows of a table, and their gradients.

Results have the dtype of the input.  Gradients of functions of complex numbers take the conjugate
of the derivative, as TF's do; ``conj`` makes no node for real tensors.  Nodes that do not depend on
the incoming gradient wait for it through a control input, so that they do not keep memory early.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import tensor_list
from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import example, named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import OfOne
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op, static
from penstock.foundation.opdef.inference import first_input
from penstock.ops.array import broadcasting, nodes, unsigned

_FLOATS = "bfloat16, half, float, double"
_COMPLEX = "complex64, complex128"
FLOATS_COMPLEX = f"{_FLOATS}, {_COMPLEX}"
_FLOATS_INTS_COMPLEX = f"{_FLOATS}, int32, int64, {_COMPLEX}"
_INTS = "int8, int16, int32, int64, uint8, uint16, uint32, uint64"


# ---- gradients ----------------------------------------------------------------------------------


def conj(x: Any) -> Any:
    return nodes.conj(x)


def _one(dtype: Any) -> Tensor:
    return constant(np.ones((), dtype.as_numpy_dtype), dtype)


def _of_input(derivative: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Gradient ``derivative(conj(x), grad)``, made after ``grad``."""

    def gradient(op: Any, grad: Any) -> Any:
        with control_dependencies([grad]):
            return derivative(conj(op.inputs[0]), grad)

    return gradient


def _of_output(derivative: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Gradient ``derivative(conj(y), grad)``, made after ``grad``."""

    def gradient(op: Any, grad: Any) -> Any:
        with control_dependencies([grad]):
            return derivative(conj(op.outputs[0]), grad)

    return gradient


def _sign_grad(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    return broadcasting.filled_with_zeros(broadcasting.shape_of(x), x.dtype.base_dtype)


def _square_grad(x: Any, grad: Any) -> Any:
    two = constant(np.full((), 2, x.dtype.as_numpy_dtype), x.dtype)
    return make("Mul", grad, make("Mul", x, two))


def _tan_grad(x: Any, grad: Any) -> Any:
    secant = make("Reciprocal", make("Cos", x))
    return make("Square", secant) * grad


def _asin_factor(x: Any, grad: Any) -> Any:
    square = make("Square", x)
    return make("Reciprocal", make("Sqrt", make("Sub", _one(grad.dtype), square)))


def _acos_grad(x: Any, grad: Any) -> Any:
    factor = _asin_factor(x, grad)
    return -grad * factor


def _atan_grad(x: Any, grad: Any) -> Any:
    square = make("Square", x)
    return grad * make("Reciprocal", make("Add", _one(grad.dtype), square))


def _atanh_grad(x: Any, grad: Any) -> Any:
    square = make("Square", x)
    return grad * make("Reciprocal", make("Sub", _one(grad.dtype), square))


def _gaussian_grad(scale: float) -> Callable[[Any, Any], Any]:
    def gradient(op: Any, grad: Any) -> Any:
        dtype = grad.dtype.base_dtype
        factor = constant(np.full((), scale).astype(dtype.as_numpy_dtype), dtype)
        with control_dependencies([grad]):
            x = conj(op.inputs[0])
            return grad * factor * make("Exp", -make("Square", x))

    return gradient


def _digamma(x: Any) -> Any:
    # torch gives the limit of one side at the pole 0; of the others it says NaN, too.
    return torch.where(x == 0, float("nan"), torch.digamma(x))


def _digamma_grad(x: Any, grad: Any) -> Any:
    return grad * make("Polygamma", _one(x.dtype), x)


# ---- kernels ------------------------------------------------------------------------------------


def _kept(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Kernel for functions that ATen makes floating: integers come back as integers."""

    def kernel(x: Any) -> Any:
        result = function(x)
        return result if result.dtype is x.dtype else result.to(x.dtype)

    kernel.__name__ = f"_{name}"
    return kernel


def _reciprocal(x: Any) -> Any:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return torch.reciprocal(x)
    return torch.div(torch.ones_like(x), x, rounding_mode="trunc")


def _not_integer(source: str) -> Callable[[Any], str | None]:
    def inline(call: Any) -> str | None:
        return None if call.dtype("x").is_integer else source.format(**call.arg)

    return inline


def _inplace_not_integer(source: str) -> Callable[[Any], str | None]:
    return lambda op: None if op.outputs[0].dtype.base_dtype.is_integer else source


# ---- the table ----------------------------------------------------------------------------------


def _unary(
    op_type: str,
    types: str,
    function: str,
    gradient: Any = None,
    *,
    kernel: Any = None,
    no_gradient: str | None = None,
    fold: Any = None,
    **traits: Any,
) -> None:
    """Defines an op whose kernel is ``torch.<function>``, in place ``<function>_``."""
    inplace: Any = f"{{x}}.{function}_()"
    inline = None
    if kernel is not None:
        inline, inplace = _not_integer(f"torch.{function}({{x}})"), _inplace_not_integer(inplace)
    define_op(
        op_type,
        "x: T -> y: T",
        attrs=[f"T: {{{types}}}"],
        shape=first_input,
        kernel=kernel or f"torch.{function}({{x}})",
        inline=inline,
        inplace={"x": inplace},
        gradient=gradient,
        no_gradient=no_gradient,
        fold=static.elementwise(fold) if fold else None,
        **traits,
    )


_STEPS = "piecewise constant"
_ONE = arithmetic.each_input(1)


def _through(op_type: str) -> Callable[[Any, Any], Any]:
    """Gradient by an op of the output and the incoming gradient; the op conjugates by itself."""
    return lambda op, grad: make(op_type, op.outputs[0], grad)


for _row in (
    ("Neg", _FLOATS_INTS_COMPLEX, "neg", lambda op, grad: -grad,
     {"fold": np.negative, "number": "-{0}", "wraps": True, "flops": _ONE}),
    ("Sign", _FLOATS_INTS_COMPLEX, "sgn", _sign_grad, {}),
    ("Exp", FLOATS_COMPLEX, "exp", _of_output(lambda y, g: g * y), {}),
    ("Expm1", FLOATS_COMPLEX, "expm1", _of_input(lambda x, g: g * make("Exp", x)), {}),
    ("Log", FLOATS_COMPLEX, "log", _of_input(lambda x, g: g * make("Reciprocal", x)),
     {"flops": _ONE}),
    ("Log1p", FLOATS_COMPLEX, "log1p", _of_input(lambda x, g: g * make("Reciprocal", 1 + x)), {}),
    ("Sqrt", FLOATS_COMPLEX, "sqrt", _through("SqrtGrad"), {}),
    ("Rsqrt", FLOATS_COMPLEX, "rsqrt", _through("RsqrtGrad"),
     {"flops": arithmetic.each_input(2)}),
    ("Square", _FLOATS_INTS_COMPLEX, "square", _of_input(_square_grad), {"flops": _ONE}),
    ("Reciprocal", _FLOATS_INTS_COMPLEX, "reciprocal", _through("ReciprocalGrad"),
     {"kernel": _reciprocal, "flops": _ONE}),
    ("Inv", _FLOATS_INTS_COMPLEX, "reciprocal", _through("ReciprocalGrad"),
     {"kernel": _reciprocal}),
    ("Sin", FLOATS_COMPLEX, "sin", _of_input(lambda x, g: g * make("Cos", x)), {}),
    ("Cos", FLOATS_COMPLEX, "cos", _of_input(lambda x, g: -g * make("Sin", x)), {}),
    ("Tan", _FLOATS_INTS_COMPLEX, "tan", _of_input(_tan_grad), {"kernel": _kept(torch.tan, "tan")}),
    ("Asin", _FLOATS_INTS_COMPLEX, "asin", _of_input(lambda x, g: g * _asin_factor(x, g)),
     {"kernel": _kept(torch.asin, "asin")}),
    ("Acos", _FLOATS_INTS_COMPLEX, "acos", _of_input(_acos_grad),
     {"kernel": _kept(torch.acos, "acos")}),
    ("Atan", _FLOATS_INTS_COMPLEX, "atan", _of_input(_atan_grad),
     {"kernel": _kept(torch.atan, "atan")}),
    ("Sinh", FLOATS_COMPLEX, "sinh", _of_input(lambda x, g: g * make("Cosh", x)), {}),
    ("Cosh", FLOATS_COMPLEX, "cosh", _of_input(lambda x, g: g * make("Sinh", x)), {}),
    ("Tanh", FLOATS_COMPLEX, "tanh", _of_output(lambda y, g: make("TanhGrad", y, g)), {}),
    ("Asinh", FLOATS_COMPLEX, "asinh", _of_output(lambda y, g: g / make("Cosh", y)), {}),
    ("Acosh", FLOATS_COMPLEX, "acosh", _of_output(lambda y, g: g / make("Sinh", y)), {}),
    ("Atanh", FLOATS_COMPLEX, "atanh", _of_input(_atanh_grad), {}),
    ("Sigmoid", FLOATS_COMPLEX, "sigmoid", _of_output(lambda y, g: make("SigmoidGrad", y, g)), {}),
    ("Erf", _FLOATS, "erf", _gaussian_grad(2 / math.sqrt(math.pi)), {}),
    ("Erfc", _FLOATS, "erfc", _gaussian_grad(-2 / math.sqrt(math.pi)), {}),
    ("Lgamma", _FLOATS, "lgamma", _of_input(lambda x, g: g * make("Digamma", x)), {}),
    ("Floor", _FLOATS, "floor", None, {"no_gradient": _STEPS, "fold": np.floor}),
    ("Ceil", _FLOATS, "ceil", None, {"no_gradient": _STEPS, "fold": np.ceil}),
    ("Rint", _FLOATS, "round", None, {"no_gradient": _STEPS}),
    ("Round", _FLOATS_INTS_COMPLEX, "round", None, {"no_gradient": _STEPS}),
):  # fmt: skip
    _unary(_row[0], _row[1], _row[2], _row[3], **_row[4])

define_op(
    "Abs",
    "x: T -> y: T",
    attrs=[f"T: {{{_FLOATS}, int8, int16, int32, int64}}"],
    shape=first_input,
    kernel="torch.abs({x})",
    inplace={"x": "{x}.abs_()"},
    gradient=lambda op, grad: grad * make("Sign", op.inputs[0]),
    fold=static.elementwise(np.abs),
)

define_op(
    "Digamma", "x: T -> y: T", attrs=[f"T: {{{_FLOATS}}}"], shape=first_input, kernel=_digamma,
    gradient=_of_input(_digamma_grad),
)  # fmt: skip

for _name, _function in (("IsNan", "isnan"), ("IsInf", "isinf"), ("IsFinite", "isfinite")):
    define_op(
        _name,
        "x: T -> y: bool",
        attrs=[f"T: {{{_FLOATS}}}"],
        shape=first_input,
        kernel=f"torch.{_function}({{x}})",
        no_gradient="a truth value",
    )

define_op(
    "LogicalNot",
    "x: bool -> y: bool",
    shape=first_input,
    kernel="torch.logical_not({x})",
    inplace={"x": "{x}.logical_not_()"},
    no_gradient="a truth value",
    fold=static.elementwise(np.logical_not),
    number="not {0}",
)


def _invert(x: Any) -> Any:
    signed = unsigned.SIGNED.get(x.dtype)
    if signed is None:
        return torch.bitwise_not(x)
    return torch.bitwise_not(x.view(signed)).view(x.dtype)


define_op(
    "Invert",
    "x: T -> y: T",
    attrs=[f"T: {{{_INTS}}}"],
    shape=first_input,
    kernel=_invert,
    inline=unsigned.direct("torch.bitwise_not({x})"),
    no_gradient="a function of integers",
)


def _population_count(x: Any) -> Any:
    signed = unsigned.SIGNED.get(x.dtype)
    bits = x.dtype.itemsize * 8
    value = (x if signed is None else x.view(signed)).to(torch.int64)
    count = torch.zeros_like(value)
    for shift in range(bits):
        count += (value >> shift) & 1
    return count.to(torch.uint8)


define_op(
    "PopulationCount",
    "x: T -> y: uint8",
    attrs=[f"T: {{{_INTS}}}"],
    shape=first_input,
    kernel=_population_count,
    no_gradient="a function of integers",
)

define_op(
    "OnesLike",
    "x: T -> y: T",
    attrs=[
        f"T: {{{_FLOATS}, int8, uint8, int16, uint16, int32, int64, {_COMPLEX}, bool}}",
    ],
    shape=first_input,
    kernel="torch.ones_like({x})",
    no_gradient="a constant",
)


def _zeros_like(x: Any) -> Any:
    return torch.zeros_like(x) if isinstance(x, torch.Tensor) else tensor_list.zeros_like(x)


def _zeros_like_inline(call: Any) -> str | None:
    if call.dtype("x") in (dtypes.string, dtypes.variant):
        return None
    return f"torch.zeros_like({call.arg['x']})"


define_op(
    "ZerosLike",
    "x: T -> y: T",
    attrs=["T: type"],
    shape=first_input,
    kernel=_zeros_like,
    inline=_zeros_like_inline,
    no_gradient="a constant",
)


# ---- public functions ---------------------------------------------------------------------------


def function_of_one(name: str, op_type: str, what: str, call: str = "", gives: str = "") -> OfOne:
    def function(x: Any, name: str | None = None) -> Any:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, make(op_type, x.values, name=name), x.dense_shape)
        return make(op_type, x, name=name)

    allowed = "bool" if op_type == "LogicalNot" else "a floating or complex type where defined"
    doc = (
        f"{what}, element by element.\n\n    Args:\n      x: tensor (or SparseTensor) of {allowed}."
        "\n\n    Returns:\n      A tensor of the shape of ``x``.\n" + example(call, gives)
    )
    return named(name, doc)(function)


acos = function_of_one("acos", "Acos", "Arc cosine")
acosh = function_of_one("acosh", "Acosh", "Inverse hyperbolic cosine")
asin = function_of_one("asin", "Asin", "Arc sine")
asinh = function_of_one("asinh", "Asinh", "Inverse hyperbolic sine")
atan = function_of_one("atan", "Atan", "Arc tangent")
atanh = function_of_one("atanh", "Atanh", "Inverse hyperbolic tangent")
ceil = function_of_one("ceil", "Ceil", "Smallest integer not less than ``x``")
cos = function_of_one("cos", "Cos", "Cosine")
cosh = function_of_one("cosh", "Cosh", "Hyperbolic cosine")
digamma = function_of_one("digamma", "Digamma", "Derivative of ``lgamma``")
erf = function_of_one("erf", "Erf", "Gauss error function")
erfc = function_of_one("erfc", "Erfc", "One minus the Gauss error function")
exp = function_of_one("exp", "Exp", "e to the power ``x``", "tf.exp([0.0, -1000.0])", "[1.0, 0.0]")
expm1 = function_of_one("expm1", "Expm1", "exp(x) - 1, exact near zero")
floor = function_of_one(
    "floor", "Floor", "Largest integer not greater than ``x``",
    "tf.floor([1.7, -1.2])", "[1.0, -2.0]",
)  # fmt: skip
is_finite = function_of_one("is_finite", "IsFinite", "Whether ``x`` is neither infinite nor NaN")
is_inf = function_of_one("is_inf", "IsInf", "Whether ``x`` is infinite")
is_nan = function_of_one("is_nan", "IsNan", "Whether ``x`` is NaN")
lgamma = function_of_one(
    "lgamma", "Lgamma", "Logarithm of the absolute value of the gamma function"
)
log = function_of_one("log", "Log", "Natural logarithm", "tf.log([1.0, 0.0])", "[0.0, -inf]")
log1p = function_of_one("log1p", "Log1p", "log(1 + x), exact near zero")
logical_not = function_of_one("logical_not", "LogicalNot", "Whether ``x`` is false")
negative = function_of_one("negative", "Neg", "-x", "tf.negative([1, -2])", "[-1, 2]")
neg = function_of_one("neg", "Neg", "-x; the name that TF 0.x had for ``negative``")
inv = function_of_one("inv", "Reciprocal", "1 / x; the name that TF 0.x had for ``reciprocal``")
reciprocal = function_of_one("reciprocal", "Reciprocal", "1 / x")
rint = function_of_one("rint", "Rint", "Nearest integer, halves to even")
rsqrt = function_of_one("rsqrt", "Rsqrt", "1 / sqrt(x)")
sigmoid = function_of_one(
    "sigmoid", "Sigmoid", "1 / (1 + exp(-x))",
    "tf.sigmoid([-100.0, 0.0, 100.0])", "[0.0, 0.5, 1.0]",
)  # fmt: skip
sign = function_of_one("sign", "Sign", "-1, 0 or 1; x / |x| for complex ``x``")
sin = function_of_one("sin", "Sin", "Sine", "tf.sin([0.0, np.pi / 2])", "[0.0, 1.0]")
sinh = function_of_one("sinh", "Sinh", "Hyperbolic sine")
sqrt = function_of_one("sqrt", "Sqrt", "Square root", "tf.sqrt([4.0, 9.0])", "[2.0, 3.0]")
square = function_of_one("square", "Square", "x * x", "tf.square([2, -3])", "[4, 9]")
tan = function_of_one("tan", "Tan", "Tangent")
tanh = function_of_one(
    "tanh", "Tanh", "Hyperbolic tangent", "tf.tanh([-100.0, 0.0, 100.0])", "[-1.0, 0.0, 1.0]"
)


def abs_(x: Any, name: str | None = None) -> Any:
    """Absolute value, element by element.

    Args:
      x: tensor or SparseTensor of a signed or complex type.

    Returns:
      A tensor of the shape of ``x``; of the real type if ``x`` is complex.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.abs([-1.0, 2.0])).tolist()
      [1.0, 2.0]
    """
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, abs_(x.values, name), x.dense_shape)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return make("ComplexAbs", x, name=scope, Tout=x.dtype.real_dtype)
        return make("Abs", x, name=scope)


def round_(x: Any, name: str | None = None) -> Any:
    """Nearest integer, halves to even; integers are returned as they are.

    Args:
      x: tensor of a real type.

    Returns:
      A tensor of the shape and type of ``x``.
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else make("Round", x, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """Logarithm of the sigmoid, -softplus(-x), which does not overflow.

    Args:
      x: tensor of a floating type.
      name: name of the scope and of the result.

    Returns:
      A tensor of the shape of ``x``.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return make("Neg", make("Softplus", make("Neg", x)), name=scope)


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Any:
    """Zeros of the shape of ``tensor``.

    Args:
      tensor: gives the shape.
      dtype: element type; by default that of ``tensor``.
      optimize: whether a fully known shape makes a constant.

    Returns:
      A tensor of zeros (False, empty strings).

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.zeros_like([[1.5, 2.5]])).tolist()
      [[0.0, 0.0]]
    """
    return _like(tensor, dtype, name, optimize, 0)


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Any:
    """Ones of the shape of ``tensor``.

    Args:
      tensor: gives the shape.
      dtype: element type; by default that of ``tensor``.
      optimize: whether a fully known shape is written into the graph.

    Returns:
      A tensor of ones (True).

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.ones_like([[1.5, 2.5]])).tolist()
      [[1.0, 1.0]]
    """
    return _like(tensor, dtype, name, optimize, 1)


_LARGEST_CONSTANT = 1000


def _like(tensor: Any, dtype: Any, name: str | None, optimize: bool, value: int) -> Any:
    with name_scope(name, "ones_like" if value else "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        own = tensor.dtype.base_dtype
        kind = own if dtype is None else dtypes.as_dtype(dtype).base_dtype
        dims = tensor.sizes
        known = optimize and dims is not None and None not in dims
        if not value and known and math.prod(dims) < _LARGEST_CONSTANT:
            return constant(np.broadcast_to(_scalar(value, kind), dims), kind, scope)
        if not value and not known and kind is own:
            return make("ZerosLike", tensor, name=scope)
        # A large constant would only make the graph large: Fill makes it when the step runs.
        if known and not value:
            index = dtypes.int32 if max(dims, default=0) < 2**31 else dtypes.int64
            shape = constant(np.array(dims, np.int64), index, "shape_as_tensor")
        else:
            shape = broadcasting.shape_of(tensor, optimize)
        return make("Fill", shape, constant(_scalar(value, kind), kind), name=scope)


def _scalar(value: int, kind: dtypes.DType) -> np.ndarray:
    if kind is dtypes.string:
        if value:
            raise TypeError(
                f"Expected string, got {value} of type 'int' instead: there are no ones of strings"
            )
        result = np.empty((), object)
        result[()] = b""
        return result
    return np.full((), value, kind.as_numpy_dtype)
