"""``tf.keras.backend``: convolutions, pooling, biases, borders and sizes of images and volumes.

``data_format`` is "channels_last" or "channels_first", by default what ``image_data_format`` says.
Kernels take channels last: what has them first is transposed before and after.  ``padding`` is
"valid" or "same", of ``conv1d`` also "causal".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import nodes, pad, reshape as reshaping, transpose as transposing
from penstock.ops.image import image_resize
from penstock.ops.linalg import matmul
from penstock.training.keras_models.backend_math import repeat_elements

_FIRST, _LAST = "channels_first", "channels_last"


def _channels_first(data_format: str | None, unknown: str = "Unknown data_format: {}") -> bool:
    data_format = settings.image_data_format() if data_format is None else data_format
    if data_format not in (_FIRST, _LAST):
        raise ValueError(unknown.format(data_format))
    return data_format == _FIRST


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _to_last(x: Any) -> Any:
    rank = x.shape.ndims
    return transposing.transpose(x, [0, *range(2, rank), 1])


def _to_first(x: Any) -> Any:
    rank = x.shape.ndims
    return transposing.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def _with_channels_last(x: Any, first: bool, function: Callable[[Any], Any]) -> Any:
    x = convert_to_tensor(x)
    return _to_first(function(_to_last(x))) if first else function(x)


def _several(name: str, value: Sequence[int], count: int) -> None:
    if len(value) != count:
        raise ValueError(f"`{name}` must be a tuple of {count} integers.")


# ---- convolutions ----------------------------------------------------------------------------


def _convolution(
    x: Any, kernel: Any, strides: Any, padding: str, data_format: str | None, dilation: Any
) -> Any:
    first, padded = _channels_first(data_format), _padding(padding)
    return _with_channels_last(
        x, first, lambda last: nn.convolution(last, kernel, padded, strides, dilation)
    )


def conv1d(
    x: Any, kernel: Any, strides: int = 1, padding: str = "valid", data_format: str | None = None,
    dilation_rate: int = 1,
) -> Any:  # fmt: skip
    """Convolution of steps; "causal" lets no step see a later one."""
    if padding == "causal":
        before = dilation_rate * (kernel.shape.as_list()[0] - 1)
        steps = 2 if _channels_first(data_format) else 1
        x = pad.pad(x, [[before if axis == steps else 0, 0] for axis in range(3)])
        padding = "valid"
    return _convolution(x, kernel, [strides], padding, data_format, [dilation_rate])


def conv2d(
    x: Any, kernel: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Convolution of images."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(
    x: Any, kernel: Any, strides: Any = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1, 1),
) -> Any:  # fmt: skip
    """Convolution of volumes."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def _shape_last(output_shape: Any, first: bool, x: Any) -> Any:
    """The shape that is asked with channels last, its batch by that of x where it is open."""
    if isinstance(output_shape, tuple | list):
        sizes = [nodes.shape(x)[0] if output_shape[0] is None else output_shape[0]]
        rest = list(output_shape[1:])
        whole = [*sizes, *rest[1:], rest[0]] if first else [*sizes, *rest]
        return whole if output_shape[0] is not None else math.stack(whole)
    if not first:
        return output_shape
    rank = x.shape.ndims
    return math.gather(output_shape, [0, *range(2, rank), 1])


def conv2d_transpose(
    x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """The gradient of ``conv2d``: images become larger by the strides.

    Raises:
      ValueError: a format or padding that is none, or dilations that differ.
    """
    first, padded = _channels_first(data_format), _padding(padding)

    def convolve(last: Any) -> Any:
        shape = _shape_last(output_shape, first, last)
        if tuple(dilation_rate) == (1, 1):
            return nn.conv2d_transpose(last, kernel, shape, [1, *strides, 1], padded)
        if dilation_rate[0] != dilation_rate[1]:
            raise ValueError(f"dilation_rate {tuple(dilation_rate)}: both must be the same")
        return nn.atrous_conv2d_transpose(last, kernel, shape, dilation_rate[0], padded)

    return _with_channels_last(x, first, convolve)


def conv3d_transpose(
    x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None,
) -> Any:  # fmt: skip
    """The gradient of ``conv3d``."""
    first, padded = _channels_first(data_format), _padding(padding)
    return _with_channels_last(
        x, first,
        lambda last: nn.conv3d_transpose(
            last, kernel, _shape_last(output_shape, first, last), [1, *strides, 1], padded
        ),
    )  # fmt: skip


def separable_conv2d(
    x: Any, depthwise_kernel: Any, pointwise_kernel: Any, strides: Any = (1, 1),
    padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Convolution of each channel, and then across them."""
    first, padded = _channels_first(data_format), _padding(padding)
    _several("strides", strides, 2)
    return _with_channels_last(
        x, first,
        lambda last: nn.separable_conv2d(
            last, depthwise_kernel, pointwise_kernel, [1, *strides, 1], padded, dilation_rate
        ),
    )  # fmt: skip


def depthwise_conv2d(
    x: Any, depthwise_kernel: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Any = (1, 1),
) -> Any:  # fmt: skip
    """Convolution of each channel."""
    first, padded = _channels_first(data_format), _padding(padding)
    return _with_channels_last(
        x, first,
        lambda last: nn.depthwise_conv2d(
            last, depthwise_kernel, [1, *strides, 1], padded, dilation_rate
        ),
    )  # fmt: skip


def local_conv(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any,
    data_format: str | None = None,
) -> Any:  # fmt: skip
    """Convolution whose weights differ from place to place.

    Args:
      inputs: a batch of steps, images and so on.
      kernel: [places, values of a window, filters].
      kernel_size, strides, output_shape: of windows and of places, a number for each dim.
      data_format: where channels are.

    Returns:
      A batch of ``output_shape`` with filters as channels.
    """
    first = _channels_first(data_format)
    inputs, kernel = convert_to_tensor(inputs), convert_to_tensor(kernel)
    _, values, filters = kernel.shape.as_list()
    windows = []
    for place in itertools.product(*map(range, output_shape)):
        within = [
            slice(at * step, at * step + size)
            for at, step, size in zip(place, strides, kernel_size)
        ]
        index = [slice(None), slice(None), *within] if first else [slice(None), *within]
        windows.append(reshaping.reshape(inputs[tuple(index)], [1, -1, values]))
    found = matmul.matmul(math.concat(windows, 0), kernel)  # [places, batch, filters]
    batch_last = reshaping.reshape(found, [*output_shape, -1, filters])
    rank = len(output_shape)
    return transposing.transpose(
        batch_last,
        [rank, rank + 1, *range(rank)] if first else [rank, *range(rank), rank + 1],
    )


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Any:
    """``local_conv`` of steps, as many of which come out as the kernel has places."""
    places = (kernel.shape.as_list()[0],)
    return local_conv(inputs, kernel, kernel_size, strides, places, data_format)


def local_conv2d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any,
    data_format: str | None = None,
) -> Any:  # fmt: skip
    """``local_conv`` of images."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


# ---- pooling ---------------------------------------------------------------------------------


def _pool(x: Any, size: Any, strides: Any, padding: str, data_format: str | None, mode: str) -> Any:
    first, padded = _channels_first(data_format), _padding(padding)
    if mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {mode}")
    return _with_channels_last(
        x, first, lambda last: nn.pool(last, size, mode.upper(), padded, strides=strides)
    )


def pool2d(
    x: Any, pool_size: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
) -> Any:  # fmt: skip
    """The largest ("max") or the mean ("avg") of windows of images."""
    _channels_first(data_format)
    _several("pool_size", pool_size, 2)
    _several("strides", strides, 2)
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Any, pool_size: Any, strides: Any = (1, 1, 1), padding: str = "valid",
    data_format: str | None = None, pool_mode: str = "max",
) -> Any:  # fmt: skip
    """The same of volumes."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode)


# ---- sizes, borders and biases ---------------------------------------------------------------


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str,
    interpolation: str = "nearest",
) -> Any:  # fmt: skip
    """Images as many times as high and wide; ``interpolation`` is "nearest" or "bilinear"."""
    first = _channels_first(data_format, "Invalid `data_format` argument: {}")
    resize = {
        "nearest": image_resize.resize_nearest_neighbor, "bilinear": image_resize.resize_bilinear,
    }.get(interpolation)  # fmt: skip
    if resize is None:
        raise ValueError(
            f'interpolation should be one of "nearest" or "bilinear"; found {interpolation!r}'
        )

    def larger(last: Any) -> Any:
        height, width = last.shape.as_list()[1:3]
        dynamic = nodes.shape(last)
        size = [
            (dynamic[1] if height is None else height) * height_factor,
            (dynamic[2] if width is None else width) * width_factor,
        ]
        return resize(last, size, half_pixel_centers=True)

    return _with_channels_last(x, first, larger)


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Any:
    """Volumes with each element as often along each dim."""
    first = _channels_first(data_format, "Invalid data_format: {}")
    for axis, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis + (2 if first else 1))
    return x


def _bordered(x: Any, padding: Any, data_format: str | None) -> Any:
    inner = [list(one) for one in padding]
    none = [[0, 0]]
    first = _channels_first(data_format)
    return pad.pad(x, [*none, *none, *inner] if first else [*none, *inner, *none])


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Zeros around images: how many before and after, of rows and columns."""
    return _bordered(x, padding, data_format)


def spatial_3d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """The same around volumes."""
    return _bordered(x, padding, data_format)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Adds a vector over channels, or what has all dims of x but the batch, channels last.

    Raises:
      ValueError: a bias of another rank, or a format that is none.
    """
    first = _channels_first(data_format)
    x, bias = convert_to_tensor(x), convert_to_tensor(bias)
    rank, dims = x.shape.ndims, bias.shape.ndims
    if dims not in (1, rank - 1):
        raise ValueError(f"Unexpected bias dimensions {dims}, expect to be 1 or {rank} dimensions")
    if dims == 1 and not (first and rank > 2):
        return nn.bias_add(x, bias)
    sizes = bias.shape.as_list()
    if not first or rank < 3:
        return x + reshaping.reshape(bias, [1, *sizes])
    return x + reshaping.reshape(bias, [1, sizes[-1], *(sizes[:-1] or [1] * (rank - 2))])
