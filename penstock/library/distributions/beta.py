"""The beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import draws
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.divergence import RegisterKL
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import fill, shape
from penstock.ops.control import check, control
from penstock.ops.math import binary, comparison, elementwise, select, special
from penstock.ops.random import random_gamma


class Beta(Elementwise):
    """The beta distribution over ``0 < x < 1``.

    Its density is ``x^(concentration1 - 1) (1 - x)^(concentration0 - 1) / Z``.

    Args:
      concentration1: concentrations of successes, above 0.
      concentration0: concentrations of failures, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Beta(1., 3.).mean()).item()
      0.25
    """

    _elementwise = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _concentration(concentration1, "concentration1", validate_args)
            self._concentration0 = _concentration(concentration0, "concentration0", validate_args)
            check.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration: Tensor = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration1, self._concentration0, self._total_concentration],
            name=name,
        )

    @property
    def concentration1(self) -> Tensor:
        """The concentrations of successes."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The concentrations of failures."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return shape.shape(self.total_concentration)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        total = self.total_concentration
        first = elementwise.ones_like(total) * self.concentration1
        second = elementwise.ones_like(total) * self.concentration0
        gamma1 = random_gamma.random_gamma([n], first, dtype=self.dtype, seed=seed)
        seed = draws.new_seed(seed, "beta")
        gamma0 = random_gamma.random_gamma([n], second, dtype=self.dtype, seed=seed)
        return gamma1 / (gamma1 + gamma0)

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked(x)
        kernel = binary.xlogy(self.concentration1 - 1.0, x) + (
            self.concentration0 - 1.0
        ) * elementwise.log1p(-x)
        return kernel - self._log_normalization()

    def _log_normalization(self) -> Any:
        return (
            elementwise.lgamma(self.concentration1)
            + elementwise.lgamma(self.concentration0)
            - elementwise.lgamma(self.total_concentration)
        )

    def _cdf(self, x: Tensor) -> Any:
        return special.betainc(self.concentration1, self.concentration0, x)

    def _entropy(self) -> Any:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * elementwise.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * elementwise.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * elementwise.digamma(self.total_concentration)
        )

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            number = np.array(np.nan, self.dtype.as_numpy_dtype)
            nan = fill.fill(self.batch_shape_tensor(), number, name="nan")
            defined = comparison.logical_and(
                comparison.greater(self.concentration1, 1.0),
                comparison.greater(self.concentration0, 1.0),
            )
            return select.where_v2(defined, mode, nan)
        found = [
            check.assert_less(
                fill.ones([], dtype=self.dtype),
                getattr(self, each),
                message=f"Mode undefined for {each} <= 1.",
            )
            for each in self._elementwise
        ]
        return control.with_dependencies(found, mode)

    def _checked(self, x: Tensor) -> Any:
        if not self.validate_args:
            return x
        found = [check.assert_positive(x, message="sample must be positive")]
        one = fill.ones([], dtype=self.dtype)
        found.append(check.assert_less(x, one, message="sample must be less than `1`."))
        return control.with_dependencies(found, x)


def _concentration(value: Any, name: str, validate_args: bool) -> Tensor:
    found = convert_to_tensor(value, name=name)
    if not validate_args:
        return found
    text = "Concentration parameter must be positive."
    checked: Tensor = control.with_dependencies([check.assert_positive(found, message=text)], found)
    return checked


@RegisterKL(Beta, Beta)
def _kl_beta_beta(d1: Beta, d2: Beta, name: str | None = None) -> Any:
    parameters = [d1.concentration1, d1.concentration0, d1.total_concentration]
    with name_scope(name, "kl_beta_beta", [*parameters, d2.total_concentration]):
        found = d2._log_normalization() - d1._log_normalization()
        for each in ("concentration1", "concentration0"):
            own, other = getattr(d1, each), getattr(d2, each)
            found = found - elementwise.digamma(own) * (other - own)
        own, other = d1.total_concentration, d2.total_concentration
        return found + elementwise.digamma(own) * (other - own)
