"""Rows for Transpose, Tile, Reverse, Roll."""

from tests.ops.opcase import ALL, COMPLEX, INDEX, NUMERIC, OpCase, const, feed, real, strings

_STRINGS = strings([["a", "b", "c"], ["d", "e", "f"]])

CASES = [
    OpCase("Transpose", [real(2, 3), const([1, 0])], {}, ALL),
    OpCase("Transpose", [real(2, 3, 4), feed([2, 0, 1], "int64")]),
    OpCase("Transpose", [_STRINGS, const([1, 0])]),
    OpCase("Transpose", [real(2, 3), const([0, 0])], raises=True),
    OpCase("ConjugateTranspose", [real(2, 3, 2), const([0, 2, 1])], {}, (*COMPLEX, "float32")),
    OpCase("InvertPermutation", [feed([2, 0, 1], "T")], {}, INDEX),
    OpCase("InvertPermutation", [feed([2, 0, 0], "int32")], raises=True),
    OpCase("Tile", [real(2, 3), const([2, 1])], {}, ALL),
    OpCase("Tile", [real(2, 3), feed([0, 2], "int64")]),
    OpCase("Tile", [_STRINGS, const([1, 2])]),
    OpCase("TileGrad", [real(4, 3), const([2, 1])], {}, NUMERIC, grad=False,
           grad_reason="TensorFlow has none",
           reason="no TensorFlow runs it: its kernels ask for an attr that the op lacks;"
                  " compared with NumPy instead",
           ref=lambda x, multiples: x.reshape(2, 2, 1, 3).sum((0, 2)).astype(x.dtype)),
    OpCase("Reverse", [real(2, 3), const([True, False], "bool")], {}, ALL),
    OpCase("Reverse", [_STRINGS, const([True, True], "bool")]),
    OpCase("ReverseV2", [real(2, 3), const([1])], {}, ALL),
    OpCase("ReverseV2", [real(2, 3, 2), feed([-1, 0], "int64")]),
    OpCase("ReverseV2", [_STRINGS, const([0])]),
    OpCase("ReverseV2", [real(2, 3), const([2])], raises=True),
    OpCase("ReverseSequence", [real(3, 4), feed([2, 0, 4], "int64")], {"seq_dim": 1}, ALL),
    OpCase("ReverseSequence", [real(4, 3, 2), feed([1, 3, 4], "int32")],
           {"seq_dim": 0, "batch_dim": 1}),
    OpCase("ReverseSequence", [real(3, 4), feed([2, 0, 5], "int64")], {"seq_dim": 1},
           raises=True),
    OpCase("Roll", [real(3, 4), const(1), const(1)], {}, ALL),
    OpCase("Roll", [real(3, 4), feed([1, -2], "int64"), feed([0, 1], "int32")]),
]  # fmt: skip
