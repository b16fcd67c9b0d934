"""Resampler: values of images between their pixels, at points that a network may compute.

A point (x, y) is interpolated from its four pixels; those outside count as 0, and points a whole
pixel or more outside give 0 and have no gradient.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext


def _check(data: Any, warp: Any) -> None:
    if data.dim() != 4:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is currently supported. The input data shape must be"
            f" [batch_size, data_height, data_width, data_num_channels]; found {list(data.shape)}",
        )
    if warp.dim() < 2 or warp.shape[-1] != 2:
        raise errors.UnimplementedError(
            None,
            None,
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp"
            f" shape last entry should be 2; found {list(warp.shape)}",
        )
    if warp.shape[0] != data.shape[0]:
        raise errors.invalid(
            "Batch size of data and warp tensor must be the same; found"
            f" {list(data.shape)} and {list(warp.shape)}"
        )


def _corners(data: Any, warp: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Of each of the four pixels: place in the image, whether it counts, weights in x and y."""
    batch, height, width, _ = data.shape
    x, y = (warp.reshape(batch, -1, 2)[..., i] for i in range(2))
    near = (x > -1) & (y > -1) & (x < width) & (y < height)
    x, y = torch.where(near, x, 0), torch.where(near, y, 0)
    left, top = x.floor(), y.floor()
    found = []
    for along, across in ((0, 0), (1, 0), (0, 1), (1, 1)):
        column, row = left + along, top + across
        inside = near & (column >= 0) & (row >= 0) & (column < width) & (row < height)
        place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
        in_x = x - left if along else 1 - (x - left)
        in_y = y - top if across else 1 - (y - top)
        found.append((place.to(torch.int64), inside, in_x, in_y))
    return found


def _pixels(data: Any, place: Any, inside: Any) -> Any:
    batch, _, _, channels = data.shape
    flat = data.reshape(batch, -1, channels)
    read = flat.gather(1, place[..., None].expand(-1, -1, channels))
    return torch.where(inside[..., None], read, 0)


def _kernel(data: Any, warp: Any) -> Any:
    _check(data, warp)
    dims = (*warp.shape[:-1], data.shape[3])
    if not (data.numel() and warp.numel()):
        return data.new_zeros(dims)
    total = sum(
        (in_x * in_y)[..., None] * _pixels(data, place, inside)
        for place, inside, in_x, in_y in _corners(data, warp)
    )
    return total.reshape(dims)


def _grad_kernel(data: Any, warp: Any, grad_output: Any) -> Any:
    _check(data, warp)
    to_data, to_warp = torch.zeros_like(data), torch.zeros_like(warp)
    if not (data.numel() and warp.numel()):
        return to_data, to_warp
    batch, channels = data.shape[0], data.shape[3]
    grad = grad_output.reshape(batch, -1, channels)
    flat = to_data.view(batch, -1, channels)
    slopes_x: list[Any] = []
    slopes_y: list[Any] = []
    for number, (place, inside, in_x, in_y) in enumerate(_corners(data, warp)):
        weighted = torch.where(inside[..., None], (in_x * in_y)[..., None] * grad, 0)
        flat.scatter_add_(1, place[..., None].expand(-1, -1, channels), weighted)
        seen = (_pixels(data, place, inside) * grad).sum(-1)
        slopes_x.append(seen * in_y * (1 if number % 2 else -1))
        slopes_y.append(seen * in_x * (1 if number // 2 else -1))
    slopes = torch.stack((sum(slopes_x), sum(slopes_y)), -1)
    return to_data, slopes.reshape(warp.shape)


def _shape(ctx: ShapeContext) -> Dims:
    data, warp = ctx.rank("data", 4), ctx["warp"]
    if warp is None:
        return None
    return (*warp[:-1], None if data is None else data[3])


def _gradient(op: Any, grad: Any) -> Any:
    return list(make("ResamplerGrad", op.inputs[0], op.inputs[1], grad))


_FLOATS = ["T: {half, bfloat16, float, double}"]
define_op(
    "Resampler",
    "data: T, warp: T -> output: T",
    attrs=_FLOATS,
    shape=_shape,
    kernel=_kernel,
    gradient=_gradient,
)
define_op(
    "ResamplerGrad",
    "data: T, warp: T, grad_output: T -> grad_data: T, grad_warp: T",
    attrs=_FLOATS,
    shape=lambda ctx: [ctx["data"], ctx["warp"]],
    kernel=_grad_kernel,
    no_gradient="TensorFlow has none",
)


def resampler(data: Any, warp: Any, name: str = "resampler") -> Tensor:
    """The values of images at points between their pixels, interpolated linearly.

    Args:
      data: floats [batch, height, width, channels].
      warp: the same dtype [batch, ..., 2]: x and y of each point, in pixels.

    Returns:
      [batch, ..., channels]; 0 outside. Gradients flow to both.

    Raises:
      UnimplementedError: in the run: other ranks.
      InvalidArgumentError: in the run: batches of two sizes.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     points = tf.contrib.resampler.resampler([[[[0.], [4.]]]], [[[0.25, 0.]]])
    ...     sess.run(points).tolist()
    [[[1.0]]]
    """
    with name_scope(name, "resampler", [data, warp]):
        data = convert_to_tensor(data, name="data")
        return make("Resampler", data, convert_to_tensor(warp, name="warp"))
