"""Bijectors of events that are matrices, and of vectors that matrices are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.contrib.distributions import triangles
from penstock.contrib.distributions.bijectors.affine import AffineScalar
from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.contrib.distributions.bijectors.composing import Chain
from penstock.contrib.distributions.bijectors.elementwise import Softplus
from penstock.foundation.base.dimension import dimension_value
from penstock.ops.array import cast, constant, fill, join, ranges, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import linalg, linalg_solve, matmul, matrix_diag
from penstock.ops.math import elementwise, reduction


class FillTriangular(Bijector):
    """``tf.contrib.distributions.fill_triangular`` of vectors.

    Args:
      upper: whether the upper triangle is filled; else the lower one.
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> fill = tf.contrib.distributions.bijectors.FillTriangular()
      >>> tf.Session().run(fill.forward([1., 2., 3.])).tolist()
      [[3.0, 0.0], [2.0, 1.0]]
    """

    def __init__(
        self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"
    ) -> None:
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return triangles.fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return triangles.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        whole: Any = x
        return elementwise.zeros_like(whole[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        whole: Any = y
        return elementwise.zeros_like(whole[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        size = dimension_value(input_shape[-1])
        n = None if size is None else triangular_size(size)
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        n, other = dimension_value(output_shape[-2]), dimension_value(output_shape[-1])
        if n is not None and other is not None and n != other:
            raise ValueError("Matrix must be square")
        return output_shape[:-2].concatenate([None if n is None else n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        root = elementwise.sqrt(cast.cast(8 * input_shape[-1] + 1, "float64"))
        n = cast.cast((root - 1) / 2, "int32")
        return join.concat([input_shape[:-1], [n, n]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        n = output_shape[-1]
        if self.validate_args:
            text = "Matrix must be square"
            found = check.assert_equal(output_shape[-2], n, message=text)
            n = control.with_dependencies([found], n)
        size = cast.cast(n * (n + 1) / 2, "int32")
        return join.concat([output_shape[:-2], [size]], 0)


def triangular_size(count: int) -> int:
    """The n of which ``n (n + 1) / 2`` is ``count``.

    Raises:
      ValueError: there is none.
    """
    n = (math.isqrt(8 * count + 1) - 1) // 2
    if n * (n + 1) // 2 != count:
        raise ValueError(f"Vector length {count} is not a triangular number.")
    return n


class TransformDiagonal(Bijector):
    """Another bijector applied to the diagonal of matrices.

    Args:
      diag_bijector: the bijector of the diagonals.
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> made = bijectors.TransformDiagonal(bijectors.Exp())
      >>> tf.Session().run(made.forward([[0., 5.], [6., 0.]])).tolist()
      [[1.0, 5.0], [6.0, 1.0]]
    """

    def __init__(
        self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal"
    ) -> None:
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        diagonal = self._diag_bijector.forward(matrix_diag.matrix_diag_part(x))
        return matrix_diag.matrix_set_diag(x, diagonal)

    def _inverse(self, y: Any) -> Any:
        diagonal = self._diag_bijector.inverse(matrix_diag.matrix_diag_part(y))
        return matrix_diag.matrix_set_diag(y, diagonal)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        diagonal = matrix_diag.matrix_diag_part(x)
        return self._diag_bijector.forward_log_det_jacobian(diagonal, event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        diagonal = matrix_diag.matrix_diag_part(y)
        return self._diag_bijector.inverse_log_det_jacobian(diagonal, event_ndims=1)


class ScaleTriL(Chain):
    """From vectors to lower triangular matrices of a positive diagonal.

    Args:
      diag_bijector: what makes a diagonal positive; ``Softplus`` by default.
      diag_shift: what is added to it; nothing where None.
      validate_args: whether arguments are checked in every step.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> made = bijectors.ScaleTriL(diag_bijector=bijectors.Exp(), diag_shift=None)
      >>> tf.Session().run(made.forward([0., 5., 0.])).tolist()
      [[1.0, 0.0], [5.0, 1.0]]
    """

    def __init__(
        self,
        diag_bijector: Any = None,
        diag_shift: Any = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        super().__init__(
            [
                TransformDiagonal(diag_bijector=diag_bijector),
                FillTriangular(validate_args=validate_args),
            ],
            validate_args=validate_args,
            name=name,
        )


class CholeskyOuterProduct(Bijector):
    """``y = x x^T`` of lower triangular matrices x of a positive diagonal.

    Args:
      validate_args: whether x is checked in every step.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.CholeskyOuterProduct()
      >>> tf.Session().run(made.forward([[1., 0.], [2., 1.]])).tolist()
      [[1.0, 2.0], [2.0, 5.0]]
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            whole: Any = shape.shape(x)
            is_matrix = check.assert_rank_at_least(x, 2)
            is_square = check.assert_equal(whole[-2], whole[-1])
            x = control.with_dependencies([is_matrix, is_square], x)
        x = matrix_diag.matrix_band_part(x, -1, 0)
        return matmul.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return linalg.cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # Row i of the lower triangle changes i + 1 numbers of each column: 2^p prod x_ii^(p - i).
        diagonal = matrix_diag.matrix_diag_part(x)
        sizes: Any = shape.shape(diagonal)
        size: Any = sizes[-1]
        exponents = cast.cast(ranges.range_(size, 0, delta=-1), dtype=x.dtype)
        powers = reduction.reduce_sum(exponents * elementwise.log(diagonal), axis=-1)
        return cast.cast(size, x.dtype) * np.log(2.0) + powers


class MatrixInverseTriL(Bijector):
    """``y = x^-1`` of lower triangular matrices.

    Args:
      validate_args: whether values are checked in every step.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.MatrixInverseTriL()
      >>> tf.Session().run(made.forward([[1., 0.], [2., 1.]])).tolist()
      [[1.0, 0.0], [-2.0, 1.0]]
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        dims: Any = shape.shape(x)
        ones = fill.ones(dims[:-1], dtype=x.dtype)
        return linalg_solve.matrix_triangular_solve(x, matrix_diag.matrix_diag(ones))

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x)
        dims: Any = shape.shape(x)
        size = cast.cast(dims[-1], x.dtype)
        diagonal = elementwise.log(elementwise.abs_(matrix_diag.matrix_diag_part(x)))
        # Of the inverse of any matrix of this size, as TensorFlow has it; were only the numbers
        # of the triangle counted, the factor would be size + 1.
        return -2.0 * size * reduction.reduce_sum(diagonal, axis=-1)

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        dims: Any = shape.shape(x)
        lower = matrix_diag.matrix_band_part(x, -1, 0)
        diagonal = matrix_diag.matrix_diag_part(x)
        zero = constant.constant(0.0, dtype=x.dtype)
        found = [
            check.assert_rank_at_least(x, 2, message="Argument must have rank at least 2."),
            check.assert_equal(dims[-2], dims[-1], message="Argument must be square."),
            check.assert_equal(lower, x, message="Argument must be lower triangular."),
            check.assert_none_equal(
                diagonal, zero, message="Argument must be non-singular: no zero on its diagonal."
            ),
        ]
        return control.with_dependencies(found, x)
