"""Rows of linear algebra under older names, of the Cholesky gradient and tridiagonal equations."""

import numpy as np

from tests.ops.opcase import (
    COMPLEX,
    FLOAT_DOUBLE,
    OpCase,
    const,
    feed,
    real,
    spd,
    triangular,
    wellcond,
)

_FOUR = (*FLOAT_DOUBLE, *COMPLEX)


def _size(index, array):
    """Signs of vectors are not determined."""
    return np.abs(array)


CASES = [
    OpCase("BatchCholesky", [spd(3, batch=(2,))], {}, FLOAT_DOUBLE),
    OpCase("BatchMatrixDeterminant", [wellcond(3, batch=(2,))], {}, _FOUR),
    OpCase("BatchMatrixInverse", [wellcond(3, batch=(2,))], {"adjoint": True}, FLOAT_DOUBLE),
    OpCase("BatchMatrixSolve", [wellcond(3, batch=(2,)), real(2, 3, 2)], {}, FLOAT_DOUBLE),
    OpCase("BatchMatrixTriangularSolve", [triangular(3, batch=(2,)), real(2, 3, 2)], {},
           FLOAT_DOUBLE),
    OpCase("BatchMatrixSolveLs", [real(2, 4, 3), real(2, 4, 2), const(0.1, "float64")], {},
           FLOAT_DOUBLE),
    OpCase("BatchSelfAdjointEigV2", [spd(3, batch=(2,))], {}, FLOAT_DOUBLE, compare=_size),
    OpCase("BatchSvd", [real(2, 4, 3)], {}, _FOUR, compare=_size),
    OpCase("BatchMatrixBandPart", [real(2, 4, 4), const(1, "int64"), const(0, "int64")], {},
           _FOUR),
    OpCase("BatchMatrixDiag", [real(2, 3)], {}, _FOUR),
    OpCase("BatchMatrixDiagPart", [real(2, 3, 3)], {}, _FOUR),
    OpCase("BatchMatrixSetDiag", [real(2, 3, 3), real(2, 3)], {}, _FOUR),
    OpCase("SelfAdjointEig", [spd(3, batch=(2,))], {}, FLOAT_DOUBLE, compare=_size),
    OpCase("CholeskyGrad", [triangular(3, batch=(2,)), real(2, 3, 3)], {}, FLOAT_DOUBLE),
    OpCase("TridiagonalSolve", [real(3, 5, lo=1, hi=3), real(5, 2)], {}, FLOAT_DOUBLE),
    OpCase("TridiagonalSolve", [real(3, 5, lo=1, hi=3), real(5, 2)], {}, COMPLEX, grad=False,
           grad_reason="TensorFlow's gradient lacks a conjugate"),
    OpCase("TridiagonalSolve", [real(2, 3, 4), real(2, 4, 3)], {"partial_pivoting": True},
           FLOAT_DOUBLE),
    OpCase("TridiagonalSolve",
           [feed([[[1.0, 1.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 2.0]]]), real(1, 3, 2)],
           {"partial_pivoting": False}, FLOAT_DOUBLE),
    OpCase("TridiagonalSolve", [feed([[0.0], [2.0], [0.0]]), real(1, 2)], {}, FLOAT_DOUBLE),
    OpCase("TridiagonalSolve", [real(3, 5), real(4, 2)], raises=True),
]  # fmt: skip
