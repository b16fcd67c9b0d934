"""Poisson's distribution of a rate that is of a log-normal one, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.distributions.counts import Poisson
from penstock.contrib.distributions.quadrature import Mixed, quadrature_scheme_lognormal_quantiles
from penstock.foundation.base import shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Categorical, draws
from penstock.library.distributions.checks import last_axis
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.ops.array import broadcast_to, constant, join, onehot, shape
from penstock.ops.math import elementwise, reduction, statistics
from penstock.ops.random import random_gamma


class PoissonLogNormalQuadratureCompound(Mixed, Distribution):
    """``Poisson(rate)``, where rate is of a log-normal distribution, as a mixture of some rates.

    Args:
      loc: means of the logarithm of the rate, ``[...]``.
      scale: standard deviations of the logarithm of the rate; both broadcast.
      quadrature_size: number of rates.
      quadrature_fn: from ``loc``, ``scale``, ``quadrature_size`` and ``validate_args`` to points
        ``[..., quadrature_size]``, which are taken for logarithms of rates, and their weights.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      TypeError: ``loc`` and ``scale`` are of two dtypes.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.PoissonLogNormalQuadratureCompound([0., 1.], 0.5)
      >>> made.batch_shape
      TensorShape([Dimension(2)])
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            loc_: Any = None if loc is None else convert_to_tensor(loc, name="loc")
            kind = loc_.dtype.base_dtype
            scale_: Any = convert_to_tensor(scale, dtype=kind, name="scale")
            grid, probs = quadrature_fn(loc_, scale_, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs "
                    f"dtype ({probs.dtype.name})."
                )
            self._mixture_distribution = Categorical(
                logits=elementwise.log(probs),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            # TensorFlow takes the points for logarithms of rates, whichever the scheme gives.
            self._distribution = Poisson(
                log_rate=grid,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            self._loc, self._scale, self._size = loc_, scale_, quadrature_size
        super().__init__(
            dtype=kind,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[loc_, scale_],
            name=name,
        )

    @property
    def loc(self) -> Any:
        """The means of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of rates."""
        return self._size

    def _batch_shape_tensor(self) -> Any:
        probs = shape.shape(self.mixture_distribution.logits)
        dims = broadcast_to.broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), probs)
        return dims[:-1]

    def _batch_shape(self) -> Any:
        probs = self.mixture_distribution.logits.shape
        return broadcast_to.broadcast_static_shape(self.distribution.batch_shape, probs)[:-1]

    def _event_shape_tensor(self) -> Any:
        return constant.constant([], dtype="int32")

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # A rate for each of the batch; then a count of that rate.
        batch = self.batch_shape_tensor()
        mixture = self.mixture_distribution
        is_one = mixture.batch_shape.ndims == 0
        dims = join.concat([[n], batch], 0) if is_one else [n]
        chosen = mixture.sample(dims, seed=draws.new_seed(seed, "poisson_lognormal"))
        hot = onehot.one_hot(chosen, self._size, dtype=self.dtype)
        rate: Any = reduction.reduce_sum(hot * self.distribution.rate, axis=-1)
        return random_gamma.random_poisson(rate, [], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        each = self.mixture_distribution.logits + self.distribution.log_prob(last_axis(x))
        return statistics.reduce_logsumexp(each, axis=-1)

    def _mean(self) -> Any:
        probs: Any = self.mixture_distribution.probs
        return reduction.reduce_sum(probs * self.distribution.mean(), axis=-1)

    def _variance(self) -> Any:
        probs: Any = self.mixture_distribution.probs
        apart: Any = self.distribution.mean() - last_axis(self._mean())
        each = self.distribution.variance() + elementwise.square(apart)
        return reduction.reduce_sum(probs * each, axis=-1)

    def _stddev(self) -> Any:
        return elementwise.sqrt(self._variance())
