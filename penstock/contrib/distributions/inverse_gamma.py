"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import constant, fill
from penstock.ops.control import check, control
from penstock.ops.math import elementwise, select, special
from penstock.ops.nn.activation import softplus
from penstock.ops.random import random_gamma


class InverseGamma(Elementwise):
    """1 by a number of the gamma distribution.

    Args:
      concentration: shapes, above 0.
      rate: scales, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.InverseGamma(3., 2.).mean()).item()
      1.0
    """

    _elementwise: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
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
            reparameterization_type=NOT_REPARAMETERIZED,
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
        """The scales."""
        return self._rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return 1.0 / random_gamma.random_gamma(
            [n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked(x)
        kernel = -(1.0 + self.concentration) * elementwise.log(x) - self.rate / x
        return kernel - (
            elementwise.lgamma(self.concentration) - self.concentration * elementwise.log(self.rate)
        )

    def _cdf(self, x: Tensor) -> Any:
        return special.igammac(self.concentration, self.rate / self._checked(x))

    def _entropy(self) -> Any:
        return (
            self.concentration
            + elementwise.log(self.rate)
            + elementwise.lgamma(self.concentration)
            - (1.0 + self.concentration) * elementwise.digamma(self.concentration)
        )

    def _mean(self) -> Any:
        found = self.rate / (self.concentration - 1.0)
        return self._defined_above(1.0, found, "mean")

    def _variance(self) -> Any:
        found = elementwise.square(self.rate) / (
            elementwise.square(self.concentration - 1.0) * (self.concentration - 2.0)
        )
        return self._defined_above(2.0, found, "variance")

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)

    def _defined_above(self, bound: float, found: Any, what: str) -> Any:
        """A statistic that there is where the concentration is above a bound."""
        if self.allow_nan_stats:
            number = np.array(np.nan, self.dtype.as_numpy_dtype)
            nan = fill.fill(self.batch_shape_tensor(), number, name="nan")
            is_defined: Any = self.concentration
            return select.where_v2(is_defined > bound, found, nan)
        least = constant.constant(bound, dtype=self.dtype)
        text = f"{what} undefined when any concentration <= {bound:g}"
        checked = check.assert_less(least, self.concentration, message=text)
        return control.with_dependencies([checked], found)

    def _checked(self, x: Any) -> Any:
        check.assert_same_float_dtype([x], self.dtype)
        if not self.validate_args:
            return x
        return control.with_dependencies([check.assert_positive(x)], x)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """``InverseGamma`` of the softplus of both parameters.

    Args:
      concentration, rate: any numbers, which broadcast.
      validate_args, allow_nan_stats: as of ``InverseGamma``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.InverseGammaWithSoftplusConcentrationRate([-1.], 1.)
      >>> made.batch_shape
      TensorShape([Dimension(1)])
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                softplus(concentration, name="softplus_concentration"),
                softplus(rate, name="softplus_rate"),
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters
