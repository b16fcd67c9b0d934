"""``VectorDiffeomixture``: vectors moved and stretched by a random mean of two ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.distributions import scales
from penstock.contrib.distributions.bijectors import AffineLinearOperator
from penstock.contrib.distributions.quadrature import (
    Mixed,
    quadrature_scheme_softmaxnormal_quantiles,
)
from penstock.foundation.base import shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library import linear_operators
from penstock.library.distributions import Categorical, draws
from penstock.library.distributions.checks import last_axis
from penstock.library.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.ops.array import broadcast_to, join, onehot, shape
from penstock.ops.control import check, control
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import elementwise, reduction, statistics


class VectorDiffeomixture(Mixed, Distribution):
    """``loc(w) + scale(w) z``: w is a random share, and both are means of two by it.

    w is ``SoftmaxCentered`` of a normal number of the mean ``mix_loc / temperature`` and the
    standard deviation ``1 / temperature``, of which a quadrature takes some points.

    Args:
      mix_loc: ``[..., 1]``: to which of both w leans.
      temperature: above 0, ``[..., 1]``: the less, the nearer w is to one of both.
      distribution: the distribution of a number of z.
      loc: two tensors ``[..., k]``, or None for zeros.
      scale: two linear operators ``[..., k, k]``.
      quadrature_size: number of points.
      quadrature_fn: from the mean, the standard deviation, ``quadrature_size`` and
        ``validate_args`` to shares ``[..., 2, quadrature_size]`` and their weights.
      validate_args: whether arguments are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      NotImplementedError: more than two ways.
      ValueError: not as many ``loc`` as ``scale``, or a distribution that is not of one scalar.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> one, two = (tf.linalg.LinearOperatorScaledIdentity(3, s) for s in (1., 2.))
      >>> made = ds.VectorDiffeomixture([0.], [1.], ds.Normal(0., 1.), [None, None], [one, two])
      >>> made.event_shape
      TensorShape([Dimension(3)])

    Source: Dillon, J. V. and Langmore, I. "Quadrature compound: an approximating family of
    distributions". arXiv:1801.03080 (2018).
    """

    def __init__(
        self,
        mix_loc: Any,
        temperature: Any,
        distribution: Any,
        loc: Sequence[Any] | None = None,
        scale: Sequence[Any] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            locs, operators = _ways(loc, scale)
            _check_base(distribution)
            kind = distribution.dtype
            mix_loc_: Any = convert_to_tensor(mix_loc, dtype=kind, name="mix_loc")
            heat: Any = convert_to_tensor(temperature, dtype=kind, name="temperature")
            if validate_args:
                heat = control.with_dependencies([check.assert_positive(heat)], heat)
            self._grid, probs = quadrature_fn(
                mix_loc_ / heat, 1.0 / heat, quadrature_size, validate_args
            )
            self._mixture_distribution = Categorical(
                logits=elementwise.log(probs),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            self._endpoint_affine = [
                AffineLinearOperator(
                    shift=way, scale=operator, validate_args=validate_args,
                    name=f"endpoint_affine_{i}",
                )
                for i, (way, operator) in enumerate(zip(locs, operators, strict=True))
            ]  # fmt: skip
            shares = [self._grid[..., i, :] for i in range(2)]
            self._interpolated_affine = [
                _between([share[..., k] for share in shares], locs, operators, k, validate_args)
                for k in range(quadrature_size)
            ]
            self._distribution, self._size = distribution, quadrature_size
        super().__init__(
            dtype=kind,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            name=name,
        )

    @property
    def grid(self) -> Any:
        """The shares of both ways at each point."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[Any]:
        """Both ways, as bijectors."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[Any]:
        """Their means at each point, as bijectors."""
        return self._interpolated_affine

    def _batch_shape(self) -> Any:
        first = self._interpolated_affine[0]
        known = first.scale.batch_shape
        if first.shift is not None:
            known = broadcast_to.broadcast_static_shape(known, first.shift.shape[:-1])
        return broadcast_to.broadcast_static_shape(known, self._grid.shape[:-2])

    def _batch_shape_tensor(self) -> Any:
        first = self._interpolated_affine[0]
        dims = first.scale.batch_shape_tensor()
        if first.shift is not None:
            sizes: Any = shape.shape(first.shift)
            dims = broadcast_to.broadcast_dynamic_shape(dims, sizes[:-1])
        return dims

    def _event_shape(self) -> Any:
        return shapes.TensorShape([self._endpoint_affine[0].scale.range_dimension])

    def _event_shape_tensor(self) -> Any:
        return last_axis(self._endpoint_affine[0].scale.range_dimension_tensor())

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        batch = self.batch_shape_tensor()
        dims = join.concat([[n], batch, self.event_shape_tensor()], 0)
        x = self.distribution.sample(dims, seed=seed)
        mixture = self.mixture_distribution
        outer = join.concat([[n], batch], 0) if mixture.batch_shape.ndims == 0 else [n]
        chosen = mixture.sample(outer, seed=draws.new_seed(seed, "vector_diffeomixture"))
        hot: Any = onehot.one_hot(chosen, self._size, dtype=self.dtype)
        total: Any = 0.0
        for i, affine in enumerate(self._endpoint_affine):
            share = reduction.reduce_sum(hot * self._grid[..., i, :], axis=-1)
            total = total + last_axis(share) * affine.forward(x)
        return total

    def _log_prob(self, x: Any) -> Any:
        logits: Any = self.mixture_distribution.logits
        each = []
        for k, affine in enumerate(self._interpolated_affine):
            z = affine.inverse(x)
            density: Any = reduction.reduce_sum(self.distribution.log_prob(z), axis=-1)
            ildj = affine.inverse_log_det_jacobian(x, event_ndims=1)
            each.append(logits[..., k] + density + ildj)
        return statistics.reduce_logsumexp(join.stack(each, axis=-1), axis=-1)

    def _weighted(self, values: list[Any], ndims: int) -> Any:
        """The mean of values of the points, of ``ndims`` dims an event."""
        probs: Any = self.mixture_distribution.probs
        total: Any = 0.0
        for k, value in enumerate(values):
            share = probs[..., k]
            if share.shape.ndims != 0:
                for _ in range(ndims):
                    share = last_axis(share)
            total = total + share * value
        return total

    def _means(self) -> list[Any]:
        """The mean at each point."""
        base = self.distribution.mean()
        found = []
        for affine in self._interpolated_affine:
            dims = join.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
            found.append(affine.forward(broadcast_to.broadcast_to(base, dims)))
        return found

    def _mean(self) -> Any:
        return self._weighted(self._means(), 1)

    def _covariance(self) -> Any:
        means = self._means()
        middle = self._weighted(means, 1)
        spread = self.distribution.variance()
        each = []
        for affine, mean in zip(self._interpolated_affine, means, strict=True):
            within = affine.scale.matmul(affine.scale.to_dense(), adjoint_arg=True) * spread
            column = last_axis(mean - middle)
            each.append(within + matmul.matmul(column, column, adjoint_b=True))
        return self._weighted(each, 2)

    def _variance(self) -> Any:
        return matrix_diag.matrix_diag_part(self._covariance())


def _ways(loc: Any, scale: Any) -> tuple[list[Any], list[Any]]:
    """Both ways; what is given once is a list of one."""
    operators = list(scale or [])
    locs = [None] * len(operators) if loc is None else list(loc)
    if not operators or len(locs) != len(operators):
        raise ValueError(
            "loc/scale must be same-length lists (or same-length list-like); found "
            f"{len(locs)} and {len(operators)}"
        )
    if len(operators) != 2:
        raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)="
                                  f"{len(operators)} is not 2.")  # fmt: skip
    kind = operators[0].dtype
    return [
        None if way is None else convert_to_tensor(way, dtype=kind, name=f"loc_{i}")
        for i, way in enumerate(locs)
    ], operators


def _check_base(distribution: Any) -> None:
    for name, known in (("event", distribution.event_shape), ("batch", distribution.batch_shape)):
        if known.ndims not in (None, 0):
            raise ValueError(f"`distribution` must have scalar `{name}_dims`.")


def _between(
    shares: list[Any], locs: list[Any], operators: list[Any], k: int, validate_args: bool
) -> Any:
    """The mean of both ways at a point."""
    shift: Any = None
    for share, loc in zip(shares, locs, strict=True):
        if loc is not None:
            part = last_axis(share) * loc
            shift = part if shift is None else shift + part
    if all(isinstance(each, scales.DIAGONAL) for each in operators):
        diag: Any = 0.0
        for share, each in zip(shares, operators, strict=True):
            diag = diag + last_axis(share) * each.diag_part()
        scale: Any = linear_operators.LinearOperatorDiag(diag, is_non_singular=True)
    else:
        tril: Any = 0.0
        for share, each in zip(shares, operators, strict=True):
            tril = tril + last_axis(last_axis(share)) * each.to_dense()
        scale = linear_operators.LinearOperatorLowerTriangular(tril, is_non_singular=True)
    return AffineLinearOperator(
        shift=shift, scale=scale, validate_args=validate_args, name=f"interpolated_affine_{k}"
    )
