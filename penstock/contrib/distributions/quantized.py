"""``QuantizedDistribution``: numbers rounded up to integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import checks
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.ops.control import check, control
from penstock.ops.math import elementwise, select


class QuantizedDistribution(Distribution):
    """The distribution of ``ceil(x)``, where x is of another, within bounds.

    The probability beyond a bound is that of the bound.

    Args:
      distribution: the distribution of x, of scalars, with a cdf.
      low: the least event, an integer; none by default.
      high: the greatest event, above ``low``; none by default.
      validate_args: whether bounds and values are checked in every step.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> made = ds.QuantizedDistribution(ds.Uniform(0., 2.))
      >>> tf.Session().run(made.prob([1., 2., 3.])).tolist()
      [0.5, 0.5, 0.0]
    """

    def __init__(
        self,
        distribution: Any,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        parameters = dict(locals())
        self._dist = distribution
        kind = distribution.dtype
        with name_scope(name, values=[low, high]) as name:
            low_: Any = None if low is None else convert_to_tensor(low, dtype=kind, name="low")
            high_: Any = None if high is None else convert_to_tensor(high, dtype=kind, name="high")
            found = []
            if validate_args:
                found = [_integer(bound) for bound in (low_, high_) if bound is not None]
                if low_ is not None and high_ is not None:
                    text = "low must be strictly less than high."
                    found.append(check.assert_less(low_, high_, message=text))
            if found:
                low_ = low_ if low_ is None else control.with_dependencies(found, low_)
                high_ = high_ if high_ is None else control.with_dependencies(found, high_)
            self._low, self._high = low_, high_
        super().__init__(
            dtype=kind,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[bound for bound in (self._low, self._high) if bound is not None],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of what is rounded."""
        return self._dist

    @property
    def low(self) -> Any:
        """The least event, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The greatest event, or None."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        x = self.distribution.sample(n, seed=seed)
        found = elementwise.ceil(x)
        if self._low is not None:
            found = select.where_v2(found < self._low, self._low, found)
        if self._high is not None:
            found = select.where_v2(found > self._high, self._high, found)
        return found

    def _checked(self, y: Any) -> Any:
        return control.with_dependencies([_integer(y)], y) if self.validate_args else y

    def _bounded(self, j: Any, found: Any, below: float, above: float) -> Any:
        """``found`` at j, but ``below`` under the least event, ``above`` from the greatest on."""
        if self._low is not None:
            found = select.where_v2(j < self._low, _like(below, found), found)
        if self._high is not None:
            found = select.where_v2(j >= self._high, _like(above, found), found)
        return found

    def _cdf(self, y: Any) -> Any:
        j = elementwise.floor(self._checked(y))
        return self._bounded(j, self.distribution.cdf(j), 0.0, 1.0)

    def _log_cdf(self, y: Any) -> Any:
        j = elementwise.floor(self._checked(y))
        return self._bounded(j, self.distribution.log_cdf(j), -np.inf, 0.0)

    def _survival_function(self, y: Any) -> Any:
        j = elementwise.ceil(self._checked(y))
        return self._bounded(j, self.distribution.survival_function(j), 1.0, 0.0)

    def _log_survival_function(self, y: Any) -> Any:
        j = elementwise.ceil(self._checked(y))
        return self._bounded(j, self.distribution.log_survival_function(j), 0.0, -np.inf)

    def _prob(self, y: Any) -> Any:
        # Of the two tails the lighter one, in which a difference keeps its digits.
        below = self.cdf(y)
        try:
            above = self.survival_function(y)
        except NotImplementedError:
            return below - self.cdf(y - 1.0)
        is_above = above < below
        big = select.where_v2(is_above, self.survival_function(y - 1.0), below)
        small = select.where_v2(is_above, above, self.cdf(y - 1.0))
        return big - small

    def _log_prob(self, y: Any) -> Any:
        below = self.log_cdf(y)
        try:
            above = self.log_survival_function(y)
        except NotImplementedError:
            return _log_difference(below, self.log_cdf(y - 1.0))
        is_above = above < below
        big = select.where_v2(is_above, self.log_survival_function(y - 1.0), below)
        small = select.where_v2(is_above, above, self.log_cdf(y - 1.0))
        return _log_difference(big, small)


def _integer(x: Any) -> Any:
    with name_scope("check_integer", values=[x]):
        return checks.integer_form(x, message="value has non-integer components.")


def _like(number: float, like: Any) -> Any:
    return convert_to_tensor(np.array(number, like.dtype.as_numpy_dtype))


def _log_difference(big: Any, small: Any) -> Any:
    """``log(exp(big) - exp(small))``."""
    return big + elementwise.log1p(-elementwise.exp(small - big))
