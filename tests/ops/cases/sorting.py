"""Rows for TopK and its kin."""

from tests.ops.opcase import REALS, OpCase, const, distinct, feed, ints, real

CASES = [
    OpCase("TopK", [distinct(3, 5)], {"k": 2}, REALS, oracle="tf1"),
    OpCase("TopKV2", [distinct(3, 5), const(3)], {}, REALS),
    OpCase("TopKV2", [distinct(2, 2, 4), feed(1, "int32")]),
    OpCase("TopKV2", [distinct(2, 300), const(4)]),
    OpCase("TopKV2", [ints(2, 300, hi=9, dtype="float32"), const(20)], grad=False,
           grad_reason="the input has ties"),
    OpCase("TopKV2", [feed([1, 3, 3, 2, 3]), const(4)], grad=False,
           grad_reason="the input has ties"),
    OpCase("TopKV2", [distinct(3, 2), const(3)], raises=True),
    OpCase("NthElement", [distinct(3, 5), const(1)], {}, REALS),
    OpCase("NthElement", [distinct(2, 3, 4), feed(0, "int32")], {"reverse": True}),
    OpCase("InTopK", [real(4, 5, dtype="float32"), feed([0, 3, 4, 5], "T")], {"k": 2},
           ("int32", "int64")),
    OpCase("InTopKV2", [real(4, 5, dtype="float32"), feed([0, 3, 4, -1], "T"), const(3, "T")],
           {}, ("int32", "int64")),
]  # fmt: skip
