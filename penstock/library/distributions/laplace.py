"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import special
from penstock.library.distributions.loc_scale import LocScale
from penstock.ops.array import join
from penstock.ops.math import elementwise
from penstock.ops.random import random


class Laplace(LocScale):
    """The Laplace distribution, of the density ``exp(-|x - loc| / scale) / (2 scale)``.

    Args:
      loc: means.
      scale: spreads, above 0; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Laplace(0., 1.).cdf(0.)).item()
      0.5
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, parameters)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        # From just above -1, so that the logarithm is finite.
        lowest = np.nextafter(self.dtype.as_numpy_dtype(-1.0), self.dtype.as_numpy_dtype(0.0))
        uniform = random.random_uniform(dims, lowest, 1.0, dtype=self.dtype, seed=seed)
        sign = self.scale * elementwise.sign(uniform)
        return self.loc - sign * elementwise.log1p(-elementwise.abs_(uniform))

    def _log_prob(self, x: Tensor) -> Any:
        return -elementwise.abs_(self._z(x)) - (math.log(2.0) + elementwise.log(self.scale))

    def _log_cdf(self, x: Tensor) -> Any:
        return special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return special.log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Tensor) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * elementwise.sign(z) * (1.0 - elementwise.exp(-elementwise.abs_(z)))

    def _entropy(self) -> Any:
        scale = self.scale + elementwise.zeros_like(self.loc)
        return math.log(2.0) + 1.0 + elementwise.log(scale)

    def _mean(self) -> Any:
        return self.loc + elementwise.zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + elementwise.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Tensor) -> Any:
        return (x - self.loc) / self.scale
