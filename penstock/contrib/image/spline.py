"""Polyharmonic splines: smooth surfaces through values at scattered points.

f(x) = sum_i w_i phi(|x - c_i|) + v . [x, 1]. With r the distance, phi is r^k for odd k and
r^k log(r) for even k; everything is computed of r squared, so no root is taken where k is even. The
weights solve one linear system a batch element.

Source: https://en.wikipedia.org/wiki/Polyharmonic_spline
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors.dispatched import (
    concat,
    expand_dims,
    log,
    maximum,
    ones_like,
    reduce_sum,
    sqrt,
    square,
)
from penstock.ops.array.fill import zeros
from penstock.ops.array.shape import shape
from penstock.ops.array.split import unstack
from penstock.ops.array.transpose import transpose
from penstock.ops.linalg.linalg_solve import matrix_solve
from penstock.ops.linalg.matmul import matmul
from penstock.ops.linalg.matrix_diag import eye, matrix_diag_part
from penstock.ops.math.binary import pow_

# Distances below are taken for this one: a logarithm or a root has no slope at 0.
_LEAST = 1e-10


def _phi(r: Any, order: int) -> Any:
    """The spline's function of the squared distance ``r``."""
    with name_scope(None, "phi"):
        if order == 1:
            return sqrt(maximum(r, _LEAST))
        if order == 2:
            return 0.5 * r * log(maximum(r, _LEAST))
        if order == 4:
            return 0.5 * square(r) * log(maximum(r, _LEAST))
        if order % 2 == 0:
            return 0.5 * pow_(maximum(r, _LEAST), 0.5 * order) * log(maximum(r, _LEAST))
        return pow_(maximum(r, _LEAST), 0.5 * order)


def _squared_between(x: Any, y: Any) -> Any:
    """[batch, n, m] squared distances of the points of two sets."""
    of_x: Any = reduce_sum(square(x), 2)
    of_y: Any = reduce_sum(square(y), 2)
    of_x, of_y = expand_dims(of_x, 2), expand_dims(of_y, 1)
    return of_x - 2 * matmul(x, y, adjoint_b=True) + of_y


def _squared_within(x: Any) -> Any:
    """[batch, n, n] squared distances of the points of one set."""
    products: Any = matmul(x, x, adjoint_b=True)
    lengths: Any = expand_dims(matrix_diag_part(products), 2)
    return lengths - 2 * products + transpose(lengths, [0, 2, 1])


def _system(points: Any, values: Any, order: int, regularization: float) -> tuple[Any, Any, Any]:
    """Left and right side of the linear system for weights and plane; how many weights."""
    batch, count, dims = unstack(shape(points), num=3)
    dims, channels = _last_dim(points, dims), _last_dim(values)
    with name_scope(None, "construct_linear_system"):
        near: Any = _phi(_squared_within(points), order)
        if regularization > 0:
            near = near + regularization * expand_dims(eye(count, dtype=points.dtype), 0)
        plane: Any = concat([points, ones_like(points[..., :1])], 2)
        upper = concat([near, transpose(plane, [0, 2, 1])], 1)
        lower = concat([plane, zeros([batch, dims + 1, dims + 1], points.dtype)], 1)
        left = concat([upper, lower], 2)
        right = concat([values, zeros([batch, dims + 1, channels], points.dtype)], 1)
        return left, right, count


def _last_dim(values: Any, otherwise: Any = None) -> Any:
    """The number of columns, as a number where it is known."""
    known = dimension_value(values.get_shape()[-1])
    if known is not None:
        return known
    return shape(values)[-1] if otherwise is None else otherwise


def _solved(points: Any, values: Any, order: int, regularization: float) -> tuple[Any, Any]:
    left, right, count = _system(points, values, order, regularization)
    with name_scope(None, "solve_linear_system"):
        solution: Any = matrix_solve(left, right)
        return solution[:, :count, :], solution[:, count:, :]


def _predicted(query: Any, points: Any, weights: Any, plane: Any, order: int) -> Any:
    near: Any = matmul(_phi(_squared_between(query, points), order), weights)
    padded = concat([query, ones_like(query[..., :1])], 2)
    return near + matmul(padded, plane)


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """The values at points of a smooth surface through given ones.

    Args:
      train_points: floats [batch, n, dims].
      train_values: floats [batch, n, channels].
      query_points: floats [batch, m, dims].
      order: order of the spline: 1 is a cone, 2 the thin plate, 3 cubic.
      regularization_weight: how much the surface may miss the given values.
      name: name scope.

    Returns:
      Floats [batch, m, channels].

    Raises:
      InvalidArgumentError: in the run: points of which two are equal, or that lie on a line.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     plane = tf.contrib.image.interpolate_spline(
    ...         [[[0., 0.], [0., 1.], [1., 0.]]], [[[0.], [1.], [2.]]], [[[1., 1.]]], order=2)
    ...     sess.run(plane).round(3).tolist()
    [[[3.0]]]
    """
    with name_scope(name, "interpolate_spline"):
        points: Any = convert_to_tensor(train_points)
        values = convert_to_tensor(train_values)
        query = convert_to_tensor(query_points)
        with name_scope(None, "solve"):
            weights, plane = _solved(points, values, order, regularization_weight)
        with name_scope(None, "predict"):
            found: Tensor = _predicted(query, points, weights, plane, order)
            return found
