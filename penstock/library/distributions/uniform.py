"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import broadcast_to, fill, join, shape
from penstock.ops.control import check, control
from penstock.ops.math import comparison, elementwise, select
from penstock.ops.random import random


class Uniform(Elementwise):
    """The uniform distribution over ``low <= x < high``.

    Args:
      low: lower bounds.
      high: upper bounds, above ``low``; both broadcast.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: the parameters are not of one floating dtype.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Uniform(1., 3.).prob([0., 1., 3.])).tolist()
      [0.0, 0.5, 0.0]
    """

    _elementwise = ("low", "high")

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            found = []
            if validate_args:
                text = "uniform not defined when low >= high."
                found = [check.assert_less(low, high, message=text)]
            with control_dependencies(found):
                self._low: Tensor = control.identity(low, name="low")
                self._high: Tensor = control.identity(high, name="high")
                check.assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._low, self._high],
            name=name,
        )

    @property
    def low(self) -> Tensor:
        """The lower bounds."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper bounds."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """``high - low``."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random.random_uniform(dims, dtype=self.dtype, seed=seed)
        return self.low + self.range() * uniform

    def _prob(self, x: Tensor) -> Any:
        x = x * fill.ones(self.batch_shape_tensor(), dtype=x.dtype)
        is_nan = elementwise.is_nan(x)
        outside = comparison.logical_or(
            comparison.less(x, self.low), comparison.greater_equal(x, self.high)
        )
        none = elementwise.zeros_like(x)
        density = elementwise.ones_like(x) / self.range()
        return select.where_v2(is_nan, x, select.where_v2(outside, none, density))

    def _cdf(self, x: Tensor) -> Any:
        dims = broadcast_to.broadcast_dynamic_shape(shape.shape(x), self.batch_shape_tensor())
        zeros, ones = fill.zeros(dims, dtype=self.dtype), fill.ones(dims, dtype=self.dtype)
        full = x * ones
        below = comparison.less(x, self.low)
        found = select.where_v2(below, zeros, (full - self.low) / self.range())
        return select.where_v2(comparison.greater_equal(x, self.high), ones, found)

    def _entropy(self) -> Any:
        return elementwise.log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return elementwise.square(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
