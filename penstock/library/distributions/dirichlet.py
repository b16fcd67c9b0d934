"""The Dirichlet distribution, and what it shares with the multinomial one that it feeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions import checks
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.library.distributions.divergence import RegisterKL
from penstock.ops.array import cast, fill, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import (
    binary,
    comparison,
    elementwise,
    functions,
    reduction,
    reductions,
    select,
)
from penstock.ops.random import random_gamma


class Concentrated(Distribution):
    """A family over vectors, whose parameter is the concentration of each of their elements."""

    _concentration: Tensor
    _total_concentration: Tensor

    @property
    def concentration(self) -> Tensor:
        """The concentrations."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sums of the last dim of the concentrations."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Any:
        return shape.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self.concentration)
        return dims[-1:]

    def _event_shape(self) -> Any:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _scale_and_mean(self) -> tuple[Any, Any]:
        """What variance and covariance are made of."""
        raise NotImplementedError

    def _covariance(self) -> Any:
        mean: Any = self._scale_and_mean()[1]
        products = matmul.matmul(mean[..., np.newaxis], mean[..., np.newaxis, :])
        return matrix_diag.matrix_set_diag(-products, self._variance())


class Dirichlet(Concentrated):
    """The Dirichlet distribution over vectors of k positive numbers whose sum is 1.

    Its density is the product of ``x_j^(concentration_j - 1)``, divided by Z.

    Args:
      concentration: above 0, ``[..., k]``.
      validate_args: whether parameters and values are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else a step that computes it fails.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.distributions.Dirichlet([1., 3.]).mean()).tolist()
      [0.25, 0.75]
    """

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            found = convert_to_tensor(concentration, name="concentration")
            self._concentration: Tensor = _checked(found) if validate_args else found
            self._total_concentration: Tensor = reduction.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._total_concentration],
            name=name,
        )

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        gamma = random_gamma.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return gamma / reduction.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Any:
        if self.validate_args:
            found = [check.assert_positive(x, message="samples must be positive")]
            one, total = fill.ones([], dtype=self.dtype), reduction.reduce_sum(x, -1)
            text = "sample last-dimension must sum to `1`"
            found.append(check.assert_near(one, total, message=text))
            x = control.with_dependencies(found, x)
        kernel = reduction.reduce_sum(binary.xlogy(self.concentration - 1.0, x), -1)
        return kernel - functions.lbeta(self.concentration)

    def _entropy(self) -> Any:
        total, size = self.total_concentration, self._size()
        return (
            functions.lbeta(self.concentration)
            + (total - size) * elementwise.digamma(total)
            - reduction.reduce_sum(
                (self.concentration - 1.0) * elementwise.digamma(self.concentration), -1
            )
        )

    def _size(self) -> Any:
        dims: Any = self.event_shape_tensor()
        return cast.cast(dims[0], self.dtype)

    def _mean(self) -> Any:
        return self.concentration / checks.last_axis(self.total_concentration)

    def _scale_and_mean(self) -> tuple[Any, Any]:
        """Of the variance, which is the product of the second and what it lacks of the first."""
        scale = elementwise.rsqrt(1.0 + checks.last_axis(self.total_concentration))
        return scale, scale * self._mean()

    def _variance(self) -> Any:
        scale, mean = self._scale_and_mean()
        return mean * (scale - mean)

    def _mode(self) -> Any:
        size = self._size()
        mode = (self.concentration - 1.0) / (checks.last_axis(self.total_concentration) - size)
        if self.allow_nan_stats:
            number = np.array(np.nan, self.dtype.as_numpy_dtype)
            nan = fill.fill(shape.shape(mode), number, name="nan")
            defined = reductions.reduce_all(comparison.greater(self.concentration, 1.0), -1)
            if self.batch_shape.ndims != 0:
                defined = checks.last_axis(defined)  # of all its components
            return select.where_v2(defined, mode, nan)
        text = "Mode undefined when any concentration <= 1"
        one = fill.ones([], dtype=self.dtype)
        found = check.assert_less(one, self.concentration, message=text)
        return control.with_dependencies([found], mode)


def _checked(concentration: Tensor) -> Any:
    text = "Concentration parameter must be positive."
    found = [check.assert_positive(concentration, message=text)]
    text = "Concentration parameter must have >=1 dimensions."
    found.append(check.assert_rank_at_least(concentration, 1, message=text))
    dims: Any = shape.shape(concentration)
    text = "Concentration parameter must have event_size >= 2."
    found.append(check.assert_less(1, dims[-1], message=text))
    return control.with_dependencies(found, concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(d1: Dirichlet, d2: Dirichlet, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet", [d1.concentration, d2.concentration]):
        own, other = d1.concentration, d2.concentration
        total = elementwise.digamma(reduction.reduce_sum(own, axis=-1, keepdims=True))
        log_mean = elementwise.digamma(own) - total
        moved = reduction.reduce_sum((own - other) * log_mean, axis=-1)
        return moved - functions.lbeta(own) + functions.lbeta(other)
