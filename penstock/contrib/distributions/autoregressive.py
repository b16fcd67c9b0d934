"""``Autoregressive``: each number of an event is drawn given those before it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.library.distributions import draws
from penstock.library.distributions.distribution import Distribution


class Autoregressive(Distribution):
    """A distribution of vectors of which a number depends on the numbers before it.

    Args:
      distribution_fn: from an event to the distribution of such events; what it gives number i
        may depend on numbers before i alone.
      sample0: the event that drawing starts from; None where ``distribution_fn`` needs none.
      num_steps: how often all numbers are drawn anew; by default as many times as there are.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      NotImplementedError: ``num_steps`` is not given, nor the shape of an event known.
      ValueError: ``num_steps`` is below 1.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> def given(x):
      ...     return ds.Independent(ds.Normal(tf.cumsum(x, exclusive=True), 1.), 1)
      >>> ds.Autoregressive(given, sample0=[0., 0.]).event_shape
      TensorShape([Dimension(2)])

    Source: Papamakarios, G., Pavlakou, T. and Murray, I. "Masked autoregressive flow for density
    estimation". NeurIPS 2017.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
                if num_steps is None:
                    raise NotImplementedError(
                        "distribution_fn must generate a distribution with fully known "
                        "`event_shape`"
                    )
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            dtype=first.dtype,
            reparameterization_type=first.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            name=name,
        )

    @property
    def distribution_fn(self) -> Callable[..., Any]:
        """From an event to the distribution of events given those before."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """The event that drawing starts from, or None."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often all numbers are drawn anew."""
        return self._num_steps

    @property
    def distribution0(self) -> Any:
        """The distribution given ``sample0``."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Every round must draw from the same random numbers, so that what is right already is
        # drawn as it was; without a seed they would differ.
        seed = draws.new_seed(_any_seed() if seed is None else seed, "Autoregressive")
        drawn = self.distribution0.sample(n, seed=seed)
        for _ in range(self.num_steps):
            drawn = self.distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)


def _any_seed() -> int:
    """A seed that nobody chose; where the graph has one, always the same at the same place."""
    graph = get_default_graph()
    if graph.seed is None:
        return secrets.randbelow(2**31)
    return int(graph.seed) + len(graph.get_operations())
