"""Distributions of counts: Poisson's, the binomial, negative binomial and geometric ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks, draws
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED
from penstock.library.distributions.scalars import Elementwise
from penstock.ops.array import constant, fill, join
from penstock.ops.control import check, control
from penstock.ops.math import comparison, elementwise, select, special
from penstock.ops.nn import activation
from penstock.ops.random import random, random_gamma


class _Counts(Elementwise):
    """A family of counts; ``validate_args`` checks that values are integers of 0 or more."""

    # The shapes of parameters are not told by that of a sample.
    _elementwise: ClassVar[tuple[str, ...]] = ()

    def _checked(self, x: Any) -> Any:
        return checks.nonnegative_integers(x) if self.validate_args else x


class Poisson(_Counts):
    """The Poisson distribution, of the probabilities ``rate^k exp(-rate) / k!``.

    Args:
      rate: means, above 0.
      log_rate: their logarithms; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      TypeError: the parameter is not floating.
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Poisson(rate=2.5).mode()).item()
      2.0
    """

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = _floats(rate, "rate")
                found = [check.assert_positive(rate)] if validate_args else []
                with control_dependencies(found):
                    rate = control.identity(rate, name="rate")
                    log_rate = elementwise.log(rate, name="log_rate")
            else:
                log_rate = _floats(log_rate, "log_rate")
                rate = elementwise.exp(log_rate, name="rate")
        self._rate, self._log_rate = rate, log_rate
        super().__init__(
            dtype=rate.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[rate],
            name=name,
        )

    @property
    def rate(self) -> Any:
        """The means."""
        return self._rate

    @property
    def log_rate(self) -> Any:
        """The logarithms of the means."""
        return self._log_rate

    def _given(self) -> list[Any]:
        return [self.rate]

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked(x)
        return x * self.log_rate - elementwise.lgamma(1.0 + x) - self.rate

    def _cdf(self, x: Tensor) -> Any:
        return special.igammac(1.0 + self._checked(x), self.rate)

    def _log_cdf(self, x: Tensor) -> Any:
        return elementwise.log(self.cdf(x))

    def _mean(self) -> Any:
        return control.identity(self.rate)

    def _variance(self) -> Any:
        return control.identity(self.rate)

    def _mode(self) -> Any:
        return elementwise.floor(self.rate)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return random_gamma.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


def _floats(value: Any, name: str) -> Tensor:
    found = convert_to_tensor(value, name=name)
    if not found.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({found.dtype.name}) is a not a float-type.")
    return found


class _Successes(_Counts):
    """Counts of independent trials, of which each succeeds with a probability."""

    def _take(self, logits: Any, probs: Any, validate_args: bool, name: str | None) -> None:
        given: dict[str, Any] = {"logits": logits, "probs": probs, "validate_args": validate_args}
        if name is not None:
            given["name"] = name
        self._logits, self._probs = checks.logits_and_probs(**given)

    @property
    def logits(self) -> Tensor:
        """The log-odds of success."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of success."""
        return self._probs


class Binomial(_Successes):
    """How many of ``total_count`` trials succeed.

    Args:
      total_count: numbers of trials, integers of 0 or more in a floating dtype.
      logits: log-odds of success.
      probs: probabilities of success; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both or none of ``logits`` and ``probs``.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Binomial(4., probs=.25).mean()).item()
      1.0
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            count: Any = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                count = checks.nonnegative_integers(count)
            self._total_count: Tensor = count
            self._take(logits, probs, validate_args, name)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The numbers of trials."""
        return self._total_count

    def _given(self) -> list[Any]:
        return [self.total_count, self.probs]

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        x = checks.nonnegative_integers(x)
        text = "total_count must be at least as large as counts"
        found = check.assert_less_equal(x, self.total_count, message=text)
        return control.with_dependencies([found], x)

    def _log_prob(self, counts: Tensor) -> Any:
        x: Any = self._checked(counts)
        n: Any = self.total_count
        kernel = x * elementwise.log(self.probs) + (n - x) * elementwise.log1p(-self.probs)
        ways = (
            elementwise.lgamma(1.0 + n - x)
            + elementwise.lgamma(1.0 + x)
            - elementwise.lgamma(1.0 + n)
        )
        return kernel - ways

    def _cdf(self, counts: Tensor) -> Any:
        x, n, probs = _alike(self._checked(counts), self.total_count, self.probs)
        is_below = comparison.less(x, n)
        # All trials are at most n: where x is n, the integral has no first parameter above 0.
        ones = elementwise.ones_like(x)
        first = select.where(is_below, n - x, ones)
        inside = special.betainc(first, x + 1.0, 1.0 - probs)
        return select.where(is_below, inside, ones)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return elementwise.floor((1.0 + self.total_count) * self.probs)


def _alike(*values: Any) -> list[Any]:
    """The tensors broadcast to one shape."""
    total: Any = elementwise.zeros_like(values[0])
    for value in values[1:]:
        total = total + elementwise.zeros_like(value)
    return [value + total for value in values]


class NegativeBinomial(_Successes):
    """How many trials succeed before ``total_count`` fail.

    Args:
      total_count: numbers of failures, above 0.
      logits: log-odds of success.
      probs: probabilities of success; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both or none of ``logits`` and ``probs``.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.NegativeBinomial(4., probs=.5).mean()).item()
      4.0
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
            found = [check.assert_positive(total_count)] if validate_args else []
            with control_dependencies(found):
                self._total_count: Tensor = control.identity(total_count)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The numbers of failures."""
        return self._total_count

    def _given(self) -> list[Any]:
        return [self.total_count, self.probs]

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Poisson's distribution of a rate that is of the gamma distribution.
        rate = random_gamma.random_gamma(
            [n],
            alpha=self.total_count,
            beta=elementwise.exp(-self.logits),
            dtype=self.dtype,
            seed=seed,
        )
        seed = draws.new_seed(seed, "negative_binom")
        return random_gamma.random_poisson(rate, [], dtype=self.dtype, seed=seed)

    def _cdf(self, x: Tensor) -> Any:
        n, k, odds = _alike(self.total_count, 1.0 + self._checked(x), -self.logits)
        return special.betainc(n, k, elementwise.sigmoid(odds))

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked(x)
        n = self.total_count
        kernel = n * elementwise.log_sigmoid(-self.logits)
        kernel = kernel + x * elementwise.log_sigmoid(self.logits)
        ways = elementwise.lgamma(n + x) - elementwise.lgamma(1.0 + x) - elementwise.lgamma(n)
        return kernel + ways

    def _mean(self) -> Any:
        return self.total_count * elementwise.exp(self.logits)

    def _mode(self) -> Any:
        one = elementwise.ones_like(self.total_count)
        zero = elementwise.zeros_like(self.total_count)
        rest = select.where(comparison.less(one, self.total_count), self.total_count - 1.0, zero)
        return elementwise.floor(rest * elementwise.exp(self.logits))

    def _variance(self) -> Any:
        return self._mean() / elementwise.sigmoid(-self.logits)


class Geometric(_Successes):
    """How many trials fail before the first succeeds.

    Args:
      logits: log-odds of success.
      probs: probabilities of success, above 0; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Geometric(probs=.25).mean()).item()
      3.0
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
            if validate_args:
                found = [check.assert_positive(self._probs)]
                self._probs = control.with_dependencies(found, self._probs)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _given(self) -> list[Any]:
        return [self.probs]

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Not from 0, the logarithm of which is infinite.
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        dims = join.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random.random_uniform(dims, tiny, 1.0, dtype=self.dtype, seed=seed)
        return elementwise.floor(elementwise.log(uniform) / elementwise.log1p(-self.probs))

    def _whole(self, x: Tensor) -> Any:
        return self._checked(x) if self.validate_args else elementwise.floor(x)

    def _cdf(self, x: Tensor) -> Any:
        at_least, probs = _alike(self._whole(x), self.probs)
        found = -elementwise.expm1((1.0 + at_least) * elementwise.log1p(-probs))
        return select.where(at_least < 0.0, elementwise.zeros_like(found), found)

    def _log_prob(self, x: Tensor) -> Any:
        # Where x is 0 its factor must be finite, whatever the probability.
        fails, probs = _alike(self._whole(x), self.probs)
        is_first = comparison.equal(fails, 0.0)
        safe = select.where(is_first, elementwise.zeros_like(probs), probs)
        return fails * elementwise.log1p(-safe) + elementwise.log(probs)

    def _entropy(self) -> Any:
        probs: Any = self.probs
        if self.validate_args:
            one = constant.constant(1.0, dtype=probs.dtype)
            text = "Entropy is undefined when logits = inf or probs = 1."
            found = check.assert_less(probs, one, message=text)
            probs = control.with_dependencies([found], probs)
        return activation.softplus(self.logits) / probs - self.logits

    def _mean(self) -> Any:
        return elementwise.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return fill.zeros(self.batch_shape_tensor(), dtype=self.dtype)
