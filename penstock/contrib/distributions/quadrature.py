"""Quadrature schemes: points and weights that stand for a distribution of a mixing parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.contrib.distributions.bijectors import SoftmaxCentered
from penstock.foundation.base.docstrings import documented_as
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.distributions import special
from penstock.library.distributions.checks import last_axis
from penstock.ops.array import constant, fill, transpose
from penstock.ops.control import check, control
from penstock.ops.math import elementwise


class Mixed:
    """A distribution that a quadrature has made a mixture of."""

    _mixture_distribution: Any
    _distribution: Any

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of which point, or rate, is drawn."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """The distribution at a point."""
        return self._distribution


def _hermite(size: int, dtype: Any) -> tuple[Any, Any]:
    """Points of the standard normal distribution, and their weights, which sum to 1."""
    points, weights = np.polynomial.hermite.hermgauss(deg=size)
    kind = dtype.as_numpy_dtype
    normal = math.sqrt(2.0) * points
    return normal.astype(kind), (weights / weights.sum()).astype(kind)


def _edges(size: int, dtype: Any) -> Any:
    """Quantiles of the standard normal distribution that divide it, but for its ends."""
    shares = np.linspace(0.0, 1.0, size + 3)[1:-1].astype(dtype.as_numpy_dtype)
    return special.ndtri(constant.constant(shares))


def _alike(size: int, dtype: Any) -> Any:
    return fill.fill([size], np.array(1.0 / size, dtype.as_numpy_dtype), name="probs")


def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points and weights of Gauss-Hermite quadrature of log-normal distributions.

    The points are logarithms, as in TensorFlow, while those by quantiles are not.

    Args:
      loc: means of the logarithm, ``[...]``.
      scale: standard deviations of the logarithm; both broadcast.
      quadrature_size: number of points.
      validate_args: accepted; there is nothing to check.

    Returns:
      Points ``[..., quadrature_size]`` and weights ``[quadrature_size]``.

    Example:
      >>> import penstock as tf
      >>> ds = tf.contrib.distributions
      >>> grid, probs = ds.quadrature_scheme_lognormal_gauss_hermite(0., 1., 3)
      >>> round(tf.Session().run(tf.reduce_sum(probs)).item(), 4)
      1.0
    """
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        loc = convert_to_tensor(loc, name="loc")
        scale = convert_to_tensor(scale, dtype=loc.dtype, name="scale")
        points, weights = _hermite(quadrature_size, loc.dtype)
        return last_axis(loc) + points * last_axis(scale), constant.constant(weights, name="probs")


def quadrature_scheme_lognormal_quantiles(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points between quantiles of log-normal distributions, and their weights, which are alike.

    Args:
      loc: means of the logarithm, ``[...]``.
      scale: standard deviations of the logarithm; both broadcast.
      quadrature_size: number of points.
      validate_args: whether ``scale`` is checked to be above 0.

    Returns:
      Points ``[..., quadrature_size]`` and weights ``[quadrature_size]``.

    Example:
      >>> import penstock as tf
      >>> grid, probs = tf.contrib.distributions.quadrature_scheme_lognormal_quantiles(0., 1., 4)
      >>> tf.Session().run(probs).tolist()
      [0.25, 0.25, 0.25, 0.25]
    """
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        loc = convert_to_tensor(loc, name="loc")
        scale = convert_to_tensor(scale, dtype=loc.dtype, name="scale")
        if validate_args:
            scale = control.with_dependencies([check.assert_positive(scale)], scale)
        edges = elementwise.exp(
            last_axis(loc) + last_axis(scale) * _edges(quadrature_size, loc.dtype)
        )
        grid = (edges[..., :-1] + edges[..., 1:]) / 2.0
        grid.set_shape(grid.shape[:-1].concatenate([quadrature_size]))
        return grid, _alike(quadrature_size, loc.dtype)


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Points and weights of Gauss-Hermite quadrature of two shares of a whole.

    The shares are ``bijectors.SoftmaxCentered`` of a normal number.

    Args:
      normal_loc: its means, ``[..., 1]``.
      normal_scale: its standard deviations, ``[..., 1]``.
      quadrature_size: number of points.
      validate_args: whether the last dims are checked to be 1, where they are not known before.

    Returns:
      Points ``[..., 2, quadrature_size]`` and weights ``[quadrature_size]``.

    Raises:
      NotImplementedError: more than two shares.

    Example:
      >>> import penstock as tf
      >>> scheme = tf.contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite
      >>> grid, probs = scheme([0.], [1.], 3)
      >>> grid.shape
      TensorShape([Dimension(2), Dimension(3)])
    """
    name_ = "quadrature_scheme_softmaxnormal_gauss_hermite"
    with name_scope(name, name_, [normal_loc, normal_scale]):
        loc = _of_two(convert_to_tensor(normal_loc, name="normal_loc"), "normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype, name="normal_scale")
        scale = _of_two(scale, "normal_scale")
        points, weights = _hermite(quadrature_size, loc.dtype)
        return _shares(loc + scale * points), constant.constant(weights, name="probs")


@documented_as(quadrature_scheme_softmaxnormal_gauss_hermite)
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Points between quantiles of two shares of a whole, and their weights, which are alike.

    The shares are ``bijectors.SoftmaxCentered`` of a normal number.

    Example:
      >>> import penstock as tf
      >>> scheme = tf.contrib.distributions.quadrature_scheme_softmaxnormal_quantiles
      >>> grid, probs = scheme([0.], [1.], 3)
      >>> grid.shape
      TensorShape([Dimension(2), Dimension(3)])
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc = _of_two(convert_to_tensor(normal_loc, name="normal_loc"), "normal_loc")
        scale = convert_to_tensor(normal_scale, dtype=loc.dtype, name="normal_scale")
        scale = _of_two(scale, "normal_scale")
        edges: Any = _shares(loc + scale * _edges(quadrature_size, loc.dtype))
        grid = (edges[..., :-1] + edges[..., 1:]) / 2.0
        grid.set_shape(grid.shape[:-1].concatenate([quadrature_size]))
        return grid, _alike(quadrature_size, loc.dtype)


def _of_two(parameter: Any, name: str) -> Any:
    """A parameter of two shares: its last dim, of one number, becomes that of the points."""
    size = None if parameter.shape.ndims is None else parameter.shape.as_list()[-1]
    if size not in (None, 1):
        raise NotImplementedError(
            f"Currently only bimixtures are supported; {name}.shape[-1]={size} is not 1."
        )
    return parameter


def _shares(points: Any) -> Any:
    """Two shares ``[..., 2, n]`` of normal numbers ``[..., n]``."""
    shares: Any = SoftmaxCentered().forward(last_axis(points))
    rank = shares.shape.ndims
    if rank is None:
        raise NotImplementedError("the rank of the parameters of a mixture must be known")
    order = [*range(rank - 2), rank - 1, rank - 2]
    return transpose.transpose(shares, order)
