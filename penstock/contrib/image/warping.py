"""Images of which each pixel comes from a place of its own: dense and sparse flows."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.image.spline import interpolate_spline
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors.dispatched import (
    cast,
    concat,
    expand_dims,
    floor,
    gather,
    maximum,
    minimum,
    stack,
)
from penstock.ops.array.onehot import meshgrid
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape
from penstock.ops.array.split import unstack
from penstock.ops.control.check import assert_greater_equal

# ---- dense ---------------------------------------------------------------------------------------


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """Images whose pixel (y, x) is what lay at (y, x) minus the flow, interpolated linearly.

    Args:
      image: floats [batch, height, width, channels], height and width at least 2.
      flow: floats [batch, height, width, 2]: in pixels, downwards and to the right.
      name: name scope.

    Returns:
      The shape and type of ``image``; places outside are those of the border.

    Raises:
      ValueError: images of another rank.
      InvalidArgumentError: where height or width is less than 2.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     image = tf.reshape(tf.range(6.), [1, 2, 3, 1])
    ...     right = tf.contrib.image.dense_image_warp(image, tf.constant([0., 1.]) + tf.zeros([1, 2, 3, 2]))
    ...     sess.run(right)[0, :, :, 0].tolist()
    [[0.0, 0.0, 1.0], [3.0, 3.0, 4.0]]
    """  # noqa: E501
    with name_scope(name):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        batch, height, width, channels = (shape(image)[i] for i in range(4))
        across, down = meshgrid(range_(width), range_(height))
        grid: Any = expand_dims(cast(stack([down, across], axis=2), flow.dtype), 0)
        points = reshape(grid - flow, [batch, height * width, 2])
        found = _bilinear(image, points)
        return reshape(found, [batch, height, width, channels])


def _bilinear(image: Any, points: Any) -> Any:
    """[batch, points, channels]: values of images at (y, x), of the border beyond it."""
    with name_scope(None, "interpolate_bilinear"):
        if image.get_shape().ndims not in (None, 4):
            raise ValueError(
                "Grid must be 4 dimensional [batch, height, width, channels]; found"
                f" {image.get_shape()}"
            )
        sizes: Any = [shape(image)[i] for i in range(4)]
        checks = [
            assert_greater_equal(sizes[1], 2, message="Grid height must be at least 2."),
            assert_greater_equal(sizes[2], 2, message="Grid width must be at least 2."),
        ]
        with control_dependencies([check for check in checks if check is not None]):
            places = unstack(points, axis=2)
            # The cell of each point, and how far in it the point lies.
            cells = [_cell(places[i], sizes[1 + i], points.dtype) for i in range(2)]
        return _blended(image, sizes, cells)


def _cell(places: Any, size: Any, dtype: Any) -> tuple[Any, Any, Any]:
    last = cast(size - 2, dtype)
    below = minimum(maximum(constant(0.0, dtype), floor(places)), last)
    first: Any = cast(below, "int32")
    within = minimum(maximum(constant(0.0, dtype), places - below), constant(1.0, dtype))
    return first, first + 1, expand_dims(within, 2)


def _blended(image: Any, sizes: Any, cells: list[tuple[Any, Any, Any]]) -> Any:
    batch, height, width, channels = sizes
    flat = reshape(image, [batch * height * width, channels])
    points: Any = shape(cells[0][0])[1]
    starts: Any = reshape(range_(batch) * height * width, [batch, 1])
    (top, bottom, down), (left, right, across) = cells

    def at(rows: Any, columns: Any) -> Any:
        found = gather(flat, starts + rows * width + columns)
        return reshape(found, [batch, points, channels])

    def between(one: Any, other: Any, part: Any) -> Any:
        return part * (other - one) + one

    across = cast(across, image.dtype)
    upper = between(at(top, left), at(top, right), across)
    lower = between(at(bottom, left), at(bottom, right), across)
    return between(upper, lower, cast(down, image.dtype))


# ---- sparse --------------------------------------------------------------------------------------


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Images bent so that given points come to lie at others; a spline moves the rest.

    Args:
      image: floats [batch, height, width, channels], with known sizes.
      source_control_point_locations: floats [batch, points, 2]: (y, x) in pixels.
      dest_control_point_locations: floats [batch, points, 2]: where they come to lie.
      interpolation_order: order of the spline of the flow.
      regularization_weight: how much the flow may miss the points.
      num_boundary_points: into how many parts points of the border that stay where they
        are divide each side: 1 for the corners alone, 0 for none.
      name: name scope.

    Returns:
      ``(warped_image, flow)``: the shape of ``image``, and floats [batch, height, width, 2].

    Raises:
      ValueError: sizes of ``image`` that are not known.
    """
    image = convert_to_tensor(image)
    source: Any = convert_to_tensor(source_control_point_locations)
    target: Any = convert_to_tensor(dest_control_point_locations)
    flows: Any = target - source
    with name_scope(name):
        sizes = image.get_shape().as_list()
        if None in sizes:
            raise ValueError(f"the sizes of image must be known; found {image.get_shape()}")
        batch, height, width, _ = sizes
        rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
        grid = np.stack([rows.ravel(), columns.ravel()], axis=1)
        query = constant(_for_batch(grid, batch), image.dtype)
        if num_boundary_points:
            still = _for_batch(_boundary(height, width, num_boundary_points), batch)
            target = concat([target, constant(still, target.dtype)], 1)
            flows = concat([flows, constant(np.zeros_like(still), flows.dtype)], 1)
        found = interpolate_spline(target, flows, query, interpolation_order, regularization_weight)
        flow = reshape(found, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _for_batch(points: np.ndarray, batch: int) -> np.ndarray:
    return np.tile(points[None], [batch, 1, 1])


def _boundary(height: int, width: int, sections: int) -> np.ndarray:
    """The points that part each side into ``sections``, corners included."""
    ys, xs = np.linspace(0, height - 1, sections + 1), np.linspace(0, width - 1, sections + 1)
    on_border = [(y, x) for y in ys for x in xs if y in (0, height - 1) or x in (0, width - 1)]
    return np.array(on_border, np.float32)
