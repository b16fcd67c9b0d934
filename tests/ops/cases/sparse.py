"""Rows of ops on sparse tensors: order, shape, sums, products, reductions, empty rows."""

import numpy as np

from tests.ops.opcase import (
    ALL,
    COMPLEX,
    FLOAT_DOUBLE,
    FLOATS,
    INTS,
    NUMERIC,
    OpCase,
    const,
    distinct,
    feed,
    real,
    strings,
)

_REAL = (*FLOATS, *INTS)
_ORDERED = [[0, 1], [0, 3], [2, 0], [2, 2]]
_MIXED = [[2, 2], [0, 3], [2, 0], [0, 1]]
_OTHER = [[0, 1], [1, 1], [2, 2]]
_CUBE = [[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 0], [1, 1, 1]]
_SHAPE = [3, 4]
_CUBE_SHAPE = [2, 2, 3]


def _i(value, how=feed):
    return how(value, "int64")


def _sparse(indices=_ORDERED, shape=_SHAPE, values=None, how=feed):
    return [_i(indices), values or real(len(indices)), _i(shape, how)]


_EMPTY = [_i(np.zeros((0, 2))), real(0), _i(_SHAPE)]
_PAIR = [*_sparse(), *_sparse(_OTHER)]
_WORDS = strings(["a", "b", "c", "d"])
_NO_GRAD = {"grad": False, "grad_reason": "TensorFlow says NotImplementedError"}

_LAYOUT = [
    OpCase("SparseReorder", _sparse(_MIXED), {}, ALL),
    OpCase("SparseReorder", _sparse(_MIXED, values=_WORDS), {}, ("string",)),
    OpCase("SparseReorder", _EMPTY),
    OpCase("SparseReorder", _sparse(_CUBE[::-1], _CUBE_SHAPE)),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE), _i([2, 6])]),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE), _i([2, -1, 3], const)]),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE, const), _i([12], const)]),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE), _i([5, -1])], raises=True),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE), _i([13])], raises=True),
    OpCase("SparseReshape", [_i(_ORDERED), _i(_SHAPE), _i([-1, -1])], raises=True),
    OpCase(
        "SparseConcat",
        [[_i(_ORDERED), _i(_OTHER)], [real(4), real(3)], [_i(_SHAPE), _i(_SHAPE)]],
        {"concat_dim": 1},
        ALL,
    ),
    OpCase(
        "SparseConcat",
        [[_i(_ORDERED), _i(_OTHER)], [real(4), real(3)], [_i(_SHAPE), _i([2, 4])]],
        {"concat_dim": -2},
    ),
    OpCase(
        "SparseConcat",
        [[_i(_ORDERED), _i(_MIXED)], [_WORDS, _WORDS], [_i(_SHAPE), _i(_SHAPE)]],
        {"concat_dim": 0},
        ("string",),
    ),
    OpCase(
        "SparseConcat",
        [[_i(_ORDERED), _i(_OTHER)], [real(4), real(3)], [_i(_SHAPE), _i([4, 4])]],
        {"concat_dim": 1},
        raises=True,
    ),
    OpCase("SparseSplit", [_i(1, const), *_sparse()], {"num_split": 2}, ALL),
    OpCase("SparseSplit", [_i(0, const), *_sparse()], {"num_split": 2}),
    OpCase("SparseSplit", [_i(1), *_sparse(values=_WORDS)], {"num_split": 3}, ("string",)),
    OpCase("SparseSplit", [_i(2), *_sparse()], {"num_split": 2}, raises=True),
    OpCase(
        "SparseSplit",
        [_i(0), feed([[0, 4]], "int64"), feed([1.0]), _i([3, 4])],
        {"num_split": 2},
        raises=True,
    ),
    OpCase("SparseSlice", [*_sparse(), _i([0, 1]), _i([2, 3])], {}, ALL),
    OpCase("SparseSlice", [*_sparse(_CUBE, _CUBE_SHAPE), _i([0, 1, 0]), _i([2, 5, 2])]),
    OpCase("SparseSlice", [*_sparse(), _i([1, 0]), _i([1, 1])]),
    OpCase(
        "SparseSliceGrad",
        [real(2), _i(_ORDERED), _i([0, 1]), _i([[0, 0], [0, 2]])],
        {},
        NUMERIC,
    ),
    OpCase("SparseFillEmptyRows", [*_sparse(), real()], {}, ALL),
    OpCase("SparseFillEmptyRows", [*_sparse(_MIXED, [5, 4]), real()]),
    OpCase("SparseFillEmptyRows", [*_sparse(_OTHER, how=const), real()]),
    OpCase("SparseFillEmptyRows", [*_EMPTY, real()]),
    OpCase("SparseFillEmptyRows", [*_sparse(values=_WORDS), strings(b"-")], {}, ("string",)),
    OpCase("SparseFillEmptyRows", [*_sparse(shape=[2, 4]), real()], raises=True),
    OpCase("SparseFillEmptyRowsGrad", [_i([2, 1, 0, 4]), real(6)], {}, (*FLOATS, *INTS)),
    OpCase("SparseFillEmptyRowsGrad", [_i([2, 7]), real(6)], raises=True),
]

_MATH = [
    OpCase("SparseAdd", [*_PAIR, const(0, "T")], {}, (*FLOAT_DOUBLE, *INTS[:4])),
    OpCase("SparseAdd", [*_PAIR, const(0, "float32")], {}, ("complex64",)),
    OpCase(
        "SparseAdd",
        [*_PAIR, feed(1.0)],
        {},
        FLOAT_DOUBLE,
        grad=False,
        grad_reason="the threshold cuts",
    ),
    OpCase("SparseAdd", [*_EMPTY, *_sparse(), const(0, "T")]),
    OpCase("SparseAdd", [*_sparse(), *_sparse(shape=[3, 5]), const(0, "T")], raises=True),
    OpCase(
        "SparseAddGrad",
        [real(5), _i(_ORDERED), _i(_OTHER), _i([*_ORDERED[:2], [1, 1], *_ORDERED[2:]])],
        {},
        (*FLOAT_DOUBLE, *INTS[:4], *COMPLEX),
    ),
    *(OpCase(f"SparseSparse{kind}", _PAIR, {}, _REAL) for kind in ("Maximum", "Minimum")),
    OpCase("SparseSparseMaximum", [*_EMPTY, *_sparse()]),
    OpCase("SparseTensorDenseAdd", [*_sparse(), real(3, 4)], {}, NUMERIC),
    OpCase(
        "SparseTensorDenseAdd",
        [feed([[0], [2], [2]], "int32"), real(3), feed([4], "int32"), real(4)],
    ),
    OpCase("SparseTensorDenseAdd", [*_sparse(), real(3, 5)], raises=True),
    *(
        OpCase(f"SparseDenseCwise{kind}", [*_sparse(), dense], {}, sweep, **more)
        for kind, more in (("Add", _NO_GRAD), ("Mul", {}))
        for dense, sweep in (
            (real(3, 4), _REAL),
            (real(4), FLOAT_DOUBLE),
            (real(3, 1), FLOAT_DOUBLE),
            (real(), FLOAT_DOUBLE),
        )
    ),
    OpCase("SparseDenseCwiseDiv", [*_sparse(), real(3, 4, lo=1, hi=3)], {}, _REAL),
    OpCase("SparseDenseCwiseDiv", [*_sparse(), real(3, 1, lo=1)], {}, FLOAT_DOUBLE),
    OpCase("SparseDenseCwiseMul", [*_sparse(), real(3, 5)], raises=True),
    OpCase("SparseDenseCwiseMul", [*_sparse(), real(2, 3, 4)], raises=True),
    OpCase("SparseSoftmax", _sparse(), {}, FLOAT_DOUBLE),
    OpCase("SparseSoftmax", _sparse(_CUBE, _CUBE_SHAPE), {}, FLOAT_DOUBLE),
    OpCase("SparseSoftmax", _sparse([[1], [2]], [4]), raises=True),
    *(
        OpCase(
            f"Sparse{name}{form}",
            [*_sparse(_CUBE, _CUBE_SHAPE, distinct(5)), axes],
            {"keep_dims": keep},
            sweep,
        )
        for name in ("ReduceSum", "ReduceMax")
        for form in ("", "Sparse")
        for axes, keep, sweep in (
            (const([1]), False, _REAL),
            (const([0, -1]), True, ("float32",)),
            (feed([2], "int32"), False, ("float64",)),
            (const([0, 1, 2]), False, ("float32",)),
            (const([0, 1, 2]), True, ("float32",)),
            (const(0), False, ("float32",)),
        )
    ),
    OpCase("SparseReduceSum", [*_sparse(how=const), const([0])], {}, FLOAT_DOUBLE),
    OpCase("SparseReduceSum", [*_sparse(how=const), const([0])], {"keep_dims": True}),
    OpCase("SparseReduceMax", [*_sparse(), const([2])], raises=True),
    OpCase("SparseReduceSum", [*_EMPTY, const([1])]),
]


def _product(indices, shape, b, adjoint_a=False, adjoint_b=False, sweep=("float32",), **more):
    return OpCase(
        "SparseTensorDenseMatMul",
        [_i(indices), real(len(indices)), _i(shape, const), real(*b)],
        {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b},
        sweep,
        **more,
    )


_PRODUCTS = [
    _product(_ORDERED, _SHAPE, (4, 3), sweep=(*FLOAT_DOUBLE, "int32", *COMPLEX)),
    _product(_ORDERED, _SHAPE, (3, 2), adjoint_a=True, sweep=(*FLOAT_DOUBLE, *COMPLEX)),
    _product(_MIXED, _SHAPE, (2, 4), adjoint_b=True, sweep=(*FLOAT_DOUBLE, *COMPLEX)),
    _product(_MIXED, _SHAPE, (5, 3), adjoint_a=True, adjoint_b=True, sweep=FLOAT_DOUBLE),
    _product(_ORDERED, _SHAPE, (4, 1), sweep=FLOAT_DOUBLE),
    _product([[0, 0], [0, 0], [1, 1]], [2, 2], (2, 3)),
    _product(np.zeros((0, 2)), _SHAPE, (4, 3)),
    _product(_ORDERED, _SHAPE, (5, 3), raises=True),
    _product([[0, 7]], _SHAPE, (4, 3), raises=True),
    OpCase(
        "SparseTensorDenseMatMul",
        [feed(_ORDERED, "int32"), real(4), _i(_SHAPE), real(4, 3)],
    ),
]

_ROWS = [
    [b"\x08\x09\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01\"\x08\x02\x00\x00\x00\x00\x00\x00\x00",
     b"\x08\x01\x12\x04\x12\x02\x08\x01\"\x04\x00\x00\x80?",
     b"\x08\t\x12\x04\x12\x02\x08\x01\"\x08\x04\x00\x00\x00\x00\x00\x00\x00"],
    [b"\x08\t\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01\"\x10\x00\x00\x00\x00\x00\x00\x00\x00"
     b"\x03\x00\x00\x00\x00\x00\x00\x00",
     b"\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00\x00\x00@\x00\x00@@",
     b"\x08\t\x12\x04\x12\x02\x08\x01\"\x08\x05\x00\x00\x00\x00\x00\x00\x00"],
]  # fmt: skip

CASES = [
    *_LAYOUT,
    *_MATH,
    *_PRODUCTS,
    OpCase("DeserializeManySparse", [strings(_ROWS)], {"dtype": "float32"}),
    OpCase("DeserializeManySparse", [strings(_ROWS[0])], {"dtype": "float32"}, raises=True),
]
