"""The gamma distribution, and the exponential one, which is its case of concentration 1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.divergence import RegisterKL
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import fill, join, shape
from penstock.ops.control import check, control
from penstock.ops.math import binary, comparison, elementwise, select, special
from penstock.ops.random import random, random_gamma


class Gamma(Elementwise):
    """The gamma distribution, of the density ``x^(concentration - 1) exp(-rate x) / Z``.

    Args:
      concentration: shapes, above 0.
      rate: inverse scales, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Gamma(3., 2.).mean()).item()
      1.5
    """

    _elementwise: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            found = []
            if validate_args:
                found = [check.assert_positive(concentration), check.assert_positive(rate)]
            with control_dependencies(found):
                self._concentration: Tensor = control.identity(concentration, name="concentration")
                self._rate: Tensor = control.identity(rate, name="rate")
                check.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=name,
        )

    @property
    def concentration(self) -> Tensor:
        """The shapes."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scales."""
        return self._rate

    def _given(self) -> list[Tensor]:
        return [self._concentration, self._rate]  # Exponential's, too

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return random_gamma.random_gamma(
            [n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked(x)
        kernel = binary.xlogy(self.concentration - 1.0, x) - self.rate * x
        return kernel - (
            elementwise.lgamma(self.concentration) - self.concentration * elementwise.log(self.rate)
        )

    def _cdf(self, x: Tensor) -> Any:
        return special.igamma(self.concentration, self.rate * self._checked(x))

    def _entropy(self) -> Any:
        return (
            self.concentration
            - elementwise.log(self.rate)
            + elementwise.lgamma(self.concentration)
            + (1.0 - self.concentration) * elementwise.digamma(self.concentration)
        )

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / elementwise.square(self.rate)

    def _stddev(self) -> Any:
        return elementwise.sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            number = np.array(np.nan, self.dtype.as_numpy_dtype)
            nan = fill.fill(self.batch_shape_tensor(), number, name="nan")
            return select.where_v2(comparison.greater(self.concentration, 1.0), mode, nan)
        text = "mode not defined when any concentration <= 1"
        one = fill.ones([], dtype=self.dtype)
        found = check.assert_less(one, self.concentration, message=text)
        return control.with_dependencies([found], mode)

    def _checked(self, x: Tensor) -> Any:
        check.assert_same_float_dtype([x], self.dtype)
        if not self.validate_args:
            return x
        return control.with_dependencies([check.assert_positive(x)], x)


class Exponential(Gamma):
    """The exponential distribution, of the density ``rate exp(-rate x)``.

    Args:
      rate: inverse scales, above 0.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: ``rate`` is not floating.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Exponential(2.).mean()).item()
      0.5
    """

    _elementwise: ClassVar[tuple[str, ...]] = ("rate",)

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = convert_to_tensor(rate, name="rate")
        one = fill.ones([], dtype=rate.dtype)
        super().__init__(one, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], shape.shape(self._rate)], 0)
        # Not from 0, the logarithm of which is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random.random_uniform(dims, tiny, 1.0, dtype=self.dtype, seed=seed)
        return -elementwise.log(uniform) / self._rate

    def _log_survival_function(self, value: Tensor) -> Any:
        return self._log_prob(value) - elementwise.log(self._rate)


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Any:
    parameters = [a.concentration, a.rate, b.concentration, b.rate]
    with name_scope(name, "kl_gamma_gamma", parameters):
        return (
            (a.concentration - b.concentration) * elementwise.digamma(a.concentration)
            + elementwise.lgamma(b.concentration)
            - elementwise.lgamma(a.concentration)
            + b.concentration * elementwise.log(a.rate)
            - b.concentration * elementwise.log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )
