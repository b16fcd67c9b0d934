"""Rows of linear algebra.

Columns of Q, U, V and eigenvectors have signs (phases, where complex) that LAPACK and Eigen choose
differently: such outputs are compared by magnitude, and ``test_linalg`` checks reconstructions.
"""

import numpy as np

from tests.ops.opcase import (
    COMPLEX,
    FLOAT_DOUBLE,
    NUMERIC,
    OpCase,
    const,
    feed,
    real,
    spd,
    triangular,
    wellcond,
)

_TYPES = FLOAT_DOUBLE + COMPLEX
_NO_CONJUGATE = "TF's gradient lacks a conjugate; ours is the derivative (test_linalg)"
_UNCONJUGATED = "TF's gradient, which ours is, lacks a conjugate"
_NO_EXPM = "TensorFlow has none, since its expm is a loop; ours is checked in test_linalg"
_TRIANGLE = "only one triangle is read, and its gradient is spread over both (test_linalg)"
_SIGN = "signs of vectors are arbitrary, and the gradients of vectors depend on them"
_LOOSE = {"rtol": 1e-3, "atol": 1e-4, "tol_reason": "float32 rounding grows with conditioning"}


def _values_only(index: int, value: np.ndarray) -> np.ndarray:
    """Vectors that were not asked for: TF declares shape [0] and returns a scalar."""
    return value if index == 0 else np.zeros(0)


def _magnitude(_: int, value: np.ndarray) -> np.ndarray:
    return np.abs(value)


CASES = [
    OpCase("Cholesky", [spd(4)], {}, _TYPES, grad=False, grad_reason=_TRIANGLE),
    OpCase("Cholesky", [spd(3, batch=(2,))], {}, FLOAT_DOUBLE, grad=False, grad_reason=_TRIANGLE),
    OpCase("Cholesky", [feed([[1.0, 2.0], [2.0, 1.0]])], raises=True, oracle="tf1"),
    OpCase("MatrixInverse", [wellcond(4)], {}, _TYPES, grad2=True),
    OpCase("MatrixInverse", [wellcond(3, batch=(2,))], {"adjoint": True}, _TYPES),
    OpCase("MatrixInverse", [feed([[1.0, 2.0], [2.0, 4.0]])], raises=True),
    OpCase("MatrixInverse", [real(2, 3)], raises=True),
    OpCase("MatrixDeterminant", [wellcond(3)], {}, FLOAT_DOUBLE),
    OpCase("MatrixDeterminant", [wellcond(3)], {}, COMPLEX, grad=False, grad_reason=_NO_CONJUGATE),
    OpCase("MatrixDeterminant", [wellcond(3, batch=(2,))], {}, FLOAT_DOUBLE),
    OpCase("LogMatrixDeterminant", [wellcond(3, batch=(2,))], {}, FLOAT_DOUBLE),
    OpCase(
        "LogMatrixDeterminant",
        [wellcond(3, batch=(2,))],
        {},
        COMPLEX,
        grad=False,
        grad_reason=_UNCONJUGATED,
    ),
    OpCase("LogMatrixDeterminant", [feed([[0.0, 2.0], [3.0, 0.0]])]),
    OpCase("MatrixSolve", [wellcond(4), real(4, 2)], {}, _TYPES),
    OpCase("MatrixSolve", [wellcond(3, batch=(2,)), real(2, 3, 2)], {"adjoint": True}, _TYPES),
    OpCase("MatrixSolve", [feed([[1.0, 2.0], [2.0, 4.0]]), real(2, 1)], raises=True),
    OpCase("MatrixSolve", [wellcond(3), real(2, 1)], raises=True),
    *[
        OpCase(
            "MatrixTriangularSolve",
            [triangular(3, lower=lower), real(3, 2)],
            {"lower": lower, "adjoint": adjoint},
            _TYPES,
        )
        for lower in (True, False)
        for adjoint in (True, False)
    ],
    OpCase("MatrixTriangularSolve", [wellcond(3, batch=(2,)), real(2, 3, 2)]),
    OpCase(
        "MatrixTriangularSolve",
        [feed([[0.0, 0.0], [2.0, 4.0]]), real(2, 1)],
        raises=True,
        oracle="tf1",
    ),
    OpCase("MatrixSolveLs", [real(5, 3), real(5, 2), const(0.3, "float64")], {}, FLOAT_DOUBLE),
    OpCase("MatrixSolveLs", [real(3, 5), real(3, 2), const(0.3, "float64")], {}, FLOAT_DOUBLE),
    OpCase(
        "MatrixSolveLs",
        [real(5, 3), real(5, 2), const(0.3, "float64")],
        {},
        COMPLEX,
        grad=False,
        grad_reason=_NO_CONJUGATE,
    ),
    OpCase(
        "MatrixSolveLs",
        [real(2, 5, 3), real(2, 5, 2), const(0.0, "float64")],
        {"fast": False},
        FLOAT_DOUBLE,
        grad=False,
        grad_reason="defined for fast=True only, as in TF",
        **_LOOSE,
    ),
    OpCase("MatrixExponential", [real(3, 3)], {}, _TYPES, grad=False, grad_reason=_NO_EXPM),
    OpCase(
        "MatrixExponential", [real(2, 3, 3)], {}, FLOAT_DOUBLE, grad=False, grad_reason=_NO_EXPM
    ),
    OpCase("MatrixLogarithm", [wellcond(3)], {}, COMPLEX),
    OpCase("MatrixSquareRoot", [spd(3)], {}, FLOAT_DOUBLE, **_LOOSE),
    OpCase(
        "MatrixSquareRoot", [spd(3)], {}, COMPLEX, grad=False, grad_reason=_NO_CONJUGATE, **_LOOSE
    ),
    OpCase("MatrixSquareRoot", [spd(3, batch=(2,))], {}, FLOAT_DOUBLE, **_LOOSE),
    OpCase("Lu", [real(4, 4)], {}, FLOAT_DOUBLE),
    OpCase("Lu", [wellcond(3)], {}, COMPLEX),
    OpCase("Lu", [wellcond(3, batch=(2,))], {"output_idx_type": "int64"}, FLOAT_DOUBLE),
    OpCase("Cross", [real(2, 3), real(2, 3)], {}, FLOAT_DOUBLE + ("half", "int32", "int64")),
    OpCase("Cross", [real(2, 2), real(2, 2)], raises=True),
    OpCase("Qr", [real(4, 3)], {}, _TYPES, compare=_magnitude, grad=False, grad_reason=_SIGN),
    OpCase(
        "Qr",
        [real(2, 3, 4)],
        {"full_matrices": True},
        FLOAT_DOUBLE,
        compare=_magnitude,
        grad=False,
        grad_reason=_SIGN,
    ),
    OpCase("Svd", [real(4, 3)], {"compute_uv": False}, FLOAT_DOUBLE, compare=_values_only),
    OpCase("Svd", [real(2, 3, 4)], {"compute_uv": False}, FLOAT_DOUBLE, compare=_values_only),
    OpCase("Svd", [real(4, 3)], {}, _TYPES, compare=_magnitude, grad=False, grad_reason=_SIGN),
    OpCase(
        "Svd",
        [real(3, 3)],
        {"full_matrices": True},
        FLOAT_DOUBLE,
        compare=_magnitude,
        grad=False,
        grad_reason=_SIGN,
    ),
    OpCase(
        "SelfAdjointEigV2",
        [spd(3)],
        {"compute_v": False},
        FLOAT_DOUBLE,
        compare=_values_only,
        grad=False,
        grad_reason=_TRIANGLE,
    ),
    OpCase(
        "SelfAdjointEigV2",
        [spd(3, batch=(2,))],
        {},
        _TYPES,
        compare=_magnitude,
        grad=False,
        grad_reason=_SIGN,
    ),
    OpCase("Diag", [real(3)], {}, FLOAT_DOUBLE + COMPLEX + ("int32", "int64")),
    OpCase("Diag", [real(2, 3)]),
    OpCase("DiagPart", [real(3, 3)], {}, FLOAT_DOUBLE + COMPLEX + ("int32", "int64")),
    OpCase("DiagPart", [real(2, 3, 2, 3)]),
    OpCase("DiagPart", [real(2, 3)], raises=True),
    OpCase("MatrixDiag", [real(3)], {}, (*NUMERIC, "bool")),
    OpCase("MatrixDiag", [real(2, 3)]),
    OpCase("MatrixDiagPart", [real(3, 3)], {}, (*NUMERIC, "bool")),
    OpCase("MatrixDiagPart", [real(2, 3, 4)]),
    OpCase("MatrixSetDiag", [real(3, 3), real(3)], {}, (*NUMERIC, "bool")),
    OpCase("MatrixSetDiag", [real(2, 3, 4), real(2, 3)]),
    OpCase("MatrixSetDiag", [real(3, 3), real(2)], raises=True),
    OpCase(
        "MatrixBandPart",
        [real(3, 4), const(1, "int64"), const(-1, "int64")],
        {},
        (*NUMERIC, "bool"),
    ),
    OpCase("MatrixBandPart", [real(2, 4, 3), feed(-1, "int32"), feed(0, "int32")]),
]
