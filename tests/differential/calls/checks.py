"""Assertions, and questions about tensors."""

from __future__ import annotations

from tests.differential.args import D, L, M, O, P, R, S, X, Z, call, each

ROWS = [[1, 2, 3], [4, 0, -1]]
MORE = [[2, 3, 4], [5, 1, 0]]
PAIR = (X(ROWS, "int32"), X(ROWS, "int32"))
ABOUT = (M(L(R(2))), M(O(1, 3)), O(None, "message"))

CALLS = [
    call("assert_near", X(ROWS), X(ROWS), rtol=M(O(0.1, 0.0)), message=O(None, "message")),
    *each("assert_equal assert_less_equal assert_greater_equal", *PAIR, *ABOUT),
    *each("assert_none_equal assert_less", X(ROWS, "int32"), X(MORE, "int32"), *ABOUT),
    call("assert_greater", X(MORE, "int32"), X(ROWS, "int32"), *ABOUT),
    *each("assert_positive assert_non_negative", P(2, 3), message=O(None, "message")),
    *each(
        "assert_negative assert_non_positive",
        X([[-1.0, -0.5], [-3.0, -2.0]]),
        message=O(None, "message"),
    ),
    *each("assert_rank assert_rank_at_least", R(2, 3), S(2), message=O(None, "message")),
    call("assert_rank_in", R(2, 3), O([1, 2], [0], (2,), [], ["a"], [1.5])),
    call("assert_integer", Z(2, 3)),
    call("assert_scalar", R()),
    call("assert_type", R(2, 3), D("float32", "int32", "string")),
    call("assert_same_float_dtype", L(R(2), R(3)), M(D("float32", "float64", "int32"))),
    call("assert_proper_iterable", O([1], (), "a", 1, {})),
    call("debugging.assert_all_finite", R(2, 3), O("message")),
    call("Assert", O(True, False), L(R(2)), O(None, 1)),
    call("is_numeric_tensor", R(2, 3)),
    call("is_tensor", R(2, 3)),
    call("as_dtype", O("float32", 1, "bool", "x", None, 1000, int, float, "int32_ref")),
    call("TensorShape", O([2, 3], None, [None, 2], [], 3, [-1], ["a"], [1.5], "ab")),
    call("dimension_value", O(3, None)),
    call("Dimension", O(3, None, -1, "a", 2.5, 2.0)),
    call("Print", R(2, 3), L(R(2)), O(None, "a"), O(None, 0)),
    call("group", R(2, 3), R(2)),
    call("tuple", L(R(2, 3), R(2))),
]
