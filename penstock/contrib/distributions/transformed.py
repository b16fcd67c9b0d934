"""``TransformedDistribution``: a distribution of which the events go through a bijector."""

from __future__ import annotations

from typing import Any

from penstock.contrib.distributions.bijectors import Identity
from penstock.contrib.distributions.bijectors.bijector import is_injective
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.distributions import draws
from penstock.library.distributions.distribution import Distribution
from penstock.ops.array import (
    broadcast_to,
    fill,
    join,
    ranges,
    ranks,
    reshape,
    transpose,
)
from penstock.ops.control import check, control
from penstock.ops.math import elementwise, reduction, reductions, statistics


class TransformedDistribution(Distribution):
    """The distribution of ``bijector.forward(x)``, where x is of another distribution.

    Args:
      distribution: the distribution of x.
      bijector: a ``tf.contrib.distributions.bijectors.Bijector``; the identity by default.
      batch_shape: a shape for the batch of a distribution that is of one alone.
      event_shape: a shape for the events of a distribution of scalars, each number of which is
        drawn for itself.
      validate_args: whether arguments are checked in every step.
      name: name of the scopes of the methods; by default those of the bijector and of the
        distribution.

    Raises:
      ValueError: a shape is given in place of one that is not of a scalar, or has a negative size.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> log_normal = ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp())
      >>> tf.Session().run(log_normal.cdf(1.0)).item()
      0.5
    """

    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or (("" if bijector is None else bijector.name) + distribution.name)
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            self._distribution: Any = distribution
            self._bijector: Any = Identity(validate_args) if bijector is None else bijector
            self._own_batch = _override(
                batch_shape, "batch_shape", distribution.batch_shape, validate_args
            )
            self._own_event = _override(
                event_shape, "event_shape", distribution.event_shape, validate_args
            )
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=self._bijector.graph_parents,
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of x."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The function of x of which this is the distribution."""
        return self._bijector

    # ---- shapes --------------------------------------------------------------------------------

    def _event_shape_tensor(self) -> Any:
        own = self._own_event
        base = self.distribution.event_shape_tensor() if own is None else own
        return self.bijector.forward_event_shape_tensor(base)

    def _event_shape(self) -> Any:
        own = self._own_event
        if own is None:
            return self.bijector.forward_event_shape(self.distribution.event_shape)
        return self.bijector.forward_event_shape(static.constant_value_as_shape(own))

    def _batch_shape_tensor(self) -> Any:
        if self._own_batch is None:
            return self.distribution.batch_shape_tensor()
        return self._own_batch

    def _batch_shape(self) -> Any:
        if self._own_batch is None:
            return self.distribution.batch_shape
        return static.constant_value_as_shape(self._own_batch)

    def _base_event_shape(self) -> Any:
        """The shape of x."""
        own = self._own_event
        return self.distribution.event_shape_tensor() if own is None else own

    def _event_ndims(self) -> Any:
        """How many dims an event y has."""
        known = self.event_shape.ndims
        return ranks.size(self.event_shape_tensor()) if known is None else known

    def _own_ndims(self) -> int:
        """How many dims the shape given in place of the events' has."""
        own = self._own_event
        return 0 if own is None else int(own.shape.as_list()[0])

    def _rotates(self) -> bool:
        """Whether numbers of an event are drawn before those of the distribution's own batch."""
        return self._own_event is not None and self.distribution.batch_shape.ndims != 0

    # ---- samples -------------------------------------------------------------------------------

    def _sample_n(
        self,
        n: Any,
        seed: int | None = None,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Draws of x, in the shape of a batch and of events."""
        own_event = [] if self._own_event is None else [self._own_event]
        if self._rotates():
            dims = join.concat([*own_event, [n]], 0)
        else:
            own_batch = [] if self._own_batch is None else [self._own_batch]
            dims = join.concat([[n], *own_batch, *own_event], 0)
        drawn = self.distribution.sample(dims, seed=seed, **(distribution_kwargs or {}))
        if not self._rotates():
            return drawn
        own = self._own_ndims()
        return _rolled(drawn, own)

    def _call_sample_n(
        self, sample_shape: Any, seed: int | None, name: str, **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            sizes = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            sizes, count = draws.vector_and_count(sizes, "sample_shape")
            x = draws.arranged(self._sample_n(count, seed, **kwargs), sizes)
            # Of the value that is returned the bijector then knows x.
            y: Tensor = self.bijector.forward(x, **(kwargs.get("bijector_kwargs") or {}))
            draws.tell_shape(y, sizes, self.batch_shape, self.event_shape)
            return y

    # ---- functions of values -------------------------------------------------------------------

    def _fibers(self, y: Any, kwargs: dict[str, Any] | None) -> tuple[Any, Any, Any]:
        """The values x of y, the log-determinants there, and the number of dims of an event."""
        given = kwargs or {}
        ndims = self._event_ndims()
        x = self.bijector.inverse(y, **given)
        ildj = self.bijector.inverse_log_det_jacobian(y, event_ndims=ndims, **given)
        return x, ildj, ndims

    def _base(self, x: Any) -> Any:
        """x as the distribution takes it: its events' numbers before its own batch."""
        return _rolled(x, self._own_ndims(), back=True) if self._rotates() else x

    def _axes(self) -> list[int]:
        """The axes of what the distribution gives that are an event's numbers."""
        own = self._own_ndims()
        return list(range(own)) if self._rotates() else list(range(-own, 0))

    def _log_prob(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        x, ildj, ndims = self._fibers(y, bijector_kwargs)

        def of_one(x: Any, ildj: Any) -> Any:
            found = self.distribution.log_prob(self._base(x), **(distribution_kwargs or {}))
            if self._own_event is not None:
                found = reduction.reduce_sum(found, axis=self._axes())
            return self._told(found + ildj, y, ndims)

        if is_injective(self.bijector):
            return of_one(x, ildj)
        each = [of_one(a, b) for a, b in zip(x, ildj, strict=True)]
        return statistics.reduce_logsumexp(join.stack(each), axis=0)

    def _prob(
        self,
        y: Any,
        bijector_kwargs: dict[str, Any] | None = None,
        distribution_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        x, ildj, ndims = self._fibers(y, bijector_kwargs)

        def of_one(x: Any, ildj: Any) -> Any:
            found = self.distribution.prob(self._base(x), **(distribution_kwargs or {}))
            if self._own_event is not None:
                found = reductions.reduce_prod(found, axis=self._axes())
            return self._told(found * elementwise.exp(ildj), y, ndims)

        if is_injective(self.bijector):
            return of_one(x, ildj)
        total: Any = 0.0
        for a, b in zip(x, ildj, strict=True):
            total = total + of_one(a, b)
        return total

    def _told(self, found: Any, y: Any, ndims: Any) -> Any:
        """``found`` with what is known of its shape."""
        if self._own_event is not None and isinstance(ndims, int) and y.shape.ndims is not None:
            known = y.shape[: y.shape.ndims - ndims]
            found.set_shape(broadcast_to.broadcast_static_shape(known, self.batch_shape))
        return found

    def _of_x(self, method: str, y: Any, given: Any, more: Any) -> Any:
        """A function of the distribution at the x of y."""
        self._refuse(method)
        x = self.bijector.inverse(y, **(given or {}))
        return getattr(self.distribution, method)(x, **(more or {}))

    def _refuse(self, method: str) -> None:
        if self._own_event is not None:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape")
        if not is_injective(self.bijector):
            raise NotImplementedError(
                f"{method} is not implemented when bijector is not injective."
            )

    def _log_cdf(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_x("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_x("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(
        self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Any:
        return self._of_x("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(
        self, y: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Any:
        return self._of_x("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(
        self, value: Any, bijector_kwargs: Any = None, distribution_kwargs: Any = None
    ) -> Any:
        self._refuse("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not is_injective(self.bijector):
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        found: Any = self.distribution.entropy()
        if self._own_event is not None:
            found = found * _size_of(self._own_event, found)
        if self._own_batch is not None:
            found = found + fill.zeros(self._own_batch, dtype=self.dtype)
        # The log-determinant is the same everywhere: any event will do.
        dims = join.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        anywhere = fill.zeros(dims, dtype=self.dtype)
        ndims = self._event_ndims()
        found = found - self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=ndims)
        found.set_shape(self.batch_shape)
        return found


def _size_of(dims: Tensor, like: Tensor) -> Any:
    """How many numbers an event of the shape ``dims`` has, in the dtype of ``like``."""
    known = static.constant_value(dims)
    if known is not None:
        return float(known.prod())
    ones = fill.ones(dims, dtype=like.dtype)
    return reduction.reduce_sum(ones)


def _override(given: Any, name: str, own: shapes.TensorShape, validate_args: bool) -> Any:
    """A shape given in place of that of a distribution, as a vector; None where there is none."""
    if given is None:
        return None
    sizes: Any = convert_to_tensor(given, dtype=dtypes.int32, name=name)
    if sizes.shape.ndims == 0:
        sizes = reshape.reshape(sizes, [1])
    if sizes.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    known = static.constant_value(sizes)
    if known is not None:
        if (known < 0).any():
            raise ValueError("shape override must have positive elements")
        if known.size == 0:
            return None
    elif validate_args:
        text = "shape override must have positive elements"
        sizes = control.with_dependencies([check.assert_positive(sizes, message=text)], sizes)
    if own.ndims is not None and own.ndims > 0:
        raise ValueError("base distribution not scalar")
    # The numbers of an event are summed over: which axes they are must be known.
    if name == "event_shape" and (sizes.shape.ndims is None or sizes.shape.as_list()[0] is None):
        raise NotImplementedError(f"{name}: how many dims it has must be known")
    return sizes


def _rolled(x: Any, count: int, back: bool = False) -> Any:
    """``x`` with its first ``count`` dims last, or its last ones first (``back``)."""
    if x.shape.ndims is not None:
        rank = x.shape.ndims
        first = rank - count if back else count
        return transpose.transpose(x, [*range(first, rank), *range(first)])
    rank_ = ranks.rank(x)
    first_: Any = rank_ - count if back else count
    order = join.concat([ranges.range_(first_, rank_), ranges.range_(0, first_)], 0)
    return transpose.transpose(x, order)
