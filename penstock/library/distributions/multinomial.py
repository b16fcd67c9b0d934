"""The multinomial distribution, and that whose probabilities are Dirichlet's."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow import functional
from penstock.library.distributions import checks, draws
from penstock.library.distributions.dirichlet import Concentrated
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.ops.array import cast, join, onehot, reshape, shape, transpose
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import elementwise, functions, reduction
from penstock.ops.nn import softmax
from penstock.ops.random import random, random_gamma


class Multinomial(Distribution):
    """The multinomial distribution: how many of ``total_count`` draws are of each of k classes.

    Args:
      total_count: numbers of draws, floating, ``[...]``.
      logits: unnormalized log-probabilities of the classes, ``[..., k]``.
      probs: probabilities of the classes, ``[..., k]``; one of both is given.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Raises:
      ValueError: both are given, or none is.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Multinomial(4., probs=[.25, .75]).mean()).tolist()
      [1.0, 3.0]
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count: Tensor = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checks.nonnegative_integers(self._total_count)
            self._logits, self._probs = checks.logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            self._mean_val = checks.last_axis(self._total_count) * self._probs
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
        """The numbers of draws."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """The unnormalized log-probabilities."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self._mean_val)
        return dims[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self._mean_val)
        return dims[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        count = cast.cast(self.total_count, dtypes.int32)
        size: Any = self.event_shape_tensor()
        size = size[0]
        whole: Any = self.logits
        count = elementwise.ones_like(whole[..., 0], dtype=count.dtype) * count
        logits = elementwise.ones_like(checks.last_axis(count), dtype=whole.dtype) * whole
        rows = reshape.reshape(logits, [-1, size])
        counts = n * reshape.reshape(count, [-1])

        def of_one(row_and_count: Any) -> Any:
            row, total = row_and_count
            drawn = random.multinomial(row[np.newaxis, ...], total, seed=seed)
            classes = onehot.one_hot(reshape.reshape(drawn, [n, -1]), depth=size)
            return reduction.reduce_sum(classes, axis=-2)

        found = functional.map_fn(of_one, [rows, counts], dtype=self.dtype)
        found = transpose.transpose(found, perm=[1, 0, 2])
        return reshape.reshape(found, join.concat([[n], self.batch_shape_tensor(), [size]], 0))

    def _log_prob(self, counts: Tensor) -> Any:
        kernel = reduction.reduce_sum(self._checked(counts) * softmax.log_softmax(self.logits), -1)
        ways = checks.log_combinations(self.total_count, self._checked(counts))
        return kernel - -ways

    def _mean(self) -> Any:
        return control.identity(self._mean_val)

    def _full_probs(self) -> Any:
        return self._probs * checks.last_axis(elementwise.ones_like(self.total_count))

    def _covariance(self) -> Any:
        probs: Any = self._full_probs()
        products = matmul.matmul(checks.last_axis(self._mean_val), probs[..., np.newaxis, :])
        return matrix_diag.matrix_set_diag(-products, self._variance())

    def _variance(self) -> Any:
        return self._mean_val - self._mean_val * self._full_probs()

    def _checked(self, counts: Tensor) -> Any:
        if not self.validate_args:
            return counts
        return _adding_up(counts, self.total_count, "counts must sum to `self.total_count`")


def _adding_up(counts: Tensor, total: Tensor, text: str) -> Any:
    """``counts`` with the checks that they are counts, of the sum ``total``."""
    counts = checks.nonnegative_integers(counts)
    found = check.assert_equal(total, reduction.reduce_sum(counts, -1), message=text)
    return control.with_dependencies([found], counts)


class DirichletMultinomial(Concentrated):
    """The multinomial distribution of probabilities that are drawn from a Dirichlet distribution.

    Args:
      total_count: numbers of draws, floating, ``[...]``.
      concentration: those of the Dirichlet distribution, above 0, ``[..., k]``.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.DirichletMultinomial(4., [1., 3.]).mean()).tolist()
      [1.0, 3.0]
    """

    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count: Tensor = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = checks.nonnegative_integers(self._total_count)
            self._concentration: Tensor = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._concentration = _positive(self._concentration)
            self._total_concentration: Tensor = reduction.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._concentration],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The numbers of draws."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        count = cast.cast(self.total_count, dtypes.int32)
        size: Any = self.event_shape_tensor()
        size = size[0]
        gamma = random_gamma.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = reshape.reshape(elementwise.log(gamma), [-1, size])
        seed = draws.new_seed(seed, "dirichlet_multinomial")
        drawn = random.multinomial(logits, count, seed=seed)
        found = reduction.reduce_sum(onehot.one_hot(drawn, depth=size), -2)
        dims = join.concat([[n], self.batch_shape_tensor(), [size]], 0)
        return cast.cast(reshape.reshape(found, dims), self.dtype)

    def _log_prob(self, counts: Tensor) -> Any:
        if self.validate_args:
            text = "counts last-dimension must sum to `self.total_count`"
            counts = _adding_up(counts, self.total_count, text)
        ordered = functions.lbeta(self.concentration + counts) - functions.lbeta(self.concentration)
        return ordered + checks.log_combinations(self.total_count, counts)

    def _mean(self) -> Any:
        return self.total_count * (self.concentration / checks.last_axis(self.total_concentration))

    def _scale_and_mean(self) -> tuple[Any, Any]:
        total = checks.last_axis(self.total_concentration)
        scale = elementwise.sqrt((1.0 + total / self.total_count) / (1.0 + total))
        return scale, scale * self._mean()

    def _variance(self) -> Any:
        scale, mean = self._scale_and_mean()
        return mean * (self.total_count * scale - mean)


def _positive(concentration: Tensor) -> Any:
    text = "Concentration parameter must be positive."
    concentration = checks.categorical_event_shape(concentration)
    return control.with_dependencies(
        [check.assert_positive(concentration, message=text)], concentration
    )
