"""Rows for joining tensors and taking them apart."""

from tests.ops.opcase import ALL, OpCase, const, feed, real, strings

_A, _B = strings([["a", "b"]]), strings([["c", "d"]])

CASES = [
    OpCase("Concat", [const(1), [real(2, 3), real(2, 1)]], {}, ALL),
    OpCase("Concat", [feed(0, "int32"), [real(2, 3), real(1, 3), real(0, 3)]]),
    OpCase("ConcatV2", [[real(2, 3), real(2, 1), real(2, 2)], const(-1)], {}, ALL),
    OpCase("ConcatV2", [[real(2, 3, 2), real(1, 3, 2)], feed(0, "int64")]),
    OpCase("ConcatV2", [[_A, _B], const(0)]),
    OpCase("ConcatV2", [[real(1, 2) for _ in range(18)], const(0)]),
    OpCase("ConcatV2", [[real(2, 3), real(3, 3)], const(1)], raises=True),
    OpCase("ConcatOffset", [const(1), [const([2, 3]), const([2, 1]), const([2, 4])]]),
    OpCase("ConcatOffset", [feed(0, "int32"), [feed([2, 3], "int32"), feed([5, 3], "int32")]]),
    OpCase("Pack", [[real(2, 3), real(2, 3)]], {}, ALL),
    OpCase("Pack", [[real(2, 3), real(2, 3), real(2, 3)]], {"axis": -1}),
    OpCase("Pack", [[real()]]),
    OpCase("Pack", [[_A, _B]], {"axis": 1}),
    OpCase("Pack", [[real(2, 3), real(3, 2)]], raises=True),
    OpCase("ParallelConcat", [[const(real(1, 3)), const(real(1, 3))]], {"shape": [2, 3]}, ALL),
    OpCase("Unpack", [real(2, 3)], {"num": 2}, ALL),
    OpCase("Unpack", [real(2, 3, 2)], {"num": 3, "axis": -2}),
    OpCase("Unpack", [_A], {"num": 2, "axis": 1}),
    OpCase("Unpack", [real(2, 3)], {"num": 3}, raises=True),
    OpCase("Split", [const(1), real(2, 6)], {"num_split": 3}, ALL),
    OpCase("Split", [feed(-2, "int32"), real(4, 3)], {"num_split": 2}),
    OpCase("Split", [const(1), _A], {"num_split": 2}),
    OpCase("Split", [const(0), real(3, 2)], {"num_split": 2}, raises=True),
    OpCase("SplitV", [real(2, 6), const([1, -1, 2]), const(1)], {"num_split": 3}, ALL),
    OpCase("SplitV", [real(5, 2), feed([2, 0, 3], "int64"), feed(0, "int32")], {"num_split": 3}),
    OpCase("SplitV", [_A, const([1, 1]), const(1)], {"num_split": 2}),
    OpCase("SplitV", [real(5, 2), const([2, 2]), const(0)], {"num_split": 2}, raises=True),
]
