"""Distributions of vectors: numbers drawn from one distribution, moved and stretched together.

``VectorLinearOperator`` is what they share: ``loc + scale z``, where ``scale`` is a linear operator
and the numbers of z are drawn one by one.
"""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions import scales
from penstock.contrib.distributions.bijectors import (
    Affine,
    AffineLinearOperator,
    Chain,
    SinhArcsinh,
)
from penstock.contrib.distributions.transformed import TransformedDistribution
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Exponential, Laplace, Normal
from penstock.library.linear_operators import LinearOperatorLowRankUpdate
from penstock.ops.array import constant, fill, join
from penstock.ops.control import control
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import elementwise


class VectorLinearOperator(TransformedDistribution):
    """``loc + scale z``, where the numbers of z are of a distribution of scalars.

    Args:
      distribution: makes the distribution of a number of z, of a dtype.
      moments: its mean and variance.
      loc: ``[..., k]`` or None.
      scale: a linear operator ``[..., k, k]``.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN.
      parameters: what the constructor was given.

    Raises:
      TypeError: ``scale`` is not floating.
      ValueError: there is no ``scale``.
    """

    def __init__(
        self, distribution: Any, moments: tuple[float, float], loc: Any, scale: Any,
        validate_args: bool, allow_nan_stats: bool, name: str, parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]):
            # The bijector's own nodes are made in the scope, too.
            loc = None if loc is None else convert_to_tensor(loc, name="loc", dtype=scale.dtype)
            batch, event = scales.shapes_of(loc, scale)
            made = distribution(scale.dtype.base_dtype)
            bijector = AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args)
            super().__init__(
                distribution=made,
                bijector=bijector,
                batch_shape=batch,
                event_shape=event,
                validate_args=validate_args,
                name=name,
            )
        self._moments = moments
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """What is added, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _dims(self) -> Any:
        known = self.batch_shape.concatenate(self.event_shape)
        if known.is_fully_defined():
            return known.as_list()
        return join.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _at_loc(self) -> Any:
        """``loc``, of the shape of a batch and an event."""
        dims = self._dims()
        if self.loc is None:
            return fill.zeros(dims, dtype=self.dtype)
        if isinstance(dims, list) and self.loc.shape.is_fully_defined():
            if self.loc.shape.as_list() == dims:
                return control.identity(self.loc)
        return self.loc + fill.zeros(dims, dtype=self.dtype)

    def _mean(self) -> Any:
        middle, _ = self._moments
        if not middle:
            return self._at_loc()
        ones = fill.ones(self._dims(), dtype=self.dtype)
        found = self.scale.matvec(middle * ones)
        return found if self.loc is None else self.loc + found

    def _mode(self) -> Any:
        return self._at_loc()

    def _is_diagonal(self) -> bool:
        return isinstance(self.scale, scales.DIAGONAL)

    def _outer(self) -> Any:
        """``scale scale^T``."""
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _widened(self, found: Any, ndims: int) -> Any:
        """``found`` in the batch shape, which may be that of ``loc`` alone."""
        if self.loc is None or self.loc.shape.ndims in (0, 1):
            return found
        event = self.event_shape_tensor()
        dims = join.concat([self.batch_shape_tensor(), *[event] * ndims], 0)
        return found + fill.zeros(dims, dtype=self.dtype)

    def _covariance(self) -> Any:
        _, variance = self._moments
        if self._is_diagonal():
            squares: Any = elementwise.square(self.scale.diag_part())
            return matrix_diag.matrix_diag(_times(variance, squares))
        return _times(variance, self._outer())

    def _variance(self) -> Any:
        _, variance = self._moments
        if self._is_diagonal():
            return _times(variance, elementwise.square(self.scale.diag_part()))
        return _times(variance, matrix_diag.matrix_diag_part(self._products()))

    def _products(self) -> Any:
        scale = self.scale
        if isinstance(scale, LinearOperatorLowRankUpdate) and scale.is_self_adjoint:
            return scale.matmul(scale.to_dense())
        return self._outer()

    def _stddev(self) -> Any:
        _, variance = self._moments
        if self._is_diagonal():
            return _times(variance**0.5, elementwise.abs_(self.scale.diag_part()))
        found = elementwise.sqrt(matrix_diag.matrix_diag_part(self._products()))
        return _times(variance**0.5, found)


def _times(factor: float, x: Any) -> Any:
    return x if factor == 1.0 else factor * x


def _standard_exponential(dtype: Any) -> Any:
    return Exponential(rate=fill.ones([], dtype=dtype))


def _standard_laplace(dtype: Any) -> Any:
    return Laplace(loc=fill.zeros([], dtype=dtype), scale=fill.ones([], dtype=dtype))


class VectorExponentialDiag(VectorLinearOperator):
    """``loc + scale z``, where the numbers of z are of the exponential distribution of rate 1.

    Args:
      loc: ``[..., k]``; zeros by default.
      scale_diag: the diagonal of ``scale``, ``[..., k]``.
      scale_identity_multiplier: what is added to all of it, ``[...]``.
      validate_args: whether the diagonal is checked to be without zeros.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither ``loc`` nor ``scale_diag`` is given.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.VectorExponentialDiag([1., 1.], scale_diag=[1., 2.])
      >>> tf.Session().run(made.mean()).tolist()
      [2.0, 3.0]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as name:
            with name_scope("init"):
                scale = scales.diagonal(loc, scale_diag, scale_identity_multiplier)
            super().__init__(
                _standard_exponential, (1.0, 1.0), loc, scale, validate_args, allow_nan_stats,
                name, parameters,
            )  # fmt: skip


class VectorLaplaceDiag(VectorLinearOperator):
    """``loc + scale z``, where the numbers of z are of the standard Laplace distribution.

    Args:
      loc: ``[..., k]``; zeros by default.
      scale_diag: the diagonal of ``scale``, ``[..., k]``.
      scale_identity_multiplier: what is added to all of it, ``[...]``.
      validate_args: whether the diagonal is checked to be without zeros.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither ``loc`` nor ``scale_diag`` is given.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.VectorLaplaceDiag([1., 1.], scale_diag=[1., 2.])
      >>> tf.Session().run(made.variance()).tolist()
      [2.0, 8.0]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name), name_scope("init"):
            scale = scales.diagonal(loc, scale_diag, scale_identity_multiplier)
        super().__init__(
            _standard_laplace, (0.0, 2.0), loc, scale, validate_args, allow_nan_stats, name,
            parameters,
        )  # fmt: skip


class VectorSinhArcsinhDiag(TransformedDistribution):
    """``loc + scale F(z) 2 / F0(2)`` of vectors, where F makes the tails and sides of z other.

    F is ``bijectors.SinhArcsinh(skewness, tailweight)``, and F0 that of ``skewness`` 0, so that
    ``scale`` means as much whatever the tails are.

    Args:
      loc: ``[..., k]``; zeros by default.
      scale_diag: the diagonal of ``scale``, ``[..., k]``.
      scale_identity_multiplier: what is added to all of it, ``[...]``.
      skewness: to which side values lean, ``[...]`` or ``[..., k]``; 0 by default.
      tailweight: how heavy the tails are, above 0, likewise; 1 by default.
      distribution: the distribution of a number of z; the standard normal one by default.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: neither ``loc`` nor ``scale_diag`` is given.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.VectorSinhArcsinhDiag(scale_diag=[1., 2.])
      >>> made.event_shape
      TensorShape([Dimension(2)])

    Source: Jones, M. C. and Pewsey, A. "Sinh-arcsinh distributions". Biometrika 96 (2009).
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=values) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            tailweight = 1.0 if tailweight is None else tailweight
            has_default_skewness = skewness is None
            skewness = 0.0 if has_default_skewness else skewness
            scale_ = scales.diagonal(loc, scale_diag, scale_identity_multiplier)
            batch, event = scales.shapes_of(loc, scale_)
            kind = scale_.dtype.base_dtype
            if distribution is None:
                distribution = Normal(fill.zeros([], dtype=kind), fill.ones([], dtype=kind))
            skewness = convert_to_tensor(skewness, dtype=kind, name="skewness")
            tailweight = convert_to_tensor(tailweight, dtype=kind, name="tailweight")
            bent, plain = bent_and_plain(skewness, tailweight, has_default_skewness)
            factor = at_two(plain, kind)
            # scale F(z) 2 / F0(2) + loc, of which the factor is a part of the scale.
            multiplier: Any = None
            if scale_diag is None:
                one = 1.0 if scale_identity_multiplier is None else scale_identity_multiplier
                multiplier = convert_to_tensor(one, dtype=kind) * factor
                affine = Affine(
                    shift=loc, scale_identity_multiplier=multiplier, validate_args=validate_args
                )
            else:
                affine = Affine(
                    shift=loc, scale_diag=scale_.diag_part() * factor, validate_args=validate_args
                )
            self._given = (loc, scale_, tailweight, skewness)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, bent]),
                batch_shape=batch,
                event_shape=event,
                validate_args=validate_args,
                name=name,
            )
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """What is added, or None."""
        return self._given[0]

    @property
    def scale(self) -> Any:
        """The linear operator of the scale."""
        return self._given[1]

    @property
    def tailweight(self) -> Any:
        """How heavy the tails are."""
        return self._given[2]

    @property
    def skewness(self) -> Any:
        """To which side values lean."""
        return self._given[3]


def bent_and_plain(skewness: Any, tailweight: Any, has_default_skewness: bool) -> tuple[Any, Any]:
    """The bijector of both parameters, and that of the tails alone."""
    bent = SinhArcsinh(skewness=skewness, tailweight=tailweight)
    if has_default_skewness:
        return bent, bent
    zero = constant.constant(0.0, dtype=skewness.dtype)
    return bent, SinhArcsinh(skewness=zero, tailweight=tailweight)


def at_two(plain: Any, kind: Any) -> Any:
    """By what values are multiplied so that 2 stays 2."""
    two = constant.constant(2.0, dtype=kind)
    return two / plain.forward(two)
