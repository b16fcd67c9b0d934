"""Rows for copies, for constants in a file, and for the example op."""

from pathlib import Path

from tests.ops.opcase import ALL, OpCase, const, real, strings

# The bytes of this file are as good as any.
_THIS = str(Path(__file__).resolve())


def _mapped(dtype, shape, **more):
    attrs = {"dtype": dtype, "shape": shape, "memory_region_name": _THIS}
    return OpCase("ImmutableConst", [], attrs, **more)


CASES = [
    *(OpCase(op, [real(3, 4)], {"tensor_name": "x:0"}, ALL) for op in ("Copy", "CopyHost")),
    *(OpCase(op, [strings(["a", "b"])]) for op in ("Copy", "CopyHost")),
    _mapped("float32", [3, 4]),
    _mapped("uint8", [100]),
    _mapped("int64", []),
    _mapped("float64", [0, 2]),
    OpCase(
        "ImmutableConst", [],
        {"dtype": "float32", "shape": [2], "memory_region_name": _THIS + ".absent"}, raises=True,
    ),
    OpCase("Fact", []),
    OpCase("NonDeterministicInts", [const([3, 2])], {"dtype": "int64"},
           reason="the system draws; tests/ops/test_entropy.py", type_attr="dtype"),
    OpCase("NonDeterministicInts", [const([4], "int64")], {"dtype": "T"}, ("int32", "int64"),
           reason="the system draws; tests/ops/test_entropy.py", type_attr="dtype"),
]  # fmt: skip
