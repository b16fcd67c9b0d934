"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.library.distributions.divergence import RegisterKL
from penstock.library.nn import elementwise_losses
from penstock.ops.array import cast, constant, join, shape
from penstock.ops.control import control
from penstock.ops.math import comparison, elementwise
from penstock.ops.nn import activation
from penstock.ops.random import random


class Bernoulli(Distribution):
    """The Bernoulli distribution: 1 with the probability ``probs``, else 0.

    Args:
      logits: log-odds of 1.
      probs: probabilities of 1; one of both is given.
      dtype: dtype of the events.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Bernoulli(probs=0.25).prob([0, 1])).tolist()
      [0.75, 0.25]
    """

    _elementwise = ("logits",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = checks.logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args, name=name
            )
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    @property
    def logits(self) -> Tensor:
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return shape.shape(self._logits)

    def _batch_shape(self) -> Any:
        return self._logits.shape

    def _event_shape_tensor(self) -> Any:
        return constant.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random.random_uniform(dims, seed=seed, dtype=self.probs.dtype)
        return cast.cast(comparison.less(uniform, self.probs), self.dtype)

    def _log_prob(self, event: Tensor) -> Any:
        if self.validate_args:
            event = checks.casts_to(event, dtypes.bool)
        event = cast.cast(event, self.logits.dtype)
        event, logits = _alike(event, self.logits)
        return -elementwise_losses.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (elementwise.sigmoid(self.logits) - 1.0) + activation.softplus(
            -self.logits
        )

    def _mean(self) -> Any:
        return control.identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return cast.cast(comparison.greater(self.probs, 0.5), self.dtype)


def _alike(event: Tensor, logits: Tensor) -> tuple[Any, Any]:
    """Both, broadcast to one shape where they are not known to have one."""
    known = event.shape.is_fully_defined() and logits.shape.is_fully_defined()
    if known and event.shape == logits.shape:
        return event, logits
    wide = elementwise.ones_like(event) * logits
    return elementwise.ones_like(logits) * event, wide


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        of_1 = activation.softplus(-b.logits) - activation.softplus(-a.logits)
        of_0 = activation.softplus(b.logits) - activation.softplus(a.logits)
        return elementwise.sigmoid(a.logits) * of_1 + elementwise.sigmoid(-a.logits) * of_0
