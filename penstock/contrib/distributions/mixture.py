"""Mixtures: of distributions of any families, and of a batch of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import Categorical, checks, draws
from penstock.library.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
)
from penstock.ops.array import cast, join, onehot, reshape, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul
from penstock.ops.math import elementwise, reduction, select, statistics
from penstock.ops.nn import softmax


class Mixture(Distribution):
    """A mixture of distributions, which may be of several families.

    Args:
      cat: the ``Categorical`` distribution of which one is drawn.
      components: the distributions, alike in their shapes and dtype.
      validate_args: whether shapes are checked in every step, where they are not known before.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.
      use_static_graph: accepted; a sample draws from all components, whatever it is.

    Raises:
      TypeError: ``cat`` or a component is no such distribution, or dtypes differ.
      ValueError: there are no components, or not as many as ``cat`` has classes.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> two = [ds.Normal(0., 1.), ds.Normal(4., 1.)]
      >>> mixture = ds.Mixture(ds.Categorical(probs=[.5, .5]), two)
      >>> tf.Session().run(mixture.mean()).item()
      2.0
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        _check_components(cat, components)
        batch = cat.batch_shape
        event = components[0].event_shape
        for each in components:
            batch = batch.merge_with(each.batch_shape)
            event = event.merge_with(each.event_shape)
        if event.ndims is None:
            raise ValueError("Expected to know rank(event_shape) from at least one component")
        with name_scope(name, values=[cat.logits]) as name:
            count = dimension_value(cat.logits.shape[-1])
            if count is not None and count != len(components):
                raise ValueError(
                    f"cat.num_classes != len(components): {count} vs. {len(components)}"
                )
            self._checks = []
            if validate_args:
                self._checks = _same_shapes(cat, components)
        self._cat, self._components = cat, list(components)
        self._known = (batch, event)
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[cat.logits, cat.probs],
            name=name,
        )

    @property
    def cat(self) -> Any:
        """The distribution of which component is drawn."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """The distributions."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return len(self._components)

    def _batch_shape_tensor(self) -> Any:
        return self._cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._known[0]

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._known[1]

    def _checked(self, x: Any) -> Any:
        return control.with_dependencies(self._checks, x) if self._checks else x

    def _weights(self) -> list[Any]:
        """The probability of each component, with dims for an event."""
        probs: Any = self._cat.probs
        each = [probs[..., i] for i in range(self.num_components)]
        for _ in range(self.event_shape.ndims or 0):
            each = [checks.last_axis(one) for one in each]
        return each

    def _mean(self) -> Any:
        total: Any = 0.0
        for weight, each in zip(self._weights(), self._components, strict=True):
            total = total + weight * each.mean()
        return self._checked(total)

    def _stddev(self) -> Any:
        # The variance of all is the mean of the variances and the variance of the means.
        middle, total = 0.0, 0.0  # type: Any, Any
        for weight, each in zip(self._weights(), self._components, strict=True):
            mean = each.mean()
            middle = middle + weight * mean
            square = elementwise.square(mean) + elementwise.square(each.stddev())
            total = total + weight * square
        return self._checked(elementwise.sqrt(total - elementwise.square(middle)))

    def _mixed(self, values: list[Any]) -> Any:
        """``log(sum of weight exp(value))`` over components."""
        logs: Any = softmax.log_softmax(self._cat.logits)
        each = [logs[..., i] + value for i, value in enumerate(values)]
        return self._checked(statistics.reduce_logsumexp(join.stack(each, axis=0), axis=[0]))

    def _log_prob(self, x: Any) -> Any:
        return self._mixed([each.log_prob(x) for each in self._components])

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed([each.log_cdf(x) for each in self._components])

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        drawn = self._cat.sample(n, seed=draws.new_seed(seed, "mixture"))
        # As dims of a sample: those of an event have one number each.
        chosen = onehot.one_hot(drawn, self.num_components, dtype=self.dtype)
        total: Any = 0
        for i, each in enumerate(self._components):
            seed = draws.new_seed(seed, f"mixture component {i}")
            weight: Any = chosen[..., i]
            for _ in range(self.event_shape.ndims or 0):
                weight = checks.last_axis(weight)
            total = total + _where_chosen(weight, each.sample(n, seed=seed))
        return self._checked(total)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """A number that the entropy is not below: the mean of those of the components.

        Returns:
          A tensor of the shape ``batch_shape``.
        """
        with self._name_scope(name):
            probs: Any = self._cat.probs
            total: Any = 0.0
            for i, each in enumerate(self._components):
                total = total + probs[..., i] * each.entropy()
            return self._checked(total)


def _where_chosen(weight: Any, drawn: Any) -> Any:
    """``drawn`` where ``weight`` is 1, else 0, whatever was drawn."""
    kept = cast.cast(weight, dtypes.bool)
    return select.where_v2(kept, drawn, elementwise.zeros_like(drawn))


def _check_components(cat: Any, components: Any) -> None:
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not all(isinstance(each, Distribution) for each in components):
        raise TypeError(
            f"all entries in components must be Distribution instances but saw: {list(components)}"
        )
    kinds = [(each.name, each.dtype) for each in components]
    if any(dtypes.as_dtype(kind) != dtypes.as_dtype(kinds[0][1]) for _, kind in kinds):
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {kinds}")


def _same_shapes(cat: Any, components: Sequence[Any]) -> list[Any]:
    text = "components must all have the same batch shape as cat, and the same event shape"
    found = [check.assert_equal(shape.shape(cat.logits)[-1], len(components), message=text)]
    for each in components:
        dims = each.batch_shape_tensor()
        found.append(check.assert_equal(cat.batch_shape_tensor(), dims, message=text))
        event = components[0].event_shape_tensor()
        found.append(check.assert_equal(event, each.event_shape_tensor(), message=text))
    return found


class MixtureSameFamily(Distribution):
    """A mixture over the last dim of a batch of distributions.

    Args:
      mixture_distribution: the ``Categorical`` distribution of which one is drawn; of one alone,
        or of a batch.
      components_distribution: a batch of distributions ``[..., k]``.
      validate_args: whether shapes are checked in every step, where they are not known before.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: ``mixture_distribution`` is not over integers, or the shapes do not fit.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> mixture = ds.MixtureSameFamily(ds.Categorical(probs=[.5, .5]), ds.Normal([0., 4.], 1.))
      >>> tf.Session().run(mixture.variance()).item()
      5.0
    """

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            _check_family(mixture_distribution, components_distribution)
            self._event_ndims = components_distribution.event_shape.ndims
            if self._event_ndims is None:
                raise NotImplementedError("the rank of an event of the components must be known")
        is_full = (
            mixture_distribution.reparameterization_type == FULLY_REPARAMETERIZED
            and components_distribution.reparameterization_type == FULLY_REPARAMETERIZED
        )
        super().__init__(
            dtype=components_distribution.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED if is_full else NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[],
            name=name,
        )

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of which component is drawn."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Any:
        """The batch of components."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        known = self.components_distribution.batch_shape
        return known[:-1] if known.ndims is not None else None

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _with_events(self, weights: Any, ndims: int | None = None) -> Any:
        """``[..., k]`` with dims for an event."""
        for _ in range(self._event_ndims if ndims is None else ndims):
            weights = checks.last_axis(weights)
        return weights

    @property
    def _axis(self) -> int:
        """The axis of the components."""
        return -1 - int(self._event_ndims)

    def _spread(self, x: Any) -> Any:
        """An event for each component."""
        return reshape.expand_dims(x, axis=self._axis)

    def _mixed(self, values: Any) -> Any:
        logs = softmax.log_softmax(self.mixture_distribution.logits, axis=-1)
        return statistics.reduce_logsumexp(values + logs, axis=-1)

    def _log_prob(self, x: Any) -> Any:
        return self._mixed(self.components_distribution.log_prob(self._spread(x)))

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed(self.components_distribution.log_cdf(self._spread(x)))

    def _mean(self) -> Any:
        weights = self._with_events(self.mixture_distribution.probs)
        means = self.components_distribution.mean()
        return reduction.reduce_sum(weights * means, axis=self._axis)

    def _variance(self) -> Any:
        weights = self._with_events(self.mixture_distribution.probs)
        apart: Any = self.components_distribution.mean() - self._spread(self._mean())
        within = self.components_distribution.variance()
        return reduction.reduce_sum(weights * (within + elementwise.square(apart)), axis=self._axis)

    def _covariance(self) -> Any:
        if self._event_ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        weights = self._with_events(self.mixture_distribution.probs, 2)
        apart: Any = self.components_distribution.mean() - self._spread(self._mean())
        outer = matmul.matmul(checks.last_axis(apart), apart[..., np.newaxis, :])
        within = self.components_distribution.covariance()
        return reduction.reduce_sum(weights * (within + outer), axis=-3)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        x = self.components_distribution.sample(n, seed=seed)
        batch = self.batch_shape_tensor()
        salt = "MixtureSameFamily"
        mixture = self.mixture_distribution
        # A mixture of one alone is drawn for each of the batch.
        if mixture.batch_shape.ndims == 0:
            dims = join.concat([[n], batch], 0)
            chosen = mixture.sample(dims, seed=draws.new_seed(seed, salt))
        else:
            chosen = mixture.sample(n, seed=draws.new_seed(seed, salt))
        sizes: Any = shape.shape(mixture.logits)
        hot = onehot.one_hot(chosen, sizes[-1], on_value=True, off_value=False, dtype=dtypes.bool)
        kept = select.where_v2(self._with_events(hot), x, elementwise.zeros_like(x))
        return reduction.reduce_sum(kept, axis=self._axis)


def _check_family(mixture: Any, components: Any) -> None:
    kind = dtypes.as_dtype(mixture.dtype)
    if not kind.is_integer:
        raise ValueError(f"`mixture_distribution.dtype` ({kind.name}) is not over integers")
    own, batch = mixture.batch_shape, components.batch_shape
    if batch.ndims is not None and batch.ndims < 1:
        raise ValueError("`components_distribution` must have a batch: its last dim is mixed")
    outer = batch[:-1] if batch.ndims is not None else batch
    if own.ndims not in (None, 0) and outer.is_fully_defined() and own.is_fully_defined():
        if own != outer:
            raise ValueError(
                f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not compatible with "
                f"`components_distribution.batch_shape` (`{outer.as_list()}`)"
            )
    count = dimension_value(mixture.logits.shape[-1])
    last = None if batch.ndims is None else batch[-1].value
    if count is not None and last is not None and count != last:
        raise ValueError(
            f"`mixture_distribution components` ({count}) does not equal "
            f"`components_distribution.batch_shape[-1]` ({last})"
        )
