"""``Independent``: some dims of a batch become dims of an event."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.opdef import static
from penstock.library.distributions.distribution import Distribution
from penstock.library.distributions.divergence import RegisterKL, kl_divergence
from penstock.ops.array import join, ranges, ranks
from penstock.ops.control import check, control
from penstock.ops.math import binary, reduction


class Independent(Distribution):
    """A distribution of which the last dims of a batch are dims of an event.

    Args:
      distribution: the distribution.
      reinterpreted_batch_ndims: how many dims; all but the first by default.
      validate_args: whether that is checked in every step, where it is not known before.
      name: name of the scopes of the methods; made from that of the distribution by default.

    Raises:
      ValueError: the batch has less dims.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> made = ds.Independent(ds.Normal([[0., 0.]], 1.), reinterpreted_batch_ndims=1)
      >>> made.batch_shape, made.event_shape
      (TensorShape([Dimension(1)]), TensorShape([Dimension(2)]))
    """

    def __init__(
        self,
        distribution: Any,
        reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                reinterpreted_batch_ndims = _all_but_the_first(distribution)
            count: Any = convert_to_tensor(
                reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims"
            )
            known = static.constant_value(count)
            self._count: int | None = None if known is None else int(known)
            self._reinterpreted_batch_ndims: Any = count if known is None else int(known)
            self._checks = _checks(distribution, self._reinterpreted_batch_ndims, validate_args)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many dims of its batch are dims of an event."""
        return self._reinterpreted_batch_ndims

    def _checked(self, x: Any) -> Any:
        return control.with_dependencies(self._checks, x) if self._checks else x

    def _split(self) -> tuple[Any, Any]:
        """The shape of the batch: what stays, and what becomes the event's."""
        dims = self._checked(self.distribution.batch_shape_tensor())
        first = ranks.size(dims) - self._reinterpreted_batch_ndims
        return dims[:first], dims[first:]

    def _batch_shape_tensor(self) -> Any:
        return self._split()[0]

    def _batch_shape(self) -> Any:
        known = self.distribution.batch_shape
        if known.ndims is None or self._count is None:
            return None
        return known[: known.ndims - self._count]

    def _event_shape_tensor(self) -> Any:
        return join.concat([self._split()[1], self.distribution.event_shape_tensor()], 0)

    def _event_shape(self) -> Any:
        known = self.distribution.batch_shape
        if known.ndims is None or self._count is None:
            return None
        return known[known.ndims - self._count :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return self._checked(self.distribution.sample(n, seed=seed))

    def _summed(self, x: Any) -> Any:
        """``x`` summed over what became the event's."""
        if self._count is None:
            axes: Any = ranges.range_(-self._reinterpreted_batch_ndims, 0)
        else:
            axes = list(range(-self._count, 0))
        return reduction.reduce_sum(self._checked(x), axis=axes)

    def _log_prob(self, x: Any) -> Any:
        return self._summed(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._summed(self.distribution.entropy())

    def _mean(self) -> Any:
        return self._checked(self.distribution.mean())

    def _variance(self) -> Any:
        return self._checked(self.distribution.variance())

    def _stddev(self) -> Any:
        return self._checked(self.distribution.stddev())

    def _mode(self) -> Any:
        return self._checked(self.distribution.mode())


def _all_but_the_first(distribution: Any) -> Any:
    known = distribution.batch_shape.ndims
    if known is not None:
        return max(0, known - 1)
    return binary.maximum(0, ranks.size(distribution.batch_shape_tensor()) - 1)


def _checks(distribution: Any, count: Any, validate_args: bool) -> list[Any]:
    known = distribution.batch_shape.ndims
    if known is not None and isinstance(count, int):
        if count > known:
            raise ValueError(
                f"reinterpreted_batch_ndims({count}) cannot exceed "
                f"distribution.batch_ndims({known})"
            )
        return []
    if not validate_args:
        return []
    ndims = ranks.size(distribution.batch_shape_tensor())
    text = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
    return [check.assert_less_equal(count, ndims, message=text)]


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str | None = None) -> Any:
    p, q = a.distribution, b.distribution
    if not (a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined()):
        raise NotImplementedError(
            "KL between Independents whose event shapes are not known is not implemented"
        )
    if a.event_shape != b.event_shape:
        raise ValueError("Event shapes do not match.")
    if p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL between Independents with different event shapes not supported."
        )
    count = a.event_shape.ndims - p.event_shape.ndims
    return reduction.reduce_sum(kl_divergence(p, q), axis=list(range(-count, 0)))
