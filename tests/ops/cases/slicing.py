"""Rows for Slice and StridedSlice."""

from tests.ops.opcase import ALL, OpCase, const, feed, real, strings

_STRINGS = strings([["a", "b", "c"], ["d", "e", "f"]])


def _vectors(begin, end, strides, make=const):
    return [make(begin, "int32"), make(end, "int32"), make(strides, "int32")]


CASES = [
    OpCase("Slice", [real(4, 5), const([1, 0]), const([2, -1])], {}, ALL),
    OpCase("Slice", [real(4, 5), feed([0, 2], "int64"), feed([-1, 3], "int64")]),
    OpCase("Slice", [real(4, 5), const([4, 0]), const([0, 5])]),
    OpCase("Slice", [_STRINGS, const([0, 1]), const([2, 2])]),
    OpCase("Slice", [real(4, 5), const([2, 0]), const([3, 5])], raises=True),
    OpCase("StridedSlice", [real(4, 6), *_vectors([1, 0], [3, 5], [1, 2])], {}, ALL),
    OpCase("StridedSlice", [real(4, 6), *_vectors([3, -1], [0, 1], [-1, -2], feed)]),
    OpCase("StridedSlice", [real(4, 6), *_vectors([0, 1], [0, 2], [1, 1])],
           {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
    OpCase("StridedSlice", [real(4, 6), *_vectors([-1], [0], [1], feed)],
           {"shrink_axis_mask": 1}),
    OpCase("StridedSlice", [real(4, 6, 2), *_vectors([0, 0, 1], [0, 0, 2], [1, 1, 1])],
           {"new_axis_mask": 1, "ellipsis_mask": 2}),
    OpCase("StridedSlice", [real(4, 6), *_vectors([3], [0], [-2])],
           {"begin_mask": 1, "end_mask": 1}),
    OpCase("StridedSlice", [real(4, 6), *_vectors([3, 9], [1, 20], [1, 1])]),
    OpCase("StridedSlice", [_STRINGS, *_vectors([0, 2], [2, 0], [1, -1])]),
    OpCase("StridedSlice", [_STRINGS, *_vectors([1, 2], [2, 3], [1, 1])],
           {"shrink_axis_mask": 3}),
    OpCase("StridedSlice", [real(4, 6), *_vectors([4], [5], [1])],
           {"shrink_axis_mask": 1}, raises=True),
    OpCase("StridedSlice", [real(4, 6), *_vectors([0], [5], [0])], raises=True),
    OpCase("StridedSliceGrad", [const([4, 6]), *_vectors([1, 0], [3, 5], [1, 2]), real(2, 3)],
           {}, ALL),
    OpCase("StridedSliceGrad",
           [feed([4, 6], "int32"), *_vectors([3, 5], [0, 1], [-2, -1], feed), real(2, 4)]),
    OpCase("StridedSliceGrad", [const([4, 6]), *_vectors([0, 2], [0, 3], [1, 1]), real(4)],
           {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
    OpCase("TensorStridedSliceUpdate",
           [real(4, 6), *_vectors([1, 0], [3, 5], [1, 2]), real(2, 3)], {}, ALL),
    OpCase("TensorStridedSliceUpdate",
           [real(4, 6), *_vectors([3, 5], [0, 1], [-2, -1], feed), real(2, 4)]),
    OpCase("TensorStridedSliceUpdate",
           [real(4, 6), *_vectors([0, 2], [0, 3], [1, 1]), real(4)],
           {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
    OpCase("TensorStridedSliceUpdate",
           [real(4, 6), *_vectors([3, 5], [0, 1], [-2, -1]), real(2, 1)]),
    OpCase("TensorStridedSliceUpdate", [_STRINGS, *_vectors([0, 2], [2, 0], [1, -1]),
                                        strings([["x", "y"], ["z", "w"]])]),
    OpCase("TensorStridedSliceUpdate",
           [real(4, 6), *_vectors([0, 0], [2, 2], [1, 1], feed), real(2, 3)], raises=True),
]  # fmt: skip
