"""What adjoints, inverses, factors, products and solutions of operators are, class by class.

The general rules wrap: an adjoint is a LinearOperatorAdjoint, a product a composition.  The others
keep a structure that the class knows of.  Hints of what two commuting operators make follow from
theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.library.linear_operators import dense
from penstock.library.linear_operators.block_diag import LinearOperatorBlockDiag
from penstock.library.linear_operators.circulant import LinearOperatorCirculant
from penstock.library.linear_operators.composition import LinearOperatorComposition
from penstock.library.linear_operators.derived import LinearOperatorAdjoint, LinearOperatorInversion
from penstock.library.linear_operators.diagonal import LinearOperatorDiag
from penstock.library.linear_operators.dispatch import ADJOINT, CHOLESKY, INVERSE, PRODUCT, SOLUTION
from penstock.library.linear_operators.householder import LinearOperatorHouseholder
from penstock.library.linear_operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)
from penstock.library.linear_operators.kronecker import LinearOperatorKronecker
from penstock.library.linear_operators.matrices import LinearOperatorLowerTriangular
from penstock.library.linear_operators.operator import LinearOperator
from penstock.library.linear_operators.zeros import LinearOperatorZeros
from penstock.ops.array import nodes, reshape
from penstock.ops.linalg import linalg
from penstock.ops.math import elementwise

# ---- one operator ------------------------------------------------------------------------------


def _itself(operator: Any) -> Any:
    return operator


ADJOINT.of(LinearOperator)(LinearOperatorAdjoint)
ADJOINT.of(LinearOperatorIdentity)(_itself)
ADJOINT.of(LinearOperatorHouseholder)(_itself)
INVERSE.of(LinearOperator)(LinearOperatorInversion)
INVERSE.of(LinearOperatorIdentity)(_itself)
INVERSE.of(LinearOperatorHouseholder)(_itself)


@ADJOINT.of(LinearOperatorAdjoint)
@INVERSE.of(LinearOperatorInversion)
def _inside(operator: Any) -> Any:
    return operator.operator


def _with_values(operator: Any, function: Callable[[Any], Any], **hints: Any) -> Any:
    """An operator of the same class, with ``function`` of its diagonal, multiplier or spectrum."""
    hints = {**operator.own_hints(), **hints}
    if isinstance(operator, LinearOperatorDiag):
        return LinearOperatorDiag(function(operator.diagonal), **hints)
    if isinstance(operator, LinearOperatorScaledIdentity):
        return LinearOperatorScaledIdentity(operator.row_count, function(operator.factor), **hints)
    return LinearOperatorCirculant(function(operator.spectrum), operator.dtype, **hints)


for _class in (LinearOperatorDiag, LinearOperatorScaledIdentity, LinearOperatorCirculant):
    ADJOINT.of(_class)(lambda operator: _with_values(operator, dense.conj))
    INVERSE.of(_class)(lambda operator: _with_values(operator, elementwise.reciprocal))
for _class in (LinearOperatorDiag, LinearOperatorScaledIdentity):
    CHOLESKY.of(_class)(lambda operator: _with_values(operator, elementwise.sqrt))


def _each(method: str, *hints: str) -> Callable[[Any], Any]:
    """The same of every block or factor; only ``hints`` are kept."""

    def rule(operator: Any) -> Any:
        made = [getattr(one, method)() for one in operator.operators]
        return type(operator)(made, **{hint: getattr(operator, hint) for hint in hints})

    return rule


_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
for _several in (LinearOperatorBlockDiag, LinearOperatorKronecker):
    ADJOINT.of(_several)(_each("adjoint", *_HINTS))
    INVERSE.of(_several)(_each("inverse", *_HINTS))
    CHOLESKY.of(_several)(_each("cholesky", "is_non_singular", "is_square"))


@CHOLESKY.of(LinearOperator)
def _triangular_factor(operator: Any) -> Any:
    factor = linalg.cholesky(operator.to_dense())
    return LinearOperatorLowerTriangular(
        factor, is_non_singular=True, is_self_adjoint=False, is_square=True
    )


@CHOLESKY.of(LinearOperatorIdentity)
def _identical_factor(operator: Any) -> Any:
    return LinearOperatorIdentity(
        operator.row_count,
        batch_shape=operator.batch,
        dtype=operator.dtype,
    )


# ---- two operators -----------------------------------------------------------------------------


def _regular(left: Any, right: Any) -> bool | None:
    """Whether a product has an inverse: both factors must."""
    if False in (left.is_non_singular, right.is_non_singular):
        return False
    return bool(left.is_non_singular and right.is_non_singular) or None


def _of_both(left: Any, right: Any) -> dict[str, Any]:
    """The hints of the product of two operators that commute."""
    adjoints = {left.is_self_adjoint, right.is_self_adjoint}
    definite = left._can_use_cholesky() and right._can_use_cholesky()
    return {
        "is_non_singular": _regular(left, right),
        # A product that one factor alone keeps from being self-adjoint is not.
        "is_self_adjoint": None if None in adjoints or adjoints == {False} else len(adjoints) == 1,
        "is_positive_definite": definite or None,
        "is_square": True,
    }


def _left(left: Any, right: Any) -> Any:
    return left


def _right(left: Any, right: Any) -> Any:
    return right


def _zeros(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def rule(left: Any, right: Any) -> Any:
        if not (left.is_square and right.is_square):
            raise ValueError(
                "products with LinearOperatorZeros are made of square operators only; found"
                f" {left.name} of shape {left.shape} and {right.name} of shape {right.shape}"
            )
        return pick(left, right)

    return rule


PRODUCT.of(LinearOperatorIdentity, LinearOperator)(_right)
PRODUCT.of(LinearOperator, LinearOperatorIdentity)(_left)
PRODUCT.of(LinearOperatorZeros, LinearOperator)(_zeros(_left))
PRODUCT.of(LinearOperator, LinearOperatorZeros)(_zeros(_right))
SOLUTION.of(LinearOperatorIdentity, LinearOperator)(_right)


@PRODUCT.of(LinearOperator, LinearOperator)
def _composed(left: Any, right: Any) -> Any:
    return LinearOperatorComposition([left, right], is_non_singular=_regular(left, right))


@SOLUTION.of(LinearOperator, LinearOperator)
def _solved(left: Any, right: Any) -> Any:
    return _composed(LinearOperatorInversion(left), right)


@SOLUTION.of(LinearOperatorInversion, LinearOperator)
def _multiplied(left: Any, right: Any) -> Any:
    return left.operator.matmul(right)


def _values(operator: Any) -> Any:
    """A diagonal; of a multiple of the identity, what broadcasts to one."""
    if isinstance(operator, LinearOperatorScaledIdentity):
        return reshape.expand_dims(operator.factor, -1)
    return operator.diagonal


def _diagonal(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def rule(left: Any, right: Any) -> Any:
        values = combine(_values(left), _values(right))
        return LinearOperatorDiag(values, **_of_both(left, right))

    return rule


def _quotient(left: Any, right: Any) -> Any:
    return nodes.div(right, left)


_BOTH_DIAGONAL = (
    (LinearOperatorDiag, LinearOperatorDiag),
    (LinearOperatorDiag, LinearOperatorScaledIdentity),
    (LinearOperatorScaledIdentity, LinearOperatorDiag),
)
for _pair in _BOTH_DIAGONAL:
    PRODUCT.of(*_pair)(_diagonal(nodes.mul))
    SOLUTION.of(*_pair)(_diagonal(_quotient))


def _circulant(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def rule(left: Any, right: Any) -> Any:
        spectrum = combine(left.factors(False), right.factors(False))
        hints = _of_both(left, right)
        return LinearOperatorCirculant(spectrum, input_output_dtype=left.dtype, **hints)

    return rule


_BOTH_CIRCULANT = (LinearOperatorCirculant, LinearOperatorCirculant)
PRODUCT.of(*_BOTH_CIRCULANT)(_circulant(nodes.mul))
SOLUTION.of(*_BOTH_CIRCULANT)(_circulant(_quotient))


def _scaled_rows(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def rule(left: Any, right: Any) -> Any:
        rows = combine(reshape.expand_dims(left.diagonal, -1), right.to_dense())
        return LinearOperatorLowerTriangular(rows, **_triangular_hints(left, right))

    return rule


def _triangular_hints(left: Any, right: Any) -> dict[str, Any]:
    # A triangular matrix that is self-adjoint is diagonal, and then the two commute.
    return {**_of_both(left, right), "is_positive_definite": None}


PRODUCT.of(LinearOperatorDiag, LinearOperatorLowerTriangular)(_scaled_rows(nodes.mul))
SOLUTION.of(LinearOperatorDiag, LinearOperatorLowerTriangular)(_scaled_rows(_quotient))


@PRODUCT.of(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _scaled_columns(left: Any, right: Any) -> Any:
    columns = nodes.mul(left.to_dense(), reshape.expand_dims(right.diagonal, -2))
    return LinearOperatorLowerTriangular(columns, **_triangular_hints(left, right))
