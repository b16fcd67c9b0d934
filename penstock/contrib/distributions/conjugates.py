"""What is known of a normal distribution's mean after observations, where its scale is known."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base.docstrings import documented_as
from penstock.library.distributions import Normal
from penstock.ops.array import cast
from penstock.ops.math import elementwise


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """The distribution of the mean after n observations.

    Args:
      prior: the ``Normal`` distribution of the mean before them.
      scale: the standard deviation of an observation.
      s: the sum of the observations, of the dtype of ``prior``.
      n: how many they are.

    Returns:
      A ``Normal`` distribution.

    Raises:
      TypeError: ``prior`` is of another class, or ``s`` of another dtype.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> after = ds.normal_conjugates_known_scale_posterior(
      ...     ds.Normal(0., 1.), 1., tf.constant(6.), 2)
      >>> tf.Session().run(after.mean()).item()
      2.0
    """
    loc, variance = _after(prior, scale, s, n)
    return Normal(loc=loc, scale=elementwise.sqrt(variance))


@documented_as(normal_conjugates_known_scale_posterior)
def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """The distribution of the next observation after n.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> after = ds.normal_conjugates_known_scale_predictive(
      ...     ds.Normal(0., 1.), 1., tf.constant(6.), 2)
      >>> round(tf.Session().run(after.variance()).item(), 4)
      1.3333
    """
    loc, variance = _after(prior, scale, s, n)
    return Normal(loc=loc, scale=elementwise.sqrt(variance + elementwise.square(scale)))


def _after(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """The mean and the variance of the mean after n observations: precisions add up."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(
            f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}"
        )
    own = elementwise.square(prior.scale)
    observed = elementwise.square(scale)
    count = cast.cast(n, prior.dtype)
    variance = 1.0 / (1.0 / own + count / observed)
    return (prior.loc / own + s / observed) * variance, variance
