"""Comparison, logic and choice."""

from tests.ops.opcase import ALL, COMPLEX, FLOATS, INTS, REALS, OpCase, bools, feed, real, strings

_ORDERED = (*REALS, "uint32", "uint64")
_A, _B = feed([[1, 5, 3], [2, 2, 9]]), feed([2, 5, 1])

CASES = [
    *(OpCase(op, [_A, _B], {}, _ORDERED)
      for op in ("Less", "LessEqual", "Greater", "GreaterEqual")),
    *(OpCase(op, [_A, _B], {}, (*FLOATS, "uint8", "int8", "int16", "int32", "int64", *COMPLEX))
      for op in ("Equal", "NotEqual")),
    *(OpCase(op, [bools(2, 3), bools(3)], dtypes=("bool",)) for op in ("Equal", "NotEqual")),
    *(OpCase(op, [strings([["a", "b"]]), strings(["a", "c"])], dtypes=("string",))
      for op in ("Equal", "NotEqual")),
    *(OpCase(op, [feed([1, 2]), feed([1, 2, 3])], {"incompatible_shape_error": False})
      for op in ("Equal", "NotEqual")),
    OpCase("Equal", [feed([1, 2]), feed([1, 2, 3])], raises=True),
    OpCase("Less", [feed([float("nan"), 1.0]), feed([1.0, float("nan")])], {}, FLOATS),
    OpCase("ApproximateEqual", [feed([1.0, 2.0, 3.0]), feed([1.0, 2.1, 3.000001])], {},
           ("float32", "float64")),
    OpCase("ApproximateEqual", [feed([1.0, 2.0, 3.0]), feed([1.0, 2.2, 3.7])],
           {"tolerance": 0.5}, ("float32", "float64")),
    OpCase("ApproximateEqual", [feed([1, 2, 3]), feed([1, 3, 6])], {"tolerance": 2.0}, ("int32",),
           oracle="tf1"),
    *(OpCase(op, [bools(2, 3), bools(3)], dtypes=("bool",)) for op in ("LogicalAnd", "LogicalOr")),
    OpCase("Select", [bools(3), real(3, 4), real(3, 4)], {}, ALL),
    OpCase("Select", [feed(True, "bool"), real(3, 4), real(3, 4)]),
    OpCase("Select", [bools(3), real(3), real(3)], {}, (*INTS, "uint32", "uint64", "string")),
    OpCase("Select", [bools(2), real(3, 4), real(3, 4)], raises=True),
    OpCase("SelectV2", [bools(3, 1), real(4), real(3, 4)], {}, ALL),
    OpCase("SelectV2", [bools(3), real(), real(2, 3)]),
    OpCase("SelectV2", [bools(3), real(3), real(4)], raises=True),
]  # fmt: skip
