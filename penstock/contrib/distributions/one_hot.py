"""Categories as vectors: one hot, and relaxed so that samples have gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.distributions.bijectors import Exp, Sigmoid
from penstock.contrib.distributions.loc_scale import Logistic
from penstock.contrib.distributions.transformed import TransformedDistribution
from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks
from penstock.library.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
)
from penstock.library.distributions.divergence import RegisterKL
from penstock.ops.array import cast, constant, join, onehot, reshape, shape, transpose
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import argmax, comparison, elementwise, reduction, select, statistics
from penstock.ops.nn import softmax
from penstock.ops.random import random


class _OfClasses(Distribution):
    """A family of vectors, of a number for each class."""

    _logits: Any
    _probs: Any

    def _take(self, logits: Any, probs: Any, validate_args: bool, name: str) -> None:
        self._logits, self._probs = checks.logits_and_probs(
            logits, probs, multidimensional=True, validate_args=validate_args, name=name
        )
        with name_scope("event_size"):
            dims: Any = shape.shape(self._logits)
            self._event_size: Any = dims[-1]

    @property
    def event_size(self) -> Any:
        """The number of classes, as an int32 scalar."""
        return self._event_size

    @property
    def logits(self) -> Any:
        """The unnormalized log-probabilities."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self.logits)
        return dims[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self.logits)
        return dims[-1:]

    def _event_shape(self) -> Any:
        return self.logits.shape[-1:]

    def _rows(self, n: Any) -> Any:
        """The shape of n draws."""
        return join.concat([[n], shape.shape(self.logits)], 0)


class OneHotCategorical(_OfClasses):
    """The categorical distribution, of which an event is a vector with a 1 at its class.

    Args:
      logits: unnormalized log-probabilities, ``[..., k]``.
      probs: probabilities, ``[..., k]``; one of both is given.
      dtype: dtype of the events.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> one_hot = tf.contrib.distributions.OneHotCategorical(probs=[.2, .5, .3])
      >>> tf.Session().run(one_hot.mode()).tolist()
      [0, 1, 0]
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        flat = reshape.reshape(self.logits, [-1, self.event_size])
        drawn = random.multinomial(flat, n, seed=seed)
        hot = onehot.one_hot(transpose.transpose(drawn), self.event_size, dtype=self.dtype)
        return reshape.reshape(hot, self._rows(n))

    def _log_prob(self, x: Tensor) -> Any:
        if self.validate_args:
            total = reduction.reduce_sum(x, axis=[-1])
            found = [
                check.assert_non_negative(x),
                check.assert_equal(total, elementwise.ones_like(total)),
            ]
            x = control.with_dependencies(found, x)
        # What is not the class may have no probability: 0 times the logarithm of that is 0.
        hot: Any = cast.cast(x, self.logits.dtype)
        logs = softmax.log_softmax(self.logits + elementwise.zeros_like(hot))
        hot = hot + elementwise.zeros_like(logs)
        is_out = comparison.equal(hot, 0.0)
        terms = hot * select.where(is_out, elementwise.zeros_like(logs), logs)
        return reduction.reduce_sum(terms, axis=-1)

    def _entropy(self) -> Any:
        return -reduction.reduce_sum(softmax.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = argmax.argmax(self.logits, axis=-1)
        hot = onehot.one_hot(found, self.event_size, dtype=self.dtype)
        hot.set_shape(self.logits.shape)
        return hot

    def _covariance(self) -> Any:
        probs = self.probs
        columns = reshape.expand_dims(probs, axis=-1)
        outer = -matmul.matmul(columns, columns, transpose_b=True)
        return matrix_diag.matrix_set_diag(outer, self._variance())

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(a: OneHotCategorical, b: OneHotCategorical, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart: Any = softmax.log_softmax(a.logits) - softmax.log_softmax(b.logits)
        return reduction.reduce_sum(softmax.softmax(a.logits) * apart, axis=-1)


class ExpRelaxedOneHotCategorical(_OfClasses):
    """The logarithms of events of ``RelaxedOneHotCategorical``, which do not underflow.

    Args:
      temperature: scalar above 0; the smaller, the nearer to one-hot vectors.
      logits: unnormalized log-probabilities, ``[..., k]``.
      probs: probabilities, ``[..., k]``; one of both is given.
      dtype: dtype of the events; that of the parameters by default.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both or none of ``logits`` and ``probs``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.ExpRelaxedOneHotCategorical(0.5, probs=[.2, .5, .3])
      >>> made.event_shape
      TensorShape([Dimension(3)])

    Source: Maddison, C. J., Mnih, A. and Teh, Y. W. "The concrete distribution". ICLR 2017.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._take(logits, probs, validate_args, name)
            if dtype is None:
                dtype = self._logits.dtype
                if not validate_args:
                    temperature = cast.cast(temperature, dtype)
            found = [check.assert_positive(temperature)] if validate_args else []
            with control_dependencies(found):
                self._temperature: Any = control.identity(
                    convert_to_tensor(temperature), name="temperature"
                )
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs, self._temperature],
            name=name,
        )

    @property
    def temperature(self) -> Any:
        """How far events are from one-hot vectors."""
        return self._temperature

    def _heat(self) -> Any:
        """The temperature with a dim for the classes."""
        if self._temperature.shape.ndims == 0:
            return self._temperature
        return checks.last_axis(self._temperature)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Not from 0, the logarithm of which is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random.random_uniform(self._rows(n), tiny, 1.0, dtype=self.dtype, seed=seed)
        gumbel = -elementwise.log(-elementwise.log(uniform))
        return softmax.log_softmax((gumbel + self.logits) / self._heat())

    def _log_prob(self, x: Tensor) -> Any:
        if self.validate_args:
            total = statistics.reduce_logsumexp(x, axis=[-1])
            zero = constant.constant(0.0, dtype=total.dtype)
            found = [check.assert_non_positive(x), check.assert_near(zero, total)]
            x = control.with_dependencies(found, x)
        size: Any = cast.cast(self.event_size, self.dtype)
        terms = softmax.log_softmax(self.logits - x * self._heat())
        scale = elementwise.lgamma(size) + (size - 1.0) * elementwise.log(self._temperature)
        return reduction.reduce_sum(terms, axis=-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Probabilities of classes near one-hot vectors, as differentiable functions of parameters.

    Args:
      temperature: scalar above 0; the smaller, the nearer to one-hot vectors.
      logits: unnormalized log-probabilities, ``[..., k]``.
      probs: probabilities, ``[..., k]``; one of both is given.
      dtype: dtype of the events; that of the parameters by default.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both or none of ``logits`` and ``probs``.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.RelaxedOneHotCategorical(0.5, probs=[.2, .5, .3])
      >>> round(tf.Session().run(tf.reduce_sum(made.sample(seed=1))).item(), 4)
      1.0

    Source: Jang, E., Gu, S. and Poole, B. "Categorical reparameterization with Gumbel-softmax".
    ICLR 2017.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        made = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        super().__init__(made, bijector=Exp(validate_args=validate_args), name=name)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers near 0 or 1, as differentiable functions of parameters.

    Args:
      temperature: above 0; the smaller, the nearer to 0 or 1.
      logits: log-odds of 1.
      probs: probabilities of 1; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both or none of ``logits`` and ``probs``.

    Example:
      >>> import penstock as tf
      >>> tf.contrib.distributions.RelaxedBernoulli(0.5, probs=[.2, .5]).batch_shape
      TensorShape([Dimension(2)])

    Source: Maddison, C. J., Mnih, A. and Teh, Y. W. "The concrete distribution". ICLR 2017.
    """

    _elementwise = ("logits",)

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            found = [check.assert_positive(temperature)] if validate_args else []
            with control_dependencies(found):
                self._temperature: Any = control.identity(temperature, name="temperature")
            self._logits, self._probs = checks.logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            super().__init__(
                distribution=Logistic(
                    self._logits / self._temperature,
                    1.0 / self._temperature,
                    validate_args=validate_args,
                    allow_nan_stats=allow_nan_stats,
                    name=name + "/Logistic",
                ),
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def temperature(self) -> Any:
        """How far events are from 0 and 1."""
        return self._temperature

    @property
    def logits(self) -> Any:
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of 1."""
        return self._probs
