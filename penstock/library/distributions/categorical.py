"""The categorical distribution."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.library.distributions.divergence import RegisterKL
from penstock.library.nn import cross_entropy
from penstock.ops.array import cast, constant, fill, join, onehot, ranks, reshape, shape, transpose
from penstock.ops.control import control
from penstock.ops.math import argmax, elementwise, reduction, select
from penstock.ops.nn import softmax
from penstock.ops.random import random


class Categorical(Distribution):
    """The categorical distribution over the classes 0 to k - 1.

    Args:
      logits: unnormalized log-probabilities, ``[..., k]``.
      probs: probabilities, ``[..., k]``; one of both is given.
      dtype: dtype of the events.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Categorical(probs=[.2, .5, .3]).mode()).item()
      1
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = checks.logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            known = self._logits.shape
            if known.ndims is None:
                with name_scope("batch_rank"):
                    self._batch_rank = ranks.rank(self._logits) - 1
            else:
                self._batch_rank = _number(known.ndims - 1, "batch_rank")
            dims: Any = shape.shape(self._logits, name="logits_shape")
            size = None if known.ndims is None else known.as_list()[-1]
            if size is None:
                with name_scope("event_size"):
                    self._event_size: Tensor = dims[self._batch_rank]
            else:
                self._event_size = _number(size, "event_size")
            if known.ndims is not None and known[:-1].is_fully_defined():
                sizes = known[:-1].as_list()
                self._batch_shape_val = constant.constant(
                    sizes, dtype=dtypes.int32, name="batch_shape"
                )
            else:
                with name_scope("batch_shape"):
                    self._batch_shape_val = dims[:-1]
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
    def event_size(self) -> Tensor:
        """The number of classes, as an int32 scalar."""
        return self._event_size

    @property
    def logits(self) -> Tensor:
        """The unnormalized log-probabilities."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return control.identity(self._batch_shape_val)

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return constant.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = reshape.reshape(logits, [-1, self.event_size])
        kind = dtypes.as_dtype(self.dtype)
        drawn = random.multinomial(
            logits, n, seed=seed, output_dtype=dtypes.int64 if kind.size > 4 else dtypes.int32
        )
        drawn = transpose.transpose(drawn)
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        return cast.cast(reshape.reshape(drawn, dims), kind)

    def _cdf(self, k: Tensor) -> Any:
        k, probs = self._alike(self._checked(k), self.probs)
        rows = reshape.reshape(probs, [-1, self.event_size])
        flat = reshape.reshape(k, [-1])
        below = onehot.sequence_mask(flat, self.event_size)
        total = reduction.reduce_sum(
            select.where(below, rows, elementwise.zeros_like(rows)), axis=-1
        )
        return reshape.reshape(total, shape.shape(k))

    def _log_prob(self, k: Tensor) -> Any:
        k, logits = self._alike(self._checked(k), self.logits)
        return -cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _checked(self, k: Tensor) -> Any:
        return checks.casts_to(k, dtypes.int32) if self.validate_args else k

    def _alike(self, event: Tensor, parameter: Tensor) -> tuple[Any, Any]:
        """Classes ``[...]`` and parameters ``[..., k]``, broadcast where they are not alike."""
        if not event.dtype.is_integer:
            event = cast.cast(event, dtypes.int32)
        batch = parameter.shape[:-1]
        if event.shape.is_fully_defined() and batch.is_fully_defined() and batch == event.shape:
            return event, parameter
        ones = elementwise.ones_like(checks.last_axis(event), dtype=parameter.dtype)
        parameter = parameter * ones
        dims: Any = shape.shape(parameter)
        event = event * fill.ones(dims[:-1], dtype=event.dtype)
        if parameter.shape.ndims is not None:
            event.set_shape([None] * (parameter.shape.ndims - 1))
        return event, parameter

    def _entropy(self) -> Any:
        return -reduction.reduce_sum(softmax.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        mode = cast.cast(argmax.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


def _number(value: int, name: str) -> Any:
    return convert_to_tensor(value, dtype=dtypes.int32, name=name)


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a: Categorical, b: Categorical, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart = softmax.log_softmax(a.logits) - softmax.log_softmax(b.logits)
        return reduction.reduce_sum(softmax.softmax(a.logits) * apart, axis=-1)
