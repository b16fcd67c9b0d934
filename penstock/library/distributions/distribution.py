"""``Distribution``: what every distribution does, derived from what its class gives.

A class gives the parts it has under the public names with an underscore (``_log_prob``,
``_sample_n``, ``_mean``); the public methods open the scope, convert the value, and find a way
through another part where there is none.  What has no way raises ``NotImplementedError``.

A distribution is a batch of distributions of one family over events of one shape: samples have the
shape ``sample_shape + batch_shape + event_shape``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor, is_dense_tensor_like
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import divergence, draws
from penstock.library.distributions.parameters import ParametersOfClass
from penstock.ops.array import shape
from penstock.ops.math import comparison, elementwise


class ReparameterizationType:
    """How samples depend on the parameters of a distribution.

    Args:
      rep_type: what is shown of it.
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"  # spelled so by TensorFlow


# Samples are a differentiable function of the parameters and of a fixed distribution.
FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
# No gradient flows from samples to parameters, or not the right one.
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


class Distribution(ParametersOfClass):
    """A batch of probability distributions.

    Args:
      dtype: dtype of the events.
      reparameterization_type: ``FULLY_REPARAMETERIZED`` or ``NOT_REPARAMETERIZED``.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic (the mean of a Cauchy distribution) is NaN;
        else a step that computes it fails.
      parameters: what the constructor was given, for ``copy``.
      graph_parents: tensors that the distribution is made of.
      name: name of the scopes of the methods; that of the class by default.

    Raises:
      ValueError: a parent that is no tensor.

    Example:
      >>> import penstock as tf
      >>> tf.distributions.Normal(loc=[0., 1.], scale=1.).sample([3]).shape
      TensorShape([Dimension(3), Dimension(2)])
    """

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: list[Any] | None = None,
        name: str | None = None,
    ) -> None:
        for i, parent in enumerate(graph_parents or ()):
            if not is_dense_tensor_like(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._name = name
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = parameters or {}
        self._graph_parents = list(graph_parents or ())

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def name(self) -> Any:
        """The scope of the methods' nodes, with a slash at its end."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of events."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor was given, by name."""
        given = self._parameters.items()
        return {k: v for k, v in given if not k.startswith("__") and v is not self}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """How samples depend on parameters."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether undefined statistics are NaN; else a step that computes one fails."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked in every step."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """A distribution like this one.

        Args:
          override_parameters_kwargs: arguments of the constructor that are other.

        Returns:
          An instance of the same class.

        Example:
          >>> import penstock as tf
          >>> tf.distributions.Normal(0., 1.).copy(scale=2.).parameters["scale"]
          2.0
        """
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    def __str__(self) -> str:
        known = [("batch_shape", self.batch_shape), ("event_shape", self.event_shape)]
        shown = "".join(f", {k}={v}" for k, v in known if v.ndims is not None)
        kind = type(self).__name__
        return f'tfp.distributions.{kind}("{self.name}"{shown}, dtype={_named(self.dtype)})'

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={_named(self.dtype)}>"
        )

    @contextmanager
    def _name_scope(
        self, name: str | None = None, values: list[Any] | None = None
    ) -> Iterator[str]:
        """The scope of a method, in that of the distribution."""
        inputs = [*(values or ()), *self._graph_parents]
        with name_scope(self.name), name_scope(name, values=inputs) as scope:
            yield scope

    def _without(self, part: str) -> NotImplementedError:
        return NotImplementedError(f"{part} is not implemented: {type(self).__name__}")

    # ---- shapes --------------------------------------------------------------------------------

    def _batch_shape_tensor(self) -> Tensor:
        raise self._without("batch_shape_tensor")

    def _batch_shape(self) -> Any:
        return shapes.TensorShape(None)

    def _event_shape_tensor(self) -> Tensor:
        raise self._without("event_shape_tensor")

    def _event_shape(self) -> Any:
        return shapes.TensorShape(None)

    @property
    def batch_shape(self) -> shapes.TensorShape:
        """The static shape of a batch; a scalar's is of one distribution."""
        return shapes.as_shape(self._batch_shape())

    @property
    def event_shape(self) -> shapes.TensorShape:
        """The static shape of one event."""
        return shapes.as_shape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of a batch, as an int32 vector."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return _vector(self.batch_shape, "batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one event, as an int32 vector."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return _vector(self.event_shape, "event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether ``event_shape`` is that of a scalar, as a boolean scalar."""
        with self._name_scope(name):
            found = _is_scalar(self.event_shape, self.event_shape_tensor)
            return convert_to_tensor(found, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether ``batch_shape`` is that of a scalar, as a boolean scalar."""
        with self._name_scope(name):
            found = _is_scalar(self.batch_shape, self.batch_shape_tensor)
            return convert_to_tensor(found, name="is_scalar_batch")

    # ---- samples -------------------------------------------------------------------------------

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        raise self._without("sample_n")

    def _call_sample_n(
        self, sample_shape: Any, seed: int | None, name: str, **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            sizes = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sizes, count = draws.vector_and_count(sizes, "sample_shape")
            drawn = draws.arranged(self._sample_n(count, seed, **kwargs), sizes)
            draws.tell_shape(drawn, sizes, self.batch_shape, self.event_shape)
            return drawn

    def sample(
        self, sample_shape: Any = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """Draws samples.

        Args:
          sample_shape: an int32 scalar or vector: the shape of what is drawn of each distribution.
          seed: op-level seed.

        Returns:
          A tensor of shape ``sample_shape + batch_shape + event_shape``.
        """
        return self._call_sample_n(sample_shape, seed, name)

    # ---- functions of values -------------------------------------------------------------------

    def _log_prob(self, value: Tensor) -> Tensor:
        raise self._without("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        raise self._without("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        raise self._without("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        raise self._without("cdf")

    def _log_survival_function(self, value: Tensor) -> Tensor:
        raise self._without("log_survival_function")

    def _survival_function(self, value: Tensor) -> Tensor:
        raise self._without("survival_function")

    def _quantile(self, value: Tensor) -> Tensor:
        raise self._without("quantile")

    def _evaluate(
        self,
        value: Any,
        name: str,
        own: Callable[..., Tensor],
        other: Callable[..., Any] | None,
        kwargs: dict[str, Any],
    ) -> Tensor:
        """``own(value)`` in its scope; where the class has none, ``other(value)``."""
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            try:
                return own(value, **kwargs)
            except NotImplementedError as missing:
                if other is None:
                    raise
                try:
                    found: Tensor = other(value, **kwargs)
                    return found
                except NotImplementedError:
                    raise missing from None

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_prob(x: Tensor, **kwargs: Any) -> Any:
            return elementwise.log(self._prob(x, **kwargs))

        return self._evaluate(value, name, self._log_prob, by_prob, kwargs)

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_log(x: Tensor, **kwargs: Any) -> Any:
            return elementwise.exp(self._log_prob(x, **kwargs))

        return self._evaluate(value, name, self._prob, by_log, kwargs)

    def _call_log_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_cdf(x: Tensor, **kwargs: Any) -> Any:
            return elementwise.log(self._cdf(x, **kwargs))

        return self._evaluate(value, name, self._log_cdf, by_cdf, kwargs)

    def _call_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_log(x: Tensor, **kwargs: Any) -> Any:
            return elementwise.exp(self._log_cdf(x, **kwargs))

        return self._evaluate(value, name, self._cdf, by_log, kwargs)

    def _call_log_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_cdf(x: Tensor, **kwargs: Any) -> Any:
            return elementwise.log1p(-self.cdf(x, **kwargs))

        return self._evaluate(value, name, self._log_survival_function, by_cdf, kwargs)

    def _call_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        def by_cdf(x: Tensor, **kwargs: Any) -> Any:
            return 1.0 - self.cdf(x, **kwargs)

        return self._evaluate(value, name, self._survival_function, by_cdf, kwargs)

    def _call_quantile(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._evaluate(value, name, self._quantile, None, kwargs)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability of a discrete event.

        Args:
          value: events, of a shape that broadcasts with ``batch_shape + event_shape``.

        Returns:
          A tensor of the shape ``sample_shape(value) + batch_shape``.
        """
        return self._call_log_prob(value, name)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density, or the probability of a discrete event; see ``log_prob``."""
        return self._call_prob(value, name)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of ``cdf``, exact also where that is nearly 0."""
        return self._call_log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability of an event up to ``value``; see ``log_prob``."""
        return self._call_cdf(value, name)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of ``survival_function``."""
        return self._call_log_survival_function(value, name)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability of an event beyond ``value``: 1 less ``cdf``."""
        return self._call_survival_function(value, name)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The event up to which the probability is ``value``: the inverse of ``cdf``."""
        return self._call_quantile(value, name)

    # ---- statistics ----------------------------------------------------------------------------

    def _entropy(self) -> Tensor:
        raise self._without("entropy")

    def _mean(self) -> Tensor:
        raise self._without("mean")

    def _variance(self) -> Tensor:
        raise self._without("variance")

    def _stddev(self) -> Tensor:
        raise self._without("stddev")

    def _covariance(self) -> Tensor:
        raise self._without("covariance")

    def _mode(self) -> Tensor:
        raise self._without("mode")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy in nats, of the shape ``batch_shape``."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """The mean, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each component, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            try:
                return self._variance()
            except NotImplementedError as missing:
                try:
                    found: Tensor = elementwise.square(self._stddev())
                    return found
                except NotImplementedError:
                    raise missing from None

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component: the root of ``variance``."""
        with self._name_scope(name):
            try:
                return self._stddev()
            except NotImplementedError as missing:
                try:
                    found: Tensor = elementwise.sqrt(self._variance())
                    return found
                except NotImplementedError:
                    raise missing from None

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariances of the components of an event that is a vector.

        Returns:
          A tensor ``batch_shape + [k, k]``, where k is the size of an event.
        """
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The likeliest event, of the shape ``batch_shape + event_shape``."""
        with self._name_scope(name):
            return self._mode()

    # ---- beside another ------------------------------------------------------------------------

    def _cross_entropy(self, other: Any) -> Tensor:
        found: Tensor = divergence.cross_entropy(self, other, self.allow_nan_stats)
        return found

    def _kl_divergence(self, other: Any) -> Tensor:
        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Tensor:
        """The mean of ``-log(q(x))`` over this distribution, where q is the density of another.

        Args:
          other: a distribution for which ``kl_divergence`` is registered.

        Returns:
          A tensor of the batch shapes of both, broadcast.
        """
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Tensor:
        """The divergence of ``tf.distributions.kl_divergence``, from another to this one."""
        with self._name_scope(name):
            return self._kl_divergence(other)


def _named(dtype: Any) -> str:
    return "?" if dtype is None else dtypes.as_dtype(dtype).name


def _vector(known: shapes.TensorShape, name: str) -> Tensor:
    return convert_to_tensor(known.as_list(), dtype=dtypes.int32, name=name)


def _is_scalar(known: shapes.TensorShape, dims: Callable[[], Tensor]) -> Any:
    """Whether a shape has no dims; of one of unknown rank, by its vector."""
    if known.ndims is not None:
        return known.ndims == 0
    vector = dims()
    if vector.shape.ndims is not None and dimension_value(vector.shape[0]) is not None:
        return vector.shape.as_list() == [0]
    sizes: Any = shape.shape(vector)
    return comparison.equal(sizes[0], 0)
