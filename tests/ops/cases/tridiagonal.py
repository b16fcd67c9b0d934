"""Rows of products with tridiagonal matrices."""

from __future__ import annotations

from tests.ops.opcase import COMPLEX, FLOAT_DOUBLE, OpCase, real

_ALL = (*FLOAT_DOUBLE, *COMPLEX)


def _product(diagonals, rhs, **more):
    return OpCase("TridiagonalMatMul", [*(real(*d) for d in diagonals), real(*rhs)], {}, **more)


CASES = [
    _product([(1, 5)] * 3, (5, 2), dtypes=_ALL),
    _product([(2, 1, 4)] * 3, (2, 4, 3), dtypes=_ALL),
    _product([(1, 1)] * 3, (1, 3), dtypes=FLOAT_DOUBLE),
    _product([(1, 4), (1, 5), (1, 5)], (5, 2), raises=True),
    _product([(5,)] * 3, (5, 2), raises=True),
]
