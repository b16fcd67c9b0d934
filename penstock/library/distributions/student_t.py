"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks, draws
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import fill, join
from penstock.ops.control import check, control
from penstock.ops.math import comparison, elementwise, functions, select, special
from penstock.ops.random import random, random_gamma


class StudentT(Elementwise):
    """Student's t distribution: ``loc + scale * t``.

    Its density is that of ``(1 + z^2 / df)^(-(df + 1) / 2) / Z`` for ``z = (x - loc) / scale``.

    Args:
      df: degrees of freedom, above 0.
      loc: centers.
      scale: spreads, not 0 (its sign has no meaning); all three broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.StudentT(3., 0., 1.).variance()).item()
      3.0
    """

    _elementwise = ("df", "loc", "scale")

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with control_dependencies([check.assert_positive(df)] if validate_args else []):
                self._df: Tensor = control.identity(df, name="df")
                self._loc: Tensor = control.identity(loc, name="loc")
                self._scale: Tensor = control.identity(scale, name="scale")
                check.assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._loc, self._scale],
            name=name,
        )

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The centers."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The spreads."""
        return self._scale

    def _ones(self) -> Any:
        return fill.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _filled(self, value: float, name: str | None = None) -> Any:
        number = np.array(value, self.dtype.as_numpy_dtype)
        return fill.fill(self.batch_shape_tensor(), number, name=name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        normal = random.random_normal(dims, dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        gamma = random_gamma.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=draws.new_seed(seed, "student_t")
        )
        return normal * elementwise.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Any:
        z = (x - self.loc) / self.scale
        kernel = -0.5 * (self.df + 1.0) * elementwise.log1p(z**2.0 / self.df)
        scale = elementwise.log(elementwise.abs_(self.scale)) + 0.5 * elementwise.log(self.df)
        return kernel - (
            scale
            + 0.5 * math.log(math.pi)
            + elementwise.lgamma(0.5 * self.df)
            - elementwise.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Tensor) -> Any:
        z = (x - self.loc) / elementwise.abs_(self.scale)
        share = self.df / (z**2.0 + self.df)
        below = 0.5 * special.betainc(0.5 * self.df, 0.5, share)
        return select.where_v2(comparison.less(z, 0.0), below, 1.0 - below)

    def _entropy(self) -> Any:
        ones = checks.last_axis(self._ones())
        halves = join.concat([ones * checks.last_axis(self.df), ones], -1) / 2.0
        return (
            elementwise.log(elementwise.abs_(self.scale))
            + 0.5 * elementwise.log(self.df)
            + functions.lbeta(halves)
            + 0.5
            * (self.df + 1.0)
            * (elementwise.digamma(0.5 * (self.df + 1.0)) - elementwise.digamma(0.5 * self.df))
        )

    def _mean(self) -> Any:
        return self._above_one(self.loc * self._ones(), "mean")

    def _variance(self) -> Any:
        more = select.where_v2(
            comparison.greater(self.df, 2.0), self.df - 2.0, elementwise.ones_like(self.df)
        )
        found = self._ones() * elementwise.square(self.scale) * self.df / more
        finite = comparison.greater(self.df, self._filled(2.0))
        found = select.where_v2(finite, found, self._filled(np.inf, "inf"))
        return self._above_one(found, "variance")

    def _above_one(self, value: Tensor, statistic: str) -> Any:
        """A statistic that is defined with more than one degree of freedom."""
        if self.allow_nan_stats:
            defined = comparison.greater(self.df, self._ones())
            return select.where_v2(defined, value, self._filled(np.nan, "nan"))
        text = f"{statistic} not defined for components of df <= 1"
        one = fill.ones([], dtype=self.dtype)
        return control.with_dependencies([check.assert_less(one, self.df, message=text)], value)

    def _mode(self) -> Any:
        return control.identity(self.loc)
