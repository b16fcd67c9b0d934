"""``BatchReshape``: a batch of distributions in another shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.opdef import static
from penstock.library.distributions.distribution import Distribution
from penstock.ops.array import join, ranks, reshape, shape
from penstock.ops.control import check, control
from penstock.ops.math import reductions, select


class BatchReshape(Distribution):
    """A distribution of which the batch has another shape.

    Args:
      distribution: the distribution.
      batch_shape: the shape, of as many distributions; one size may be -1.
      validate_args: whether that is checked in every step, where it is not known before.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.
      name: name of the scopes of the methods; made from that of the distribution by default.

    Raises:
      ValueError: ``batch_shape`` is known and not of as many distributions.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> made = ds.BatchReshape(ds.Normal([1., 2., 3., 4.], 1.), [2, 2])
      >>> tf.Session().run(made.mean()).tolist()
      [[1.0, 2.0], [3.0, 4.0]]
    """

    def __init__(
        self,
        distribution: Any,
        batch_shape: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape]) as name:
            sizes: Any = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            known = static.constant_value(sizes)
            if known is not None:
                _check_sizes(known, distribution.batch_shape, validate_args)
            self._known = None if known is None else [None if s == -1 else int(s) for s in known]
            if known is None or -1 in known:
                total = reductions.reduce_prod(distribution.batch_shape_tensor())
                sizes = _without_rest(sizes, total)
            self._checks = []
            if validate_args and known is None:
                total = reductions.reduce_prod(distribution.batch_shape_tensor())
                text = "`batch_shape` size must match `distribution.batch_shape` size."
                self._checks = [
                    check.assert_equal(reductions.reduce_prod(sizes), total, message=text)
                ]
            self._distribution, self._sizes = distribution, sizes
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._sizes],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution."""
        return self._distribution

    def _checked(self, x: Any) -> Any:
        return control.with_dependencies(self._checks, x) if self._checks else x

    def _batch_shape_tensor(self) -> Any:
        return self._checked(self._sizes)

    def _batch_shape(self) -> Any:
        if self._known is None and self._sizes.shape.is_fully_defined():
            return [None] * self._sizes.shape.as_list()[0]
        return self._known

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        drawn = self.distribution.sample(n, seed=seed)
        dims = join.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return self._checked(reshape.reshape(drawn, dims))

    def _at(self, method: str, x: Any) -> Any:
        """A function of the distribution of values of this one."""
        self._check_rank(x)
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        dims: Any = shape.shape(x)
        first = ranks.size(dims) - ranks.size(batch) - ranks.size(event)
        outer = dims[:first]
        inner = join.concat([outer, self.distribution.batch_shape_tensor(), event], 0)
        found = getattr(self.distribution, method)(reshape.reshape(x, inner))
        found = reshape.reshape(found, join.concat([outer, batch], 0))
        if x.shape.ndims is not None and self._known_ndims() is not None:
            count = x.shape.ndims - self._known_ndims()
            found.set_shape(x.shape[:count].concatenate(self.batch_shape))
        return self._checked(found)

    def _known_ndims(self) -> Any:
        batch, event = self.batch_shape.ndims, self.event_shape.ndims
        return None if batch is None or event is None else batch + event

    def _check_rank(self, x: Any) -> None:
        wanted = self._known_ndims()
        if wanted is not None and x.shape.ndims is not None and x.shape.ndims < wanted:
            raise NotImplementedError(
                "Broadcasting is not supported; too few batch and event dims (expected at least "
                f"{wanted}, saw {x.shape.ndims})."
            )

    def _log_prob(self, x: Any) -> Any:
        return self._at("log_prob", x)

    def _prob(self, x: Any) -> Any:
        return self._at("prob", x)

    def _log_cdf(self, x: Any) -> Any:
        return self._at("log_cdf", x)

    def _cdf(self, x: Any) -> Any:
        return self._at("cdf", x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._at("log_survival_function", x)

    def _survival_function(self, x: Any) -> Any:
        return self._at("survival_function", x)

    def _of_all(self, method: str, event_parts: int = 1) -> Any:
        """A statistic of the distribution, in the shape of this one's batch."""
        found = getattr(self.distribution, method)()
        event = [self.event_shape_tensor()] * event_parts
        dims = join.concat([self.batch_shape_tensor(), *event], 0)
        return self._checked(reshape.reshape(found, dims))

    def _entropy(self) -> Any:
        return self._of_all("entropy", 0)

    def _mean(self) -> Any:
        return self._of_all("mean")

    def _mode(self) -> Any:
        return self._of_all("mode")

    def _stddev(self) -> Any:
        return self._of_all("stddev")

    def _variance(self) -> Any:
        return self._of_all("variance")

    def _covariance(self) -> Any:
        return self._of_all("covariance", 2)


def _check_sizes(sizes: Any, own: Any, validate_args: bool) -> None:
    if validate_args and (sizes < -1).any():
        raise ValueError("`batch_shape` elements must be >=-1.")
    if validate_args and sum(sizes == -1) > 1:
        raise ValueError("`batch_shape` elements must have at most one `-1`.")
    if -1 not in sizes and own.is_fully_defined():
        if int(np.prod(sizes)) != int(np.prod(own.as_list())):
            raise ValueError(
                f"`batch_shape` size ({int(np.prod(sizes))}) must match "
                f"`distribution.batch_shape` size ({int(np.prod(own.as_list()))})."
            )


def _without_rest(sizes: Any, total: Any) -> Any:
    """``sizes`` with the size that makes the product ``total`` in place of -1."""
    is_rest = sizes < 0
    product = reductions.reduce_prod(select.where_v2(is_rest, 1, sizes))
    return select.where_v2(is_rest, total // product, sizes)
