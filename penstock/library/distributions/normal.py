"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import special
from penstock.library.distributions.divergence import RegisterKL
from penstock.library.distributions.loc_scale import LocScale
from penstock.ops.array import constant, join
from penstock.ops.math import binary, elementwise
from penstock.ops.random import random


class Normal(LocScale):
    """The normal distribution, of the density ``exp(-((x - loc) / scale)^2 / 2) / Z``.

    Args:
      loc: means.
      scale: standard deviations, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Normal(0., 1.).cdf(0.)).item()
      0.5
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        return random.random_normal(dims, dtype=self.loc.dtype, seed=seed) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Any:
        return -0.5 * elementwise.square(self._z(x)) - (
            0.5 * math.log(2.0 * math.pi) + elementwise.log(self.scale)
        )

    def _log_cdf(self, x: Tensor) -> Any:
        return special.log_ndtr(self._z(x))

    def _cdf(self, x: Tensor) -> Any:
        return special.ndtr(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return special.log_ndtr(-self._z(x))

    def _survival_function(self, x: Tensor) -> Any:
        return special.ndtr(-self._z(x))

    def _quantile(self, p: Tensor) -> Any:
        z = special.ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self._scale + self._loc

    def _entropy(self) -> Any:
        scale = self.scale * elementwise.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + elementwise.log(scale)

    def _mean(self) -> Any:
        return self.loc * elementwise.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * elementwise.ones_like(self.loc)


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one = constant.constant(1, dtype=a.dtype)
        two = constant.constant(2, dtype=a.dtype)
        half = constant.constant(0.5, dtype=a.dtype)
        variance_a, variance_b = elementwise.square(a.scale), elementwise.square(b.scale)
        ratio = variance_a / variance_b
        apart = binary.squared_difference(a.loc, b.loc) / (two * variance_b)
        return apart + half * (ratio - one - elementwise.log(ratio))
