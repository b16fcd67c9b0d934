"""Rows for pass-throughs, printing, assertions and checks."""

from tests.ops.opcase import (
    ALL,
    COMPLEX,
    FLOATS,
    FLOATS_NO_BF16,
    OpCase,
    const,
    feed,
    real,
    strings,
    var,
)

CASES = [
    OpCase("NoOp", []),
    OpCase("Identity", [real(3, 4)], {}, ALL, ref=lambda x: x),
    OpCase("Identity", [real()], {}, FLOATS + COMPLEX, grad2=True),
    OpCase("Identity", [real(0, 2)]),
    OpCase("Identity", [strings(["a", "b"])], grad=False, grad_reason="strings"),
    OpCase("Identity", [const([2, 3])]),
    OpCase("IdentityN", [[real(3), real(2, 2)]], {}, ALL),
    OpCase("StopGradient", [real(3, 4)], {}, ALL),
    OpCase(
        "PreventGradient", [real(3)], {"message": "not here"}, FLOATS, grad=False,
        grad_reason="refusing gradients is what it is for",
    ),
    OpCase("RefIdentity", [var(real(3))], grad=False, grad_reason="its output is a reference"),
    OpCase("Print", [real(2, 3), [real(4), real(2)]], {"message": "m"}, FLOATS_NO_BF16),
    OpCase("PrintV2", [strings("a line")]),
    OpCase("StringFormat", [[real(3, dtype="float32")]], {"template": "x %s", "summarize": 1}),
    OpCase("Assert", [feed(True, "bool"), [real(2, dtype="float32")]]),
    OpCase("Assert", [feed(False, "bool"), [real(2, dtype="float32")]], raises=True),
    OpCase("CheckNumerics", [real(3, 4)], {"message": "m"}, FLOATS),
    OpCase("CheckNumerics", [feed([1.0, float("nan")])], {"message": "m"}, raises=True),
    OpCase("Timestamp", [], reason="it is the time"),
]  # fmt: skip
