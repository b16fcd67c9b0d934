"""ONNX rules: elements one by one, reductions, products of matrices."""

from __future__ import annotations

from functools import reduce

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.storage.interchange.onnx_writer import Rule, Writer

# Op types whose form in ONNX is one node of the same inputs.
_UNARY = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh",
    "Atan": "Atan", "Atanh": "Atanh", "Ceil": "Ceil", "Cos": "Cos", "Cosh": "Cosh", "Erf": "Erf",
    "Exp": "Exp", "Floor": "Floor", "Inv": "Reciprocal", "Invert": "BitwiseNot", "IsInf": "IsInf",
    "IsNan": "IsNaN", "Log": "Log", "LogicalNot": "Not", "Neg": "Neg", "Reciprocal": "Reciprocal",
    "Relu": "Relu", "Sigmoid": "Sigmoid", "Sign": "Sign",
    "Sin": "Sin", "Sinh": "Sinh", "Softplus": "Softplus", "Softsign": "Softsign", "Sqrt": "Sqrt",
    "Tan": "Tan", "Tanh": "Tanh", "Selu": "Selu", "Elu": "Elu",
}  # fmt: skip
_BINARY = {
    "Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "Div": "Div", "RealDiv": "Div",
    "Pow": "Pow", "Maximum": "Max", "Minimum": "Min", "Equal": "Equal",
    "Less": "Less", "LessEqual": "LessOrEqual", "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual", "LogicalAnd": "And", "LogicalOr": "Or",
    "BitwiseAnd": "BitwiseAnd", "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
}  # fmt: skip
_HANDED_ON = (
    "Identity", "StopGradient", "PreventGradient", "CheckNumerics", "EnsureShape", "DeepCopy",
    "_Taken", "PlaceholderWithDefault", "Print", "Snapshot", "DebugGradientIdentity", "Copy",
)  # fmt: skip
_NOTHING = ("NoOp", "Assert", "ControlTrigger", "PrintV2", "_Dead")


def _unary(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        return w.each(op, lambda x: w.node(kind, x))

    return rule


def _composed(*kinds: str) -> Rule:
    """One node after another."""

    def rule(w: Writer, op: Operation) -> str:
        return w.each(op, lambda x: reduce(lambda made, kind: w.node(kind, made), kinds, x))

    return rule


def _binary(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        return w.pair(op, lambda x, y: w.node(kind, x, y))

    return rule


def _relu6(w: Writer, op: Operation) -> str:
    dtype = op.inputs[0].dtype
    return w.each(op, lambda x: w.node("Clip", x, w.number(0, dtype), w.number(6, dtype)))


def _leaky_relu(w: Writer, op: Operation) -> str:
    return w.each(op, lambda x: w.node("LeakyRelu", x, alpha=float(op.attrs["alpha"])))


def _square(w: Writer, op: Operation) -> str:
    return w.each(op, lambda x: w.node("Mul", x, x))


def _log1p(w: Writer, op: Operation) -> str:
    one = w.number(1, op.inputs[0].dtype)
    return w.node("Log", w.node("Add", w[op.inputs[0]], one))


def _expm1(w: Writer, op: Operation) -> str:
    one = w.number(1, op.inputs[0].dtype)
    return w.node("Sub", w.node("Exp", w[op.inputs[0]]), one)


def _erfc(w: Writer, op: Operation) -> str:
    return w.node("Sub", w.number(1, op.inputs[0].dtype), w.node("Erf", w[op.inputs[0]]))


def _is_finite(w: Writer, op: Operation) -> str:
    x = w[op.inputs[0]]
    return w.node("Not", w.node("Or", w.node("IsInf", x), w.node("IsNaN", x)))


def _clip(w: Writer, op: Operation) -> str:
    x, low, high = (w[t] for t in op.inputs)
    return w.node("Max", w.node("Min", x, high), low)


def _not_equal(w: Writer, op: Operation) -> str:
    return w.node("Not", w.node("Equal", w[op.inputs[0]], w[op.inputs[1]]))


def _squared_difference(w: Writer, op: Operation) -> str:
    difference = w.node("Sub", w[op.inputs[0]], w[op.inputs[1]])
    return w.node("Mul", difference, difference)


def _floor_div(w: Writer, op: Operation) -> str:
    x, y = (w[t] for t in op.inputs)
    dtype = op.inputs[0].dtype.base_dtype
    quotient = w.node("Div", x, y)
    if not dtype.is_integer:
        return w.node("Floor", quotient)
    # ONNX rounds to zero: one less where there is a rest of the other sign.
    rest = w.node("Sub", x, w.node("Mul", quotient, y))
    zero = w.number(0, dtype)
    differ = w.node("Xor", w.node("Less", rest, zero), w.node("Less", y, zero))
    lower = w.node("And", differ, w.node("Not", w.node("Equal", rest, zero)))
    return w.node("Sub", quotient, w.cast(lower, dtype))


def _floor_mod(w: Writer, op: Operation) -> str:
    x, y = (w[t] for t in op.inputs)
    if op.inputs[0].dtype.is_integer:
        return w.node("Mod", x, y)
    return w.node("Sub", x, w.node("Mul", w.node("Floor", w.node("Div", x, y)), y))


def _truncate_mod(w: Writer, op: Operation) -> str:
    return w.node("Mod", w[op.inputs[0]], w[op.inputs[1]], fmod=1)


def _zero_where_zero(kind: str, of: int) -> Rule:
    """``kind`` of the inputs; zero where input ``of`` is zero, whatever the other one is."""

    def rule(w: Writer, op: Operation) -> str:
        x, y = (w[t] for t in op.inputs)
        zero = w.number(0, op.inputs[0].dtype)
        second = w.node("Log", y) if kind == "Log" else y
        made = w.node("Mul" if kind == "Log" else kind, x, second)
        return w.node("Where", w.node("Equal", (x, y)[of], zero), zero, made)

    return rule


def _add_n(w: Writer, op: Operation) -> str:
    names = [w[t] for t in op.inputs]
    twins = [w.twin(name) for name in names]
    if len(names) > 1 and None not in twins:
        return w.last(reduce(lambda a, b: w.node("Add", a, b), map(str, twins)), _rank(op))
    return reduce(lambda a, b: w.node("Add", a, b), names)


def _rank(op: Operation) -> int:
    sizes = op.outputs[0].sizes
    if sizes is None:
        raise ValueError("its rank is not known")
    return len(sizes)


# ---- reductions ----------------------------------------------------------------------------------


def _reduction(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        return w.reduce(kind, op, w[op.inputs[0]])

    return rule


def _round(w: Writer, op: Operation) -> str:
    if op.inputs[0].dtype.is_integer:
        return w[op.inputs[0]]
    return w.each(op, lambda x: w.node("Round", x))


def _truncate_div(w: Writer, op: Operation) -> str:
    dtype = op.inputs[0].dtype
    quotient = w.node("Div", *[w[t] for t in op.inputs])
    if dtype.is_integer:
        return quotient
    below = w.node("Less", quotient, w.number(0, dtype))
    return w.node("Where", below, w.node("Ceil", quotient), w.node("Floor", quotient))


def _truth(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        counted = w.cast(w[op.inputs[0]], dtypes.int32)
        return w.cast(w.reduce(kind, op, counted), dtypes.bool)

    return rule


def _arg(kind: str) -> Rule:
    def rule(w: Writer, op: Operation) -> str:
        axis = w.value(op.inputs[1])
        if axis is None:
            raise ValueError("its axis is no constant")
        made = w.node(kind, w[op.inputs[0]], axis=int(axis), keepdims=0)
        return w.short(made, op.outputs[0].dtype.base_dtype)

    return rule


def _l2_loss(w: Writer, op: Operation) -> str:
    x = w[op.inputs[0]]
    total = w.node("ReduceSum", w.node("Mul", x, x), keepdims=0)
    return w.node("Mul", total, w.number(0.5, op.inputs[0].dtype))


def _cumsum(w: Writer, op: Operation) -> str:
    attrs = {key: int(op.attrs[key]) for key in ("exclusive", "reverse")}
    return w.node("CumSum", w[op.inputs[0]], w.long(op.inputs[1]), **attrs)


# ---- products ------------------------------------------------------------------------------------


def _matmul(w: Writer, op: Operation) -> str:
    a, b = op.inputs
    left = w[a]
    if op.attrs["transpose_a"]:
        left = w.node("Transpose", left, perm=[1, 0])
    right = w[b]
    value = w.value(b)
    if op.attrs["transpose_b"]:
        if value is not None:
            right = w.const(np.ascontiguousarray(value.T), b.op.name)
        else:
            right = w.node("Transpose", right, perm=[1, 0])
    return w.node("MatMul", left, right)


def _batch_matmul(w: Writer, op: Operation) -> str:
    names = []
    for tensor, key in zip(op.inputs, ("adj_x", "adj_y"), strict=True):
        name = w[tensor]
        if op.attrs[key]:
            if tensor.sizes is None:
                raise ValueError("the rank of an operand is not known")
            rank = len(tensor.sizes)
            name = w.node("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])
        names.append(name)
    return w.node("MatMul", *names)


def _einsum(w: Writer, op: Operation) -> str:
    equation = op.attrs["equation"]
    text = equation.decode() if isinstance(equation, bytes) else equation
    result = text.partition("->")[2].replace(".", "").strip()
    if len(set(result)) < len(result):
        raise ValueError("a label is in the result twice")
    return w.node("Einsum", *[w[t] for t in op.inputs], equation=text)


# ---- what hands on -------------------------------------------------------------------------------


def _handed_on(w: Writer, op: Operation) -> str | None:
    tensor = op.inputs[0]
    if tensor in w.arrays:
        w.arrays[op.outputs[0]] = w.arrays[tensor]
        return None
    return w[tensor]


def _all_handed_on(w: Writer, op: Operation) -> list[str]:
    return [w[t] for t in op.inputs]


def _nothing(w: Writer, op: Operation) -> None:
    return None


def _cast(w: Writer, op: Operation) -> str:
    source, target = op.inputs[0].dtype.base_dtype, op.outputs[0].dtype.base_dtype
    if target.is_complex or source.is_complex:
        raise ValueError("ONNX has few operators of complex numbers")
    return w[op.inputs[0]] if source is target else w.cast(w[op.inputs[0]], target)


RULES: dict[str, Rule] = {
    **{name: _unary(kind) for name, kind in _UNARY.items()},
    **{name: _binary(kind) for name, kind in _BINARY.items()},
    **dict.fromkeys(_HANDED_ON, _handed_on),
    **dict.fromkeys(_NOTHING, _nothing),
    "IdentityN": _all_handed_on,
    "Cast": _cast,
    "Rint": _round,
    "Round": _round,
    "TruncateDiv": _truncate_div,
    "Rsqrt": _composed("Sqrt", "Reciprocal"),
    "Relu6": _relu6,
    "LeakyRelu": _leaky_relu,
    "Square": _square,
    "Log1p": _log1p,
    "Expm1": _expm1,
    "Erfc": _erfc,
    "IsFinite": _is_finite,
    "ClipByValue": _clip,
    "NotEqual": _not_equal,
    "SquaredDifference": _squared_difference,
    "FloorDiv": _floor_div,
    "FloorMod": _floor_mod,
    "Mod": _truncate_mod,
    "TruncateMod": _truncate_mod,
    "DivNoNan": _zero_where_zero("Div", 1),
    "MulNoNan": _zero_where_zero("Mul", 1),
    "Xdivy": _zero_where_zero("Div", 0),
    "Xlogy": _zero_where_zero("Log", 0),
    "AddN": _add_n,
    "AccumulateNV2": _add_n,
    "Sum": _reduction("ReduceSum"),
    "Mean": _reduction("ReduceMean"),
    "Prod": _reduction("ReduceProd"),
    "Max": _reduction("ReduceMax"),
    "Min": _reduction("ReduceMin"),
    "EuclideanNorm": _reduction("ReduceL2"),
    "All": _truth("ReduceMin"),
    "Any": _truth("ReduceSum"),
    "ArgMax": _arg("ArgMax"),
    "ArgMin": _arg("ArgMin"),
    "L2Loss": _l2_loss,
    "Cumsum": _cumsum,
    "MatMul": _matmul,
    "SparseMatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "BatchMatMulV2": _batch_matmul,
    "Einsum": _einsum,
}
