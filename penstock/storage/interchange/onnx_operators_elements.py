"""ONNX operators that come in: elements one by one, reductions, products, quantization."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.ops.array.constant import constant
from penstock.storage.interchange.model import Unportable
from penstock.storage.interchange.onnx_operands import (
    axes_of,
    flat_sizes,
    int_vector,
    is_known,
    number_like,
    rank_of,
    shape_tensor,
)
from penstock.storage.interchange.onnx_reader import Reader, Rule, dtype_of

_UNARY = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh",
    "Atan": "Atan", "Atanh": "Atanh", "BitwiseNot": "Invert", "Ceil": "Ceil", "Cos": "Cos",
    "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp", "Floor": "Floor", "IsInf": "IsInf",
    "IsNaN": "IsNan", "Log": "Log", "Neg": "Neg", "Not": "LogicalNot",
    "Reciprocal": "Reciprocal", "Relu": "Relu", "Round": "Round", "Sigmoid": "Sigmoid",
    "Sign": "Sign", "Sin": "Sin", "Sinh": "Sinh", "Softplus": "Softplus",
    "Softsign": "Softsign", "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh", "Identity": "Identity",
}  # fmt: skip
_BINARY = {
    "Add": "AddV2", "Sub": "Sub", "Mul": "Mul", "Pow": "Pow", "Equal": "Equal", "Less": "Less",
    "LessOrEqual": "LessEqual", "Greater": "Greater", "GreaterOrEqual": "GreaterEqual",
    "And": "LogicalAnd", "Or": "LogicalOr", "Xor": "NotEqual", "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
}  # fmt: skip
_SUMS = {"ReduceSum": "Sum", "ReduceMean": "Mean", "ReduceProd": "Prod", "ReduceMax": "Max",
         "ReduceMin": "Min"}  # fmt: skip


def _unary(op: str) -> Rule:
    return lambda r, node, x, **attrs: make(op, x)


def _binary(op: str) -> Rule:
    return lambda r, node, x, y, **attrs: make(op, x, y)


def _folded(op: str) -> Rule:
    return lambda r, node, *parts, **attrs: reduce(lambda a, b: make(op, a, b), parts)


def _div(r: Reader, node: Any, x: Any, y: Any) -> Any:
    return make("TruncateDiv" if x.dtype.is_integer else "RealDiv", x, y)


def _mod(r: Reader, node: Any, x: Any, y: Any, fmod: int = 0) -> Any:
    return make("TruncateMod" if fmod else "FloorMod", x, y)


def _mean_of(r: Reader, node: Any, *parts: Any) -> Any:
    return make("RealDiv", make("AddN", list(parts)), number_like(len(parts), parts[0]))


def _cast(r: Reader, node: Any, x: Any, to: int, **attrs: Any) -> Any:
    return make("Cast", x, DstT=dtype_of(to))


def _clip(r: Reader, node: Any, x: Any, low: Any = None, high: Any = None, **attrs: Any) -> Any:
    low = number_like(attrs["min"], x) if "min" in attrs else low
    high = number_like(attrs["max"], x) if "max" in attrs else high
    x = x if low is None else make("Maximum", x, low)
    return x if high is None else make("Minimum", x, high)


def _leaky(r: Reader, node: Any, x: Any, alpha: float = 0.01) -> Any:
    return make("LeakyRelu", x, alpha=alpha)


def _prelu(r: Reader, node: Any, x: Any, slope: Any) -> Any:
    zero = number_like(0, x)
    return make("AddV2", make("Maximum", x, zero), make("Mul", slope, make("Minimum", x, zero)))


def _elu(r: Reader, node: Any, x: Any, alpha: float = 1.0) -> Any:
    made = make("Elu", x)
    if alpha == 1.0:
        return made
    below = make("Less", x, number_like(0, x))
    return make("SelectV2", below, make("Mul", made, number_like(alpha, x)), x)


def _selu(r: Reader, node: Any, x: Any, **attrs: Any) -> Any:
    if attrs and not (
        math.isclose(attrs.get("alpha", 1.6732632), 1.6732632, rel_tol=1e-5)
        and math.isclose(attrs.get("gamma", 1.0507010), 1.0507010, rel_tol=1e-5)
    ):
        raise Unportable("its alpha and gamma are not the usual ones")
    return make("Selu", x)


def _gelu(r: Reader, node: Any, x: Any, approximate: str = "none") -> Any:
    half, one = number_like(0.5, x), number_like(1, x)
    if approximate == "tanh":
        cube = make("Mul", make("Mul", x, x), make("Mul", x, number_like(0.044715, x)))
        inner = make("Mul", number_like(math.sqrt(2 / math.pi), x), make("AddV2", x, cube))
        curve = make("Tanh", inner)
    else:
        curve = make("Erf", make("Mul", x, number_like(math.sqrt(0.5), x)))
    return make("Mul", make("Mul", half, x), make("AddV2", one, curve))


def _hard_sigmoid(r: Reader, node: Any, x: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    line = make("AddV2", make("Mul", x, number_like(alpha, x)), number_like(beta, x))
    return make("Minimum", make("Maximum", line, number_like(0, x)), number_like(1, x))


def _hard_swish(r: Reader, node: Any, x: Any) -> Any:
    return make("Mul", x, _hard_sigmoid(r, node, x, 1 / 6, 0.5))


def _softmax(op: str) -> Rule:
    def rule(r: Reader, node: Any, x: Any, axis: int | None = None) -> Any:
        rank = rank_of(x)
        if r.opset < 13:  # all dims from the axis on are one
            first = 1 if axis is None else axis % rank
            flat = make("Reshape", x, int_vector(*flat_sizes(x, first)))
            return make("Reshape", make(op, flat), shape_tensor(x))
        axis = -1 if axis is None else axis
        if axis % rank == rank - 1:
            return make(op, x)
        perm = list(range(rank))
        perm[axis % rank], perm[-1] = perm[-1], perm[axis % rank]
        turned = make("Transpose", x, constant(np.array(perm, np.int32)))
        return make("Transpose", make(op, turned), constant(np.array(perm, np.int32)))

    return rule


def _matmul(r: Reader, node: Any, a: Any, b: Any) -> Any:
    ranks = rank_of(a), rank_of(b)
    if ranks == (2, 2):
        return make("MatMul", a, b)
    a = make("ExpandDims", a, constant(0)) if ranks[0] == 1 else a
    b = make("ExpandDims", b, constant(1)) if ranks[1] == 1 else b
    made = make("BatchMatMulV2", a, b)
    gone = [axis for axis, rank in ((-2, ranks[0]), (-1, ranks[1])) if rank == 1]
    return make("Squeeze", made, squeeze_dims=gone) if gone else made


def _gemm(
    r: Reader, node: Any, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 1.0,
    transA: int = 0, transB: int = 0, **attrs: Any,
) -> Any:  # fmt: skip
    made = make("MatMul", a, b, transpose_a=bool(transA), transpose_b=bool(transB))
    made = made if alpha == 1.0 else make("Mul", made, number_like(alpha, made))
    if c is None:
        return made
    return make("AddV2", made, c if beta == 1.0 else make("Mul", c, number_like(beta, c)))


def _einsum(r: Reader, node: Any, *parts: Any, equation: str) -> Any:
    return make("Einsum", list(parts), equation=equation)


def _cumsum(r: Reader, node: Any, x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return make("Cumsum", x, axis, exclusive=bool(exclusive), reverse=bool(reverse))


def _reduced(op: str, before: str | None = None, after: str | None = None) -> Rule:
    def rule(
        r: Reader, node: Any, x: Any, given: Any = None, axes: Any = None, keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Any:  # fmt: skip
        x = x if before is None else make(before, x)
        where = axes if given is None else given
        if where is not None and not isinstance(where, list | tuple) and not is_known(where):
            made = make(op, x, where, keep_dims=bool(keepdims))
        else:
            found = axes_of(r, where)
            if not found and noop_with_empty_axes:
                return x
            found = list(range(rank_of(x))) if not found else found
            made = make(op, x, constant(np.array(found, np.int32)), keep_dims=bool(keepdims))
        return made if after is None else make(after, made)

    return rule


def _arg(op: str) -> Rule:
    def rule(
        r: Reader, node: Any, x: Any, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Any:
        if select_last_index:
            raise Unportable("it gives the last of equal ones")
        made = make(op, x, constant(axis), output_type=dtypes.int64)
        return make("ExpandDims", made, constant(axis)) if keepdims else made

    return rule


def _along(scale: Any, x: Any, axis: int) -> Any:
    """A scale for each slice along an axis, in a form that broadcasts."""
    if rank_of(scale) == 0:
        return scale
    rank = rank_of(x)
    return make("Reshape", scale, int_vector(*(-1 if i == axis % rank else 1 for i in range(rank))))


def _dequantize(
    r: Reader, node: Any, x: Any, scale: Any, zero: Any = None, axis: int = 1, **attrs: Any
) -> Any:
    made = make("Cast", x, DstT=scale.dtype.base_dtype)
    if zero is not None:
        low = make("Cast", _along(zero, x, axis), DstT=scale.dtype.base_dtype)
        made = make("Sub", made, low)
    return make("Mul", made, _along(scale, x, axis))


def _quantize(
    r: Reader, node: Any, x: Any, scale: Any, zero: Any = None, axis: int = 1, **attrs: Any
) -> Any:
    kind = dtypes.uint8 if zero is None else zero.dtype.base_dtype
    made = make("Round", make("RealDiv", x, _along(scale, x, axis)))
    if zero is not None:
        made = make("AddV2", made, make("Cast", _along(zero, x, axis), DstT=x.dtype.base_dtype))
    low, high = np.iinfo(kind.as_numpy_dtype).min, np.iinfo(kind.as_numpy_dtype).max
    made = make("Minimum", make("Maximum", made, number_like(low, x)), number_like(high, x))
    return make("Cast", made, DstT=kind)


RULES: dict[str, Rule] = {
    **{name: _unary(op) for name, op in _UNARY.items()},
    **{name: _binary(op) for name, op in _BINARY.items()},
    **{name: _reduced(op) for name, op in _SUMS.items()},
    "ReduceL1": _reduced("Sum", "Abs"),
    "ReduceL2": _reduced("Sum", "Square", "Sqrt"),
    "ReduceSumSquare": _reduced("Sum", "Square"),
    "ReduceLogSum": _reduced("Sum", None, "Log"),
    "ReduceLogSumExp": _reduced("Sum", "Exp", "Log"),
    "Max": _folded("Maximum"),
    "Min": _folded("Minimum"),
    "Sum": _folded("AddV2"),
    "Mean": _mean_of,
    "Div": _div,
    "Mod": _mod,
    "Cast": _cast,
    "Clip": _clip,
    "LeakyRelu": _leaky,
    "PRelu": _prelu,
    "Elu": _elu,
    "Selu": _selu,
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Softmax": _softmax("Softmax"),
    "LogSoftmax": _softmax("LogSoftmax"),
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Einsum": _einsum,
    "ArgMax": _arg("ArgMax"),
    "ArgMin": _arg("ArgMin"),
    "CumSum": _cumsum,
    "DequantizeLinear": _dequantize,
    "QuantizeLinear": _quantize,
}
