"""More families of a standard distribution, stretched and moved: Cauchy's, the logistic one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.loc_scale import LocScale
from penstock.ops.array import fill, join
from penstock.ops.math import elementwise
from penstock.ops.nn import activation
from penstock.ops.random import random


class Cauchy(LocScale):
    """The Cauchy distribution, of the density ``1 / (pi scale (1 + ((x - loc) / scale)^2))``.

    Args:
      loc: medians.
      scale: half the distances of the quartiles, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether the mean and the standard deviation, which there are none of, are
        NaN; else they are an error.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Cauchy(0., 1.).cdf(1.)).item()
      0.75
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random.random_uniform(dims, 0.0, 1.0, dtype=self.dtype, seed=seed)
        return self._quantile(uniform)

    def _log_prob(self, x: Tensor) -> Any:
        kernel = -elementwise.log1p(elementwise.square(self._z(x)))
        return kernel - (math.log(math.pi) + elementwise.log(self.scale))

    def _cdf(self, x: Tensor) -> Any:
        return elementwise.atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x: Tensor) -> Any:
        return elementwise.log1p(2.0 / math.pi * elementwise.atan(self._z(x))) - math.log(2.0)

    def _quantile(self, p: Tensor) -> Any:
        return self.loc + self.scale * elementwise.tan(math.pi * (p - 0.5))

    def _entropy(self) -> Any:
        known = math.log(4.0 * math.pi) + elementwise.log(self.scale)
        return known * elementwise.ones_like(self.loc)

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")

    def _undefined(self, statistic: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{statistic}` is undefined for Cauchy distribution.")
        number = np.array(np.nan, self.dtype.as_numpy_dtype)
        return fill.fill(self.batch_shape_tensor(), number)


class Logistic(LocScale):
    """The logistic distribution, of the distribution function ``sigmoid((x - loc) / scale)``.

    Args:
      loc: means.
      scale: above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Logistic(2., 1.).cdf(2.)).item()
      0.5
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        # Not from 0, the logarithm of which is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random.random_uniform(dims, tiny, 1.0, dtype=self.dtype, seed=seed)
        drawn = elementwise.log(uniform) - elementwise.log1p(-1.0 * uniform)
        return drawn * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Any:
        z = self._z(x)
        return -z - 2.0 * activation.softplus(-z) - elementwise.log(self.scale)

    def _log_cdf(self, x: Tensor) -> Any:
        return -activation.softplus(-self._z(x))

    def _cdf(self, x: Tensor) -> Any:
        return elementwise.sigmoid(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return -activation.softplus(self._z(x))

    def _survival_function(self, x: Tensor) -> Any:
        return elementwise.sigmoid(-self._z(x))

    def _entropy(self) -> Any:
        scale = self.scale * elementwise.ones_like(self.loc)
        return 2.0 + elementwise.log(scale)

    def _mean(self) -> Any:
        return self.loc * elementwise.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * elementwise.ones_like(self.loc) * math.pi / math.sqrt(3.0)
