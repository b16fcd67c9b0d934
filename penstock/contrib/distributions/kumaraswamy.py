"""Kumaraswamy's distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.distributions import bijectors
from penstock.contrib.distributions.transformed import TransformedDistribution
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Uniform
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.ops.array import broadcast_to, constant, fill, shape
from penstock.ops.control import check, control
from penstock.ops.math import binary, comparison, elementwise, select


class Kumaraswamy(TransformedDistribution):
    """The distribution of the cdf ``1 - (1 - x^a)^b`` over 0 to 1, nearly a beta distribution.

    Args:
      concentration1: the a, above 0.
      concentration0: the b, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Kumaraswamy(1., 1.).mean()).item()
      0.5
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            a: Any = convert_to_tensor(concentration1, name="concentration1")
            b: Any = convert_to_tensor(concentration0, name="concentration0")
        known = broadcast_to.broadcast_static_shape(a.shape, b.shape)
        if known.is_fully_defined():
            batch: Any = known.as_list()
        else:
            batch = broadcast_to.broadcast_dynamic_shape(shape.shape(a), shape.shape(b))
        kind = a.dtype.base_dtype
        super().__init__(
            distribution=Uniform(
                low=fill.zeros([], dtype=kind),
                high=fill.ones([], dtype=kind),
                allow_nan_stats=allow_nan_stats,
            ),
            bijector=bijectors.Kumaraswamy(
                concentration1=a, concentration0=b, validate_args=validate_args
            ),
            batch_shape=batch,
            name=name,
        )
        self._reparameterization_type = FULLY_REPARAMETERIZED
        self._parameters = parameters

    @property
    def concentration1(self) -> Any:
        """The exponent of a value."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """The exponent of 1 less that power."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        # TensorFlow's formula; the entropy itself has a and b exchanged and its logarithms
        # subtracted.
        a, b = self.concentration1, self.concentration0
        harmonic = elementwise.digamma(b + 1.0) + np.euler_gamma
        return (
            (1.0 - 1.0 / a) + (1.0 - 1.0 / b) * harmonic + elementwise.log(a) + elementwise.log(b)
        )

    def _moment(self, n: int) -> Any:
        """The mean of the n-th power: ``b B(1 + n / a, b)``."""
        a, b = self.concentration1, self.concentration0
        first = 1.0 + n / a
        log_beta = elementwise.lgamma(first) + elementwise.lgamma(b) - elementwise.lgamma(first + b)
        return b * elementwise.exp(log_beta)

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - elementwise.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        found = binary.pow_((a - 1.0) / (a * b - 1.0), 1.0 / a)
        if self.allow_nan_stats:
            number = np.array(np.nan, self.dtype.as_numpy_dtype)
            nan = fill.fill(self.batch_shape_tensor(), number, name="nan")
            is_defined = comparison.logical_and(a > 1.0, b > 1.0)
            return select.where_v2(is_defined, found, nan)
        one = constant.constant(1.0, dtype=self.dtype)
        checked = [
            check.assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
            check.assert_less(one, b, message="Mode undefined for concentration0 <= 1."),
        ]
        return control.with_dependencies(checked, found)
