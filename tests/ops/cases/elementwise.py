"""Element-wise functions of one tensor, and the gradient ops of some of them."""

from tests.ops.opcase import COMPLEX, FLOATS, INTS, SIGNED_INTS, OpCase, bools, feed, real

_BOTH = FLOATS + COMPLEX
_NUMBERS = ("float32", "float64", "half", "int32", "int64", *COMPLEX)
_ALL_INTS = (*INTS, "uint32", "uint64")
_HALVES = feed([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4, -3.7])
_ODD = feed([float("nan"), float("inf"), -float("inf"), 0.0, 1.0])

# Op type, range on which it is smooth, dtypes.
_FUNCTIONS = (
    ("Neg", -2, 2, _NUMBERS), ("Exp", -2, 2, _BOTH), ("Expm1", -1, 1, _BOTH),
    ("Log", 0.2, 4, _BOTH), ("Log1p", -0.5, 3, _BOTH), ("Sqrt", 0.2, 4, _BOTH),
    ("Rsqrt", 0.2, 4, _BOTH), ("Square", -2, 2, _NUMBERS), ("Reciprocal", 0.5, 2, _BOTH),
    ("Inv", 0.5, 2, _BOTH), ("Sin", -2, 2, _BOTH), ("Cos", -2, 2, _BOTH), ("Tan", -1, 1, _BOTH),
    ("Asin", -0.8, 0.8, _BOTH), ("Acos", -0.8, 0.8, _BOTH), ("Atan", -2, 2, _BOTH),
    ("Sinh", -2, 2, _BOTH), ("Cosh", -2, 2, _BOTH), ("Tanh", -2, 2, _BOTH),
    ("Asinh", -2, 2, _BOTH), ("Acosh", 1.2, 4, _BOTH), ("Atanh", -0.8, 0.8, _BOTH),
    ("Sigmoid", -3, 3, _BOTH), ("Erf", -2, 2, FLOATS), ("Erfc", -2, 2, FLOATS),
    ("Lgamma", 0.5, 4, FLOATS), ("Digamma", 0.5, 4, FLOATS),
)  # fmt: skip

CASES = [
    *(OpCase(op, [real(3, 4, lo=lo, hi=hi)], {}, dtypes) for op, lo, hi, dtypes in _FUNCTIONS),
    *(OpCase(op, [real(lo=max(lo, 0.3), hi=hi)], {}) for op, lo, hi, _ in _FUNCTIONS),
    OpCase("Square", [real(0, 3)]),
    OpCase("Abs", [feed([-2.0, -0.5, 0.5, 3.0])], {}, (*FLOATS, *SIGNED_INTS)),
    OpCase("Sign", [feed([-2.0, 0.0, 3.0])], {}, _NUMBERS, grad=False,
           grad_reason="not smooth at 0, which this row is about"),
    OpCase("Sign", [real(5, lo=1, hi=2)]),
    *(OpCase(op, [_HALVES], {}, FLOATS) for op in ("Floor", "Ceil", "Rint")),
    OpCase("Round", [_HALVES], {}, FLOATS),
    OpCase("Round", [_HALVES], {}, ("int32", "int64"), oracle="tf1"),
    *(OpCase(op, [_ODD], {}, FLOATS) for op in ("IsNan", "IsInf", "IsFinite")),
    OpCase("LogicalNot", [bools(3, 2)], dtypes=("bool",)),
    OpCase("Invert", [feed([0, 1, 5, 100])], {}, _ALL_INTS),
    OpCase("PopulationCount", [feed([0, 1, 5, 100, 127])], {}, _ALL_INTS),
    OpCase("OnesLike", [real(2, 3)], {}, (*_NUMBERS, "bool", "uint8", "int8")),
    OpCase("ZerosLike", [real(2, 3)], {}, (*_NUMBERS, "bool", "uint8", "string")),
    OpCase("TanhGrad", [real(3, 4, lo=-0.9, hi=0.9), real(3, 4)], {}, _BOTH),
    OpCase("SigmoidGrad", [real(3, 4, lo=0.1, hi=0.9), real(3, 4)], {}, _BOTH),
    OpCase("SqrtGrad", [real(3, 4, lo=0.5, hi=2), real(3, 4)], {}, _BOTH),
    OpCase("RsqrtGrad", [real(3, 4, lo=0.5, hi=2), real(3, 4)], {}, _BOTH),
    OpCase("ReciprocalGrad", [real(3, 4, lo=0.5, hi=2), real(3, 4)], {}, _BOTH),
    OpCase("InvGrad", [real(3, 4, lo=0.5, hi=2), real(3, 4)], {}, _BOTH),
    OpCase("TanhGrad", [real(3), real(4)], raises=True),
]  # fmt: skip
