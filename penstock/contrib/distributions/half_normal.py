"""The half normal distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import special
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import cast, fill, join
from penstock.ops.control import check, control
from penstock.ops.math import elementwise
from penstock.ops.nn import activation
from penstock.ops.random import random


class HalfNormal(Elementwise):
    """The absolute value of a number of the normal distribution of mean 0.

    Args:
      scale: standard deviations of that distribution, above 0.
      validate_args: whether they are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Example:
      >>> import penstock as tf
      >>> round(tf.Session().run(tf.contrib.distributions.HalfNormal(1.).mean()).item(), 4)
      0.7979
    """

    _elementwise: ClassVar[tuple[str, ...]] = ("scale",)

    def __init__(
        self,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with control_dependencies([check.assert_positive(scale)] if validate_args else []):
                self._scale: Tensor = control.identity(scale, name="scale")
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._scale],
            name=name,
        )

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal distribution."""
        return self._scale

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        drawn = random.random_normal(dims, dtype=self.dtype, seed=seed)
        return elementwise.abs_(drawn * self.scale)

    def _prob(self, x: Tensor) -> Any:
        factor = math.sqrt(2.0 / math.pi) / self.scale
        density = factor * elementwise.exp(-0.5 * elementwise.square(x / self.scale))
        not_below: Any = x
        return density * cast.cast(not_below >= 0.0, self.dtype)

    def _cdf(self, x: Tensor) -> Any:
        return elementwise.erf(activation.relu(x) / self.scale / math.sqrt(2.0))

    def _entropy(self) -> Any:
        return 0.5 * elementwise.log(math.pi * elementwise.square(self.scale) / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0 / math.pi)

    def _quantile(self, p: Any) -> Any:
        return self.scale * special.ndtri((p + 1.0) / 2.0)

    def _mode(self) -> Any:
        return fill.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _variance(self) -> Any:
        return elementwise.square(self.scale) * (1.0 - 2.0 / math.pi)
