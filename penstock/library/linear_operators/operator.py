"""``LinearOperator``: what every operator does, derived from how it multiplies.

A batch of matrices known by what it does, not by its entries.  A class gives ``_shape``,
``_shape_tensor`` and ``_matmul``; all else has a way through the dense matrix here, and a class
with a faster way gives it under the same name with an underscore.  Public methods open the scope,
convert and check, and call those.  Adjoints, inverses, factors and products of operators are
operators again: ``dispatch`` finds the rule of their classes.

Hints (``is_non_singular``, ...) are promises: True, False or None for unknown.  They choose
algorithms (a Cholesky factor where definite) and are never checked against values, except by the
``assert_*`` methods in a step.
"""

from __future__ import annotations

import abc
import logging
from typing import Any

import numpy as np

from penstock.foundation.base import dimension
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.library.linear_operators import dense, dispatch
from penstock.library.linear_operators.described import Described
from penstock.ops.array import nodes, reshape, squeeze
from penstock.ops.control import check
from penstock.ops.linalg import linalg, linalg_eig, matrix_diag
from penstock.ops.math import reduction, reductions

_log = logging.getLogger("penstock")


class LinearOperator(Described):
    """A batch of matrices ``[B1, ..., Bb, M, N]``, known by its products with others.

    Args:
      dtype: dtype of the matrices, and of what they take and give.
      graph_parents: tensors that the operator is made of.
      is_non_singular: whether every matrix of the batch has an inverse; None is unknown.
      is_self_adjoint: whether each is equal to its conjugate transpose.
      is_positive_definite: whether the real part of ``x^H A x`` is positive for all nonzero x;
        the matrices need not be self-adjoint for that.
      is_square: whether they are square.
      name: name of the scopes of the methods; that of the class by default.

    Raises:
      ValueError: hints that contradict each other, or a parent that is no tensor.

    Example, an operator of one's own::

        class Scale(tf.linalg.LinearOperator):
            def __init__(self, factor, size):
                self._factor, self._size = tf.convert_to_tensor(factor), size
                super().__init__(self._factor.dtype, is_square=True)

            def _shape(self):
                return tf.TensorShape([self._size, self._size])

            def _shape_tensor(self):
                return tf.constant([self._size, self._size])

            def _matmul(self, x, adjoint=False, adjoint_arg=False):
                return self._factor * (tf.linalg.adjoint(x) if adjoint_arg else x)
    """

    # ---- assertions ----------------------------------------------------------------------------

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """Asserts that every matrix of the batch has an inverse, up to the dtype's precision.

        Returns:
          An operation that raises ``tf.errors.InvalidArgumentError`` where one has none.
        """
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Operation:
        self._warn_slow("assert_non_singular")
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = linalg_eig.svd(self.to_dense(), compute_uv=False)
        largest = reductions.reduce_max(values, -1)
        condition = nodes.div(largest, reductions.reduce_min(values, -1))
        limit = 1.0 / np.finfo(values.dtype.as_numpy_dtype).eps
        limit = convert_to_tensor(limit, values.dtype)
        message = "the matrix is singular up to the precision of its dtype"
        return check.assert_less(condition, limit, message=message)

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """Asserts that every matrix is positive definite: ``x^H A x`` has a positive real part.

        Returns:
          An operation that raises ``tf.errors.InvalidArgumentError`` where one is not.
        """
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Operation:
        self._warn_slow("assert_positive_definite")
        if self.is_self_adjoint:
            diagonal = matrix_diag.matrix_diag_part(linalg.cholesky(self.to_dense()))
            return check.assert_positive(
                dense.real(diagonal), message="the matrix is not positive definite"
            )
        raise NotImplementedError(
            f"{type(self).__name__}: positive definiteness is asserted of operators that are"
            " known to be self-adjoint"
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """Asserts that every matrix equals its conjugate transpose.

        Returns:
          An operation that raises ``tf.errors.InvalidArgumentError`` where one does not.
        """
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Operation:
        self._warn_slow("assert_self_adjoint")
        matrix = self.to_dense()
        return check.assert_equal(
            matrix, linalg.adjoint(matrix), message="the matrix is not its own adjoint"
        )

    def _warn_slow(self, method: str) -> None:
        _log.warning(
            "%s.%s goes through the dense matrix: O(N^3) operations", type(self).__name__, method
        )

    # ---- products ------------------------------------------------------------------------------

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        """The product with matrices."""

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices or with another operator.

        Args:
          x: tensor ``[..., N, R]`` of the dtype of the operator, its batch broadcasting with the
            operator's; or a LinearOperator.
          adjoint: whether the operator's adjoint multiplies (``x`` is ``[..., M, R]`` then).
          adjoint_arg: whether the adjoint of ``x`` is multiplied (``x`` is ``[..., R, N]`` then).

        Returns:
          A tensor ``[..., M, R]``, or a LinearOperator.

        Raises:
          ValueError: sizes that do not fit.
          TypeError: ``x`` has another dtype.
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            _check_chain(left.domain_dimension, right.range_dimension)
            with self._name_scope(name):
                return dispatch.PRODUCT(left, right)
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_dtype(x)
            self._check_rows(x, -1 if adjoint_arg else -2, adjoint)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with vectors.

        Args:
          x: tensor ``[..., N]`` of the dtype of the operator.
          adjoint: whether the operator's adjoint multiplies.

        Returns:
          A tensor ``[..., M]``.
        """
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_dtype(x)
            self._check_rows(x, -1, adjoint)
            return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Tensor:
        column = reshape.expand_dims(x, axis=-1)
        return squeeze.squeeze(self._matmul(column, adjoint=adjoint), axis=-1)

    def _check_dtype(self, x: Tensor) -> None:
        if self.dtype is not None and x.dtype.base_dtype is not self.dtype:
            raise TypeError(
                f"the operator is of dtype {self.dtype.name}; {x.name} is of"
                f" {x.dtype.base_dtype.name}"
            )

    def _check_rows(self, x: Tensor, index: int, of_range: bool) -> None:
        mine = self.range_dimension if of_range else self.domain_dimension
        if x.sizes is not None:
            mine.assert_is_compatible_with(x.shape[index])

    # ---- solutions -----------------------------------------------------------------------------

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The X of ``A X = rhs``.

        Args:
          rhs: tensor ``[..., M, R]`` of the dtype of the operator; or a LinearOperator.
          adjoint: whether the system is of the operator's adjoint.
          adjoint_arg: whether the right-hand side is the adjoint of ``rhs``.

        Returns:
          A tensor ``[..., N, R]``, or a LinearOperator.

        Raises:
          NotImplementedError: the hints say that the operator is singular or not square.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            _check_chain(left.range_dimension, right.range_dimension)
            with self._name_scope(name):
                return dispatch.SOLUTION(left, right)
        with self._name_scope(name):
            rhs = convert_to_tensor(rhs, name="rhs")
            self._check_dtype(rhs)
            self._check_rows(rhs, -1 if adjoint_arg else -2, not adjoint)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _check_solvable(self) -> None:
        for hint, what in ((self.is_non_singular, "singular"), (self.is_square, "not square")):
            if hint is False:
                raise NotImplementedError(
                    f"{self.name} has no exact solution: the hints and shape say it is {what}"
                )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = dense.adjoint_if(rhs, adjoint_arg)
        if self._can_use_cholesky():
            return dense.cholesky_solve(linalg.cholesky(self.to_dense()), rhs)
        return dense.solve(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The x of ``A x = rhs``, for vectors ``rhs``: ``[..., M]`` to ``[..., N]``.

        Raises:
          NotImplementedError: as for ``solve``.
        """
        with self._name_scope(name):
            rhs = convert_to_tensor(rhs, name="rhs")
            self._check_dtype(rhs)
            self._check_rows(rhs, -1, not adjoint)
            return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Tensor:
        column = reshape.expand_dims(rhs, axis=-1)
        return squeeze.squeeze(self.solve(column, adjoint=adjoint), axis=-1)

    # ---- operators made of it ------------------------------------------------------------------

    def adjoint(self, name: str = "adjoint") -> Any:
        """The operator of the conjugate transposes; itself where the hints say self-adjoint."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return dispatch.ADJOINT(self)

    @property
    def H(self) -> Any:
        """The adjoint."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> Any:
        """The operator of the inverses.

        Raises:
          ValueError: the hints say that the operator is singular or not square.
        """
        if self.is_square is False:
            raise ValueError(f"{self.name} has no inverse: it is not square, of shape {self.shape}")
        if self.is_non_singular is False:
            raise ValueError(f"{self.name} has no inverse: is_non_singular is False")
        with self._name_scope(name):
            return dispatch.INVERSE(self)

    def cholesky(self, name: str = "cholesky") -> Any:
        """The lower triangular L, as an operator, of ``A = L L^H``.

        Raises:
          ValueError: the hints do not say that the operator is self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                f"{self.name} has a Cholesky factor only with is_self_adjoint and"
                " is_positive_definite True"
            )
        with self._name_scope(name):
            return dispatch.CHOLESKY(self)

    # ---- numbers and tensors made of it --------------------------------------------------------

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants, of the batch's shape.

        Raises:
          NotImplementedError: the operator is not square.
        """
        self._check_square("determinant")
        with self._name_scope(name):
            return self._determinant()

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return make("Exp", self.log_abs_determinant())  # type: ignore[no-any-return]
        return linalg.matrix_determinant(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the moduli of the determinants, of the batch's shape.

        Raises:
          NotImplementedError: the operator is not square.
        """
        self._check_square("determinant")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            diagonal = matrix_diag.matrix_diag_part(linalg.cholesky(self.to_dense()))
            half: Any = reduction.reduce_sum(dense.log_abs(diagonal), [-1])
            return nodes.add(half, half)  # type: ignore[no-any-return]
        return linalg.slogdet(self.to_dense())[1]

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                f"{self.name} has no {what}: it is not square, of shape {self.shape}"
            )

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices ``[B1, ..., Bb, M, N]`` themselves."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self) -> Tensor:
        if self.batch_shape.is_fully_defined():
            batch: Any = self.batch_shape.as_list()
        else:
            batch = self._batch_tensor()
        return self.matmul(  # type: ignore[no-any-return]
            matrix_diag.eye(self._size_along(-1), batch_shape=batch, dtype=self.dtype)
        )

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals ``[B1, ..., Bb, min(M, N)]``."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self) -> Tensor:
        return matrix_diag.matrix_diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals, of the batch's shape."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self) -> Tensor:
        return reduction.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """``A + x`` for a tensor ``x`` that broadcasts with the dense matrices."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_dtype(x)
            return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Any) -> Tensor:
        return nodes.add(self.to_dense(), x)  # type: ignore[no-any-return]


def _check_chain(domain: dimension.Dimension, range_: dimension.Dimension) -> None:
    if domain.value is not None and range_.value is not None and domain.value != range_.value:
        raise ValueError(
            f"the operator takes vectors of size {domain}; the other operator gives {range_}"
        )
