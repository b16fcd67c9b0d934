"""The Wishart distribution of positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.opdef import static
from penstock.library.distributions import checks, draws
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.library.linear_operators import LinearOperatorLowerTriangular
from penstock.ops.array import cast, fill, join, ranges, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import linalg, matmul, matrix_diag
from penstock.ops.math import elementwise, reduction, select
from penstock.ops.random import random, random_gamma


class _Wishart(Distribution):
    """The distribution of a Cholesky factor of its scale, a linear operator."""

    def __init__(
        self, df: Any, scale_operator: Any, cholesky_input_output_matrices: bool,
        validate_args: bool, allow_nan_stats: bool, name: str, parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        with name_scope(name) as name, name_scope("init", values=[df]):
            kind = scale_operator.dtype
            if not kind.is_floating:
                raise TypeError(f"scale_operator.dtype={kind} is not a floating-point type.")
            df_: Any = convert_to_tensor(df, dtype=kind, name="df")
            check.assert_same_float_dtype([df_], kind)
            size = scale_operator.domain_dimension.value
            if size is None:
                dimension: Any = cast.cast(scale_operator.domain_dimension_tensor(), kind)
            else:
                dimension = convert_to_tensor(size, dtype=kind, name="dimension")
            df_ = _checked_df(df_, size, dimension, validate_args)
        self._df, self._dimension = df_, dimension
        self._scale_operator = scale_operator
        self._in_factors = cholesky_input_output_matrices
        super().__init__(
            dtype=kind,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[df_, dimension, *scale_operator.graph_parents],
            name=name,
        )

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    @property
    def dimension(self) -> Any:
        """The number of rows of an event, in the dtype of events."""
        return self._dimension

    @property
    def scale_operator(self) -> Any:
        """The Cholesky factor of the scale, as a linear operator."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether events are given and returned as their Cholesky factors."""
        return self._in_factors

    def scale(self) -> Any:
        """The scale; its Cholesky factor where events are such."""
        return self._factor() if self._in_factors else self._square()

    def _factor(self) -> Any:
        return self._scale_operator.to_dense()

    def _square(self) -> Any:
        return self._scale_operator.matmul(self._factor(), adjoint_arg=True)

    def _batch_shape_tensor(self) -> Any:
        return self._scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._scale_operator.batch_shape

    def _event_shape_tensor(self) -> Any:
        size = self._scale_operator.domain_dimension_tensor()
        return join.stack([size, size])

    def _event_shape(self) -> Any:
        size = self._scale_operator.domain_dimension
        return [size, size]

    def _per_row(self, function: Any, half_df: Any) -> Any:
        """The sum of ``function(df / 2 - j / 2)`` over the rows j = 0 ... k - 1."""
        rows = ranges.range_(0, self._size(), dtype=dtypes.int32)
        halves = 0.5 * cast.cast(rows, self.dtype)
        return reduction.reduce_sum(function(checks.last_axis(half_df) - halves), axis=-1)

    def _size(self) -> Any:
        known = self._scale_operator.domain_dimension.value
        return self._scale_operator.domain_dimension_tensor() if known is None else known

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Bartlett: below the diagonal normal numbers, on it roots of chi-squared ones.
        dims = join.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        normal = random.random_normal(dims, dtype=self.dtype, seed=seed)
        rows = 0.5 * cast.cast(ranges.range_(0, self._size(), dtype=dtypes.int32), self.dtype)
        size: Any = self._size()
        ones = fill.ones(join.concat([self.batch_shape_tensor(), [size]], 0), dtype=self.dtype)
        alpha = ones * (0.5 * checks.last_axis(self.df) - rows)
        gamma = random_gamma.random_gamma(
            [n], alpha, beta=0.5, dtype=self.dtype, seed=draws.new_seed(seed, "wishart")
        )
        lower = matrix_diag.matrix_band_part(normal, -1, 0)
        x = self._scale_operator.matmul(matrix_diag.matrix_set_diag(lower, elementwise.sqrt(gamma)))
        return x if self._in_factors else matmul.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        factor: Any = x if self._in_factors else linalg.cholesky(x)
        scaled = self._scale_operator.solve(factor)
        trace: Any = reduction.reduce_sum(elementwise.square(scaled), axis=[-2, -1])
        diagonal = matrix_diag.matrix_diag_part(factor)
        half_log_det: Any = reduction.reduce_sum(elementwise.log(diagonal), axis=[-1])
        power = (self.df - self.dimension - 1.0) * half_log_det
        return power - 0.5 * trace - self.log_normalization()

    def _entropy(self) -> Any:
        half = 0.5 * self.df
        return (
            self.log_normalization()
            - (half - 0.5 * self.dimension - 0.5) * self.mean_log_det()
            + half * self.dimension
        )

    def _outer(self, x: Any) -> Any:
        """``x``, batch-wise numbers, with two dims of matrices."""
        return checks.last_axis(checks.last_axis(x))

    def _mean(self) -> Any:
        if self._in_factors:
            return self._outer(elementwise.sqrt(self.df)) * self._factor()
        return self._outer(self.df) * self._square()

    def _variance(self) -> Any:
        square = self._square()
        diagonal: Any = elementwise.sqrt(matrix_diag.matrix_diag_part(square))
        column = checks.last_axis(diagonal)
        outer: Any = elementwise.square(matmul.matmul(column, column, adjoint_b=True))
        found = self._outer(self.df) * (elementwise.square(square) + outer)
        return linalg.cholesky(found) if self._in_factors else found

    def _stddev(self) -> Any:
        if self._in_factors:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make "
                "sense."
            )
        # TensorFlow's: no root of each number, but a Cholesky factor.
        return linalg.cholesky(self.variance())

    def _mode(self) -> Any:
        rest = self.df - self.dimension - 1.0
        nan = fill.fill(shape.shape(rest), np.array(np.nan, self.dtype.as_numpy_dtype))
        rest = select.where(rest < 0.0, nan, rest)
        if self._in_factors:
            return self._outer(elementwise.sqrt(rest)) * self._factor()
        return self._outer(rest) * self._square()

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """The mean of the logarithm of the determinant of an event."""
        with self._name_scope(name):
            return (
                self._per_row(elementwise.digamma, 0.5 * self.df)
                + self.dimension * math.log(2.0)
                + 2.0 * self._scale_operator.log_abs_determinant()
            )

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            k = self.dimension
            gammas = self._per_row(elementwise.lgamma, 0.5 * self.df)
            return (
                self.df * self._scale_operator.log_abs_determinant()
                + 0.5 * self.df * k * math.log(2.0)
                + gammas
                + 0.25 * math.log(math.pi) * k * (k - 1.0)
            )


def _checked_df(df: Any, size: int | None, dimension: Any, validate_args: bool) -> Any:
    known = static.constant_value(df)
    if known is not None and size is not None:
        if (known < size).any():
            raise ValueError(
                f"Degrees of freedom (df = {known}) cannot be less than dimension of scale matrix "
                f"(scale.dimension = {float(size)})"
            )
        return df
    if not validate_args:
        return df
    text = "Degrees of freedom (df) cannot be less than dimension of scale matrix"
    return control.with_dependencies([check.assert_less_equal(dimension, df, message=text)], df)


def _operator(factor: Any) -> Any:
    return LinearOperatorLowerTriangular(
        tril=factor, is_non_singular=True, is_positive_definite=True, is_square=True
    )


class WishartCholesky(_Wishart):
    """The Wishart distribution of a scale that is given by its Cholesky factor.

    Args:
      df: degrees of freedom, not below k.
      scale: Cholesky factors of the scale, lower triangular, ``[..., k, k]``.
      cholesky_input_output_matrices: whether events are given and returned as such factors.
      validate_args: whether parameters are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: ``df`` is known to be below k.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.WishartCholesky(3., scale=[[1., 0.], [1., 1.]])
      >>> tf.Session().run(made.mean()).tolist()
      [[3.0, 3.0], [3.0, 6.0]]
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name, name_scope("init", values=[scale]):
            factor: Any = convert_to_tensor(scale)
            if validate_args:
                diagonal = matrix_diag.matrix_diag_part(factor)
                dims: Any = shape.shape(factor)
                found = [
                    check.assert_positive(diagonal, message="scale must be positive definite"),
                    check.assert_equal(dims[-1], dims[-2], message="scale must be square"),
                ]
                factor = control.with_dependencies(found, factor)
            operator = _operator(factor)
        super().__init__(
            df, operator, cholesky_input_output_matrices, validate_args, allow_nan_stats, name,
            parameters,
        )  # fmt: skip


class WishartFull(_Wishart):
    """The Wishart distribution of a scale.

    Args:
      df: degrees of freedom, not below k.
      scale: symmetric and positive definite, ``[..., k, k]``.
      cholesky_input_output_matrices: whether events are given and returned as Cholesky factors.
      validate_args: whether parameters are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: ``df`` is known to be below k.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.WishartFull(3., scale=[[4., 0.], [0., 1.]])
      >>> tf.Session().run(made.mean()).tolist()
      [[12.0, 0.0], [0.0, 3.0]]
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[scale]):
            whole: Any = convert_to_tensor(scale)
            found = []
            if validate_args:
                dims: Any = shape.shape(whole)
                text = "scale must be square"
                found.append(check.assert_equal(dims[-1], dims[-2], message=text))
            factor: Any = linalg.cholesky(whole)
            if validate_args:
                diagonal = matrix_diag.matrix_diag_part(factor)
                text = "scale must be positive definite"
                found.append(check.assert_positive(diagonal, message=text))
            factor = control.with_dependencies(found, factor)
            operator = _operator(factor)
        super().__init__(
            df, operator, cholesky_input_output_matrices, validate_args, allow_nan_stats, name,
            parameters,
        )  # fmt: skip
