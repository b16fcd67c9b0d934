"""Distributions the methods of which take further arguments."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions.transformed import TransformedDistribution
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import Distribution


class ConditionalDistribution(Distribution):
    """A distribution the methods of which take further arguments, ``condition_kwargs``.

    Args:
      dtype, reparameterization_type, validate_args, allow_nan_stats, parameters, graph_parents,
        name: as of ``Distribution``.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> class Shifted(ds.ConditionalDistribution):
      ...     def _log_prob(self, x, by):
      ...         return -tf.abs(x - by)
      >>> shifted = Shifted(tf.float32, ds.NOT_REPARAMETERIZED, False, True)
      >>> tf.Session().run(shifted.log_prob(3.0, by=2.0)).item()
      -1.0
    """

    def sample(
        self,
        sample_shape: Any = (),
        seed: int | None = None,
        name: str = "sample",
        **condition_kwargs: Any,
    ) -> Tensor:
        """``Distribution.sample`` with further arguments for ``_sample_n``."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """``Distribution.log_prob`` with further arguments for ``_log_prob``."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """``Distribution.prob`` with further arguments."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """``Distribution.log_cdf`` with further arguments."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """``Distribution.cdf`` with further arguments."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """``Distribution.log_survival_function`` with further arguments."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(
        self, value: Any, name: str = "survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """``Distribution.survival_function`` with further arguments."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """``TransformedDistribution`` of a conditional bijector or distribution.

    The methods take ``bijector_kwargs`` and ``distribution_kwargs``.

    Args:
      distribution, bijector, batch_shape, event_shape, validate_args, name: as of
        ``TransformedDistribution``.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> class Times(ds.bijectors.ConditionalBijector):
      ...     def __init__(self):
      ...         super().__init__(forward_min_event_ndims=0)
      ...     def _inverse(self, y, by):
      ...         return y / by
      >>> made = ds.ConditionalTransformedDistribution(ds.Normal(0.0, 1.0), Times())
      >>> tf.Session().run(made.cdf(0.0, bijector_kwargs={"by": 2.0})).item()
      0.5
    """
