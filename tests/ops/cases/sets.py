"""Rows for sets, dense and sparse."""

from __future__ import annotations

import numpy as np

from tests.ops.opcase import OpCase, feed

TYPES = ("int32", "int64", "int8", "int16", "uint8", "uint16")
_OPERATIONS = ("a-b", "b-a", "intersection", "union")


def _sparse(rows, values, shape, dtype="T"):
    indices = np.array(rows, np.int64).reshape(len(rows), len(shape))
    return [feed(indices, "int64"), feed(values, dtype), feed(shape, "int64")]


A = [[3, 1, 1], [2, 5, 2], [7, 7, 7]]
B = [[1, 4], [2, 9], [7, 0]]
SPARSE = _sparse([[0, 0], [0, 1], [2, 0]], [4, 1, 7], [3, 2])
OTHER = _sparse([[0, 0], [1, 0], [1, 1]], [1, 8, 8], [3, 4])
DEEP = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
DEEP_SPARSE = _sparse([[0, 1, 0], [1, 0, 0], [1, 0, 1]], [3, 9, 5], [2, 2, 2])
TEXT = feed(np.array([["b", "a"], ["", "z"]], object), "string")
MORE_TEXT = feed(np.array([["c", "a"], ["", "y"]], object), "string")

DENSE, MIXED, BOTH = (
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "SparseToSparseSetOperation",
)  # fmt: skip


def _rows():
    for operation in _OPERATIONS:
        attrs = {"set_operation": operation}
        yield OpCase(DENSE, [feed(A), feed(B)], attrs, TYPES)
        yield OpCase(DENSE, [feed(DEEP), feed(DEEP)], attrs, ("int32",))
        yield OpCase(DENSE, [TEXT, MORE_TEXT], attrs)
        yield OpCase(DENSE, [feed(np.zeros((2, 0))), feed(np.ones((2, 1)))], attrs, ("int32",))
        yield OpCase(DENSE, [feed(np.zeros((0, 2))), feed(np.ones((0, 1)))], attrs, ("int32",))
        yield OpCase(MIXED, [feed(A), *SPARSE], attrs, TYPES)
        yield OpCase(MIXED, [feed(DEEP), *DEEP_SPARSE], attrs, ("int64",))
        yield OpCase(BOTH, [*SPARSE, *OTHER], attrs, TYPES)
        yield OpCase(BOTH, [*DEEP_SPARSE, *DEEP_SPARSE], attrs, ("int32",))
        yield OpCase(BOTH, [*_sparse([], [], [3, 2]), *OTHER], attrs, ("int32",))
    union = {"set_operation": "union"}
    yield OpCase(DENSE, [feed(A), feed(B)], {"set_operation": "xor"}, ("int32",), raises=True)
    yield OpCase(DENSE, [feed([1, 2]), feed([1, 2])], union, ("int32",), raises=True)
    yield OpCase(DENSE, [feed([[1, 2]]), feed(A)], union, ("int32",), raises=True)
    yield OpCase(DENSE, [feed([[1, 2]]), feed(DEEP)], union, ("int32",), raises=True)
    disordered = _sparse([[2, 0], [0, 0]], [1, 2], [3, 2])
    outside = _sparse([[0, 0], [3, 0]], [1, 2], [3, 2])
    for wrong in (disordered, outside):
        yield OpCase(MIXED, [feed(A), *wrong], union, ("int32",), raises=True)
        yield OpCase(BOTH, [*wrong, *OTHER], union, ("int32",), raises=True)
        yield OpCase("SetSize", wrong, {}, ("int32",), raises=True)
    yield OpCase(MIXED, [feed(A), *_sparse([[0, 0]], [1], [4, 2])], union, ("int32",), raises=True)
    yield OpCase(MIXED, [feed(DEEP), *SPARSE], union, ("int32",), raises=True)
    for one in (SPARSE, OTHER, DEEP_SPARSE):
        yield OpCase("SetSize", one, {}, TYPES)
        yield OpCase("SetSize", one, {"validate_indices": False}, ("int32",))
    yield OpCase("SetSize", _sparse([], [], [2, 3]), {}, ("int32",))


CASES = list(_rows())
