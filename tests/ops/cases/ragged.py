"""Rows of the ops of ragged tensors."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import OpCase, feed, real

_KINDS = ("float", "double", "int32", "int64")


def _ranges(starts, limits, deltas):
    rows = np.broadcast_arrays(np.atleast_1d(starts), limits, deltas)
    found = [np.arange(a, b, d) for a, b, d in zip(*rows)]
    splits = np.cumsum([0, *map(len, found)])
    return splits, np.concatenate(found) if found else np.zeros(0, rows[0].dtype)


def _range(starts, limits, deltas, **options):
    inputs = [feed(starts, "T"), feed(limits, "T"), feed(deltas, "T")]
    return OpCase("RaggedRange", inputs, {}, **{"dtypes": _KINDS, "ref": _ranges, **options})


def _gathered(outer, values, indices):
    rows = [values[outer[i] : outer[i + 1]] for i in np.ravel(indices)]
    splits = np.cumsum([0, *map(len, rows)])
    return splits, np.concatenate([values[:0], *rows])


def _sparse(splits, values):
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    columns = np.arange(len(rows)) - np.asarray(splits)[rows]
    longest = max(np.diff(splits), default=0)
    return np.stack([rows, columns], 1), values, np.array([len(splits) - 1, longest])


CASES = [
    _range([2, 0, 5], [5, 0, 9], [1, 1, 2]),
    _range([5, 9, 1], [0, 0, 9], [-1, -4, 3]),
    _range([0, 1], 4, 1),
    _range(0, 4, 1),
    _range([0, 1], [4, 4], [1, 0], raises=True, ref=None),
    _range([0, 1], [4, 4, 4], 1, raises=True, ref=None),
    OpCase("RaggedGather",
           [[feed([0, 2, 2, 5], "int64")], real(5), feed([2, 0, 1, 2], "int32")],
           {"OUTPUT_RAGGED_RANK": 1}, ("float", "double"), ref=_gathered),
    OpCase("RaggedGather",
           [[feed([0, 2, 2, 5], "int64")], real(5, 2), feed([0, 0], "int32")],
           {"OUTPUT_RAGGED_RANK": 1}, ("float",), ref=_gathered),
    OpCase("RaggedGather",
           [[feed([0, 2, 2, 5], "int64")], real(5), feed([3], "int32")],
           {"OUTPUT_RAGGED_RANK": 1}, ("float",), raises=True),
    *(
        OpCase("RaggedGather", [[feed(splits, "int64")], real(5), feed([0], "int32")],
               {"OUTPUT_RAGGED_RANK": 1}, ("float",), raises=True)
        for splits in ([], [-1, 5], [0, 6], [0, 3, 2])
    ),
    OpCase("RaggedTensorToSparse", [[feed([0, 2, 2, 5], "int64")], real(5)], {},
           ("float", "double"), ref=_sparse),
    OpCase("RaggedTensorToSparse", [[feed([0, 0], "int64")], real(0)], {}, ("float",),
           ref=_sparse),
    OpCase("RaggedTensorToSparse", [[feed([1, 2], "int64")], real(2)], {}, ("float",),
           raises=True),
]  # fmt: skip
