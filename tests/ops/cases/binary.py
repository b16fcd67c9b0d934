"""Arithmetic of two tensors, sums of many, bit patterns, special functions."""

from tests.ops.opcase import (
    COMPLEX,
    FLOATS,
    INTS,
    NUMERIC,
    SIGNED_INTS,
    OpCase,
    bools,
    const,
    feed,
    ints,
    real,
    strings,
)  # fmt: skip

_FLOAT_COMPLEX = ("float32", "float64", "half", *COMPLEX)
_WITH_UINT8 = (*FLOATS, *SIGNED_INTS, "uint8", *COMPLEX)
_NO_NAN = ("float32", "float64", "half")
_UNCONJUGATED = "TensorFlow 1.15 does not conjugate in the gradient of complex numbers here"
_MOD = (*FLOATS, "int32", "int64")
_EXTREME = (*FLOATS, "int32", "int64")
_ALL_INTS = (*INTS, "uint32", "uint64")
_X = feed([-7.0, -6.5, 7.0, 6.5, -1.0, 5.0])
_Y = feed([2.0, -2.0, -3.0, 4.0, 4.0, 5.0])
_APART = [feed([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]), feed([0.0, 1.0, 2.0])]
_POSITIVE = [feed([9.0, 250.0, 17.0]), feed([2.0, 3.0, 5.0])]

CASES = [
    OpCase("Add", [real(2, 3), real(2, 3)]),
    OpCase("Add", [strings([["a", "b"]]), strings(["c", "d"])], dtypes=("string",)),
    OpCase("AddV2", [real(2, 3), real(3)], {}, _WITH_UINT8),
    OpCase("AddV2", [real(2, 1), real(1, 3)], grad2=True),
    OpCase("AddV2", [feed([200, 100]), feed([100, 27])], {}, ("uint8",)),
    OpCase("Sub", [real(2, 3), real(3, lo=0, hi=1)], {}, NUMERIC),
    OpCase("Sub", [real(), real(2, 3)]),
    OpCase("Sub", [feed([1, 2]), feed([2, 1])], {}, ("uint8", "uint16")),
    OpCase("Mul", [real(2, 1, 3), real(4, 1)], {}, _FLOAT_COMPLEX, grad2=True),
    OpCase("Mul", [real(2, 3), real(2, 3)], grad2=True),
    OpCase("Mul", [feed([300, 2]), feed([300, 3])], {}, ("uint16", "int16")),
    OpCase("Div", [real(2, 3), real(3, lo=0.5, hi=2)], {}, (*FLOATS, *COMPLEX)),
    OpCase("Div", [_X, _Y], {}, SIGNED_INTS),
    OpCase("Div", _POSITIVE, {}, ("uint8", "uint16")),
    OpCase("Div", [feed([1, 2]), feed([0, 1])], {}, ("int32",), raises=True),
    OpCase("RealDiv", [real(2, 3), real(3, lo=0.5, hi=2)], {}, (*FLOATS, *COMPLEX), grad2=True),
    OpCase("RealDiv", [real(2, 3, lo=1, hi=2), real(lo=1, hi=2)]),
    OpCase("FloorDiv", [_X, _Y], {}, (*FLOATS, *SIGNED_INTS)),
    OpCase("FloorDiv", [feed([1.0, -1.0]), feed([0.1, 0.3])], {}, FLOATS),
    OpCase("FloorDiv", _POSITIVE, {}, ("uint8", "uint16")),
    OpCase("FloorDiv", [feed([1, 2]), feed([0, 1])], {}, ("int32",), raises=True),
    OpCase("TruncateDiv", [_X, _Y], {}, SIGNED_INTS),
    OpCase("FloorMod", [feed([-7.0, -6.5, 7.0, 6.5, -1.5]), feed([2.0, -2.0, -3.0, 4.0, 4.0])], {},
           _MOD),
    OpCase("FloorMod", [feed([1, 2]), feed([0, 1])], {}, ("int32",), raises=True),
    OpCase("Mod", [_X, _Y], {}, _MOD),
    OpCase("TruncateMod", [_X, _Y], {}, _MOD),
    OpCase("Pow", [real(2, 3, lo=0.5, hi=2), real(3)], {}, (*FLOATS, *COMPLEX)),
    OpCase("Pow", [real(2, 3, lo=0.5, hi=2), const(2.0, "T")], {}, FLOATS, grad=(0,)),
    OpCase("Pow", [real(2, 3, lo=0.5, hi=2), const(-0.5, "T")], {}, FLOATS, grad=(0,)),
    OpCase("Pow", [real(2, 3, lo=0.5, hi=2), const(3.0, "T")], {}, FLOATS, grad=(0,)),
    OpCase("Pow", [ints(2, 3, lo=-3, hi=4, dtype="T"), ints(3, lo=0, hi=4, dtype="T")], {},
           ("int32", "int64")),
    OpCase("Pow", [feed([2, 3]), feed([-1, 1])], {}, ("int32",), raises=True),
    OpCase("Maximum", _APART, {}, _EXTREME),
    OpCase("Minimum", _APART, {}, _EXTREME),
    OpCase("SquaredDifference", [real(2, 3), real(3)], {}, (*FLOATS, "int32", "int64")),
    OpCase("SquaredDifference", [real(2, 3), real(2, 3)], {}, COMPLEX, grad=False,
           grad_reason=_UNCONJUGATED),
    OpCase("DivNoNan", [real(2, 3), feed([0.5, 1.0, -2.0])], {}, _FLOAT_COMPLEX),
    OpCase("DivNoNan", [real(3), feed([0.5, 0.0, -2.0])], {}, _FLOAT_COMPLEX, grad=(0,)),
    OpCase("MulNoNan", [real(2, 3), feed([0.5, 1.0, -2.0])], {}, _NO_NAN),
    OpCase("MulNoNan", [real(2, 3), feed([0.5, 1.0, -2.0])], {}, COMPLEX,
           grad=False, grad_reason=_UNCONJUGATED),
    OpCase("MulNoNan", [feed([float("nan"), float("inf"), 2.0]), feed([0.0, 0.0, 3.0])], {},
           ("float32", "float64"), grad=False, grad_reason="about values that are not finite"),
    OpCase("Xdivy", [real(2, 3, lo=0.5, hi=2), real(3, lo=0.5, hi=2)], {}, _NO_NAN),
    OpCase("Xdivy", [real(2, 3, lo=0.5, hi=2), real(3, lo=0.5, hi=2)], {}, COMPLEX,
           grad=False, grad_reason=_UNCONJUGATED),
    OpCase("Xdivy", [feed([0.0, 0.0, 1.0]), feed([0.0, 2.0, 2.0])], {}, _FLOAT_COMPLEX,
           grad=False, grad_reason="not differentiable where x is 0"),
    OpCase("Xlogy", [real(2, 3, lo=0.5, hi=2), real(3, lo=0.5, hi=2)], {}, _NO_NAN),
    OpCase("Xlogy", [real(2, 3, lo=0.5, hi=2), real(3, lo=0.5, hi=2)], {}, COMPLEX,
           grad=False, grad_reason=_UNCONJUGATED),
    OpCase("Xlogy", [feed([0.0, 0.0, 1.0]), feed([0.0, 2.0, 2.0])], {}, _FLOAT_COMPLEX,
           grad=False, grad_reason="not differentiable where x is 0"),
    OpCase("Atan2", [real(2, 3), real(2, 3, lo=0.5, hi=2)], {}, FLOATS),
    OpCase("AddN", [[real(2, 3), real(2, 3), real(2, 3)]], {}, NUMERIC),
    OpCase("AddN", [[real(2, 3)]]),
    OpCase("AddN", [[feed([1, 2]), feed([3, 4])]], {}, ("uint32", "uint64")),
    OpCase("AddN", [[real(2), real(3)]], raises=True),
    OpCase("AccumulateNV2", [[real(2, 3), real(2, 3)]], {"shape": [2, 3]}, NUMERIC),
    OpCase("BroadcastGradientArgs", [feed([5, 1, 3]), feed([4, 1])], {}, ("int32", "int64")),
    OpCase("BroadcastGradientArgs", [feed([2, 3]), feed([2, 3])], {}, ("int32",)),
    OpCase("BroadcastGradientArgs", [const([2, 1]), const([1])], {}, ("int32",)),
    OpCase("LeftShift", [feed([1, 5, 64, 3]), feed([0, 1, 2, 7])], {}, _ALL_INTS),
    OpCase("RightShift", [feed([1, 5, 64, 127]), feed([0, 1, 2, 7])], {}, _ALL_INTS),
    OpCase("RightShift", [feed([-1, -128, 100]), feed([1, 8, -1])], {}, ("int8", "int32")),
    *(OpCase(op, [feed([[1, 5, 64], [7, 0, 99]]), feed([3, 5, 127])], {}, _ALL_INTS)
      for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    *(OpCase(op, [real(2, 3, lo=0.5, hi=3), real(3, lo=0.5, hi=3)], {}, ("float32", "float64"))
      for op in ("Igamma", "Igammac")),
    OpCase("IgammaGradA", [real(2, 3, lo=0.5, hi=3), real(3, lo=0.5, hi=3)], {},
           ("float32", "float64"), rtol=1e-4, atol=1e-6,
           tol_reason="TensorFlow's series stops at single precision"),
    OpCase("Zeta", [real(2, 3, lo=2, hi=4), real(3, lo=1, hi=3)], {}, ("float32", "float64"),
           grad=(1,)),
    OpCase("Polygamma", [feed([0.0, 1.0, 2.0]), real(2, 3, lo=1, hi=3)], {},
           ("float32", "float64"), grad=(1,)),
    OpCase("Betainc", [real(4, lo=0.5, hi=3), real(4, lo=0.5, hi=3), real(4, lo=0.1, hi=0.9)], {},
           ("float32", "float64"), grad=(2,)),
    OpCase("Betainc", [feed(2.0), feed(3.0), real(4, lo=0.1, hi=0.9)], {},
           ("float32", "float64"), grad=(2,)),
    OpCase("LogicalAnd", [bools(3), bools(2, 3)], dtypes=("bool",)),
]  # fmt: skip

CASES += [
    OpCase("BroadcastTo", [real(2, 1), const([3, 2, 4])], {}, (*NUMERIC, "bool", "string")),
    OpCase("BroadcastTo", [real(3), feed([2, 3], "int64")]),
    OpCase("BroadcastTo", [real(3), const([2, 4])], raises=True),
    OpCase("BroadcastArgs", [feed([5, 1, 3]), feed([4, 1])], {}, ("int32", "int64")),
]
