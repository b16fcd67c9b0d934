"""How alike images are, how rough they are, and where their edges lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import cond
from penstock.library.image.color import convert_image_dtype
from penstock.library.nn.dilation import depthwise_conv2d
from penstock.library.nn.pooling import avg_pool
from penstock.ops.array import (
    cast,
    fill,
    join,
    pad as padding,
    ranges,
    ranks,
    reshape,
    shape,
    split,
    tile,
)
from penstock.ops.control import control, debug
from penstock.ops.math import elementwise, reduction, reductions
from penstock.ops.nn import activation, softmax as normalizing

_Reducer = Callable[[Any], Tensor]
# How much each scale of ssim_multiscale counts (Wang, Simoncelli and Bovik, 2003).
_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


# ---- alike ---------------------------------------------------------------------------------


def _compatible(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """Shapes of two images, and checks that these agree: the last three dims, others broadcast.

    Raises:
      ValueError: they are known not to agree.
    """
    one, two = first.sizes, second.sizes
    for dims in (one, two):
        if dims is not None and len(dims) < 3:
            raise ValueError(f"Shape {list(dims)} must have rank at least 3")
    if one is not None and two is not None:
        pairs = list(zip(reversed(one), reversed(two), strict=False))
        for number, (a, b) in enumerate(pairs):
            free = None in (a, b) or (number >= 3 and 1 in (a, b))
            if not free and a != b:
                raise ValueError(f"Two images are not compatible: {first.shape} and {second.shape}")
    shape1, shape2 = shape.shape_n([first, second])
    shapes = [shape1, shape2]
    enough = make("GreaterEqual", ranks.size(shape1), 3)
    waits = [debug.Assert(enough, shapes, summarize=10)]
    same = reductions.reduce_all(make("Equal", shape1[-3:], shape2[-3:]))
    waits.append(debug.Assert(same, shapes, summarize=10))
    return shape1, shape2, waits


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Peak signal-to-noise ratio between images, in decibels.

    Args:
      a, b: [..., height, width, channels] of one number type.
      max_val: the range of values: 255 for uint8, 1.0 for floats.

    Returns:
      float32 [...]: one number an image.

    Raises:
      ValueError: the shapes do not agree.
    """
    with name_scope(name, "PSNR", [a, b]):
        peak = convert_image_dtype(cast.cast(max_val, a.dtype), dtypes.float32)
        a = convert_image_dtype(a, dtypes.float32)
        b = convert_image_dtype(b, dtypes.float32)
        error = reduction.reduce_mean(make("SquaredDifference", a, b), [-3, -2, -1])
        decibels = 20 * make("Log", peak) / make("Log", 10.0)
        noise = np.float32(10 / np.log(10)) * make("Log", error)
        ratio = make("Sub", decibels, noise, name="psnr")
        _, _, waits = _compatible(a, b)
        with control_dependencies(waits):
            made: Tensor = control.identity(ratio)
            return made


def _similarity(
    x: Tensor, y: Tensor, mean_of: _Reducer, max_val: Any, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """Luminance's part of the similarity, and that of contrast and structure."""
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_x, mean_y = mean_of(x), mean_of(y)
    both = mean_x * mean_y * 2.0
    squares = make("Square", mean_x) + make("Square", mean_y)
    luminance = (both + c1) / (squares + c1)
    covariance = mean_of(x * y) * 2.0
    variances = mean_of(make("Square", x) + make("Square", y))
    c2 *= 1.0
    structure = (covariance - both + c2) / (variances - squares + c2)
    return luminance, structure


def _gaussian_window(size: Tensor, sigma: Tensor) -> Tensor:
    """A filter [size, size, 1, 1] whose weights add up to 1."""
    size = convert_to_tensor(size, dtypes.int32)
    places = cast.cast(ranges.range_(size), sigma.dtype)
    places -= cast.cast(size - 1, sigma.dtype) / 2.0
    weights = make("Square", places)
    weights *= -0.5 / make("Square", sigma)
    across = reshape.reshape(weights, [1, -1])
    weights = across + reshape.reshape(weights, [-1, 1])
    weights = normalizing.softmax(reshape.reshape(weights, [1, -1]))
    return reshape.reshape(weights, [size, size, 1, 1])


def _by_channel(
    img1: Tensor, img2: Tensor, max_val: Any, filter_size: int, filter_sigma: float, k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """[..., channels]: the similarity of two images, and its contrast and structure alone."""
    size = constant(filter_size, dtypes.int32)
    sigma = constant(filter_sigma, img1.dtype)
    shape1, shape2 = shape.shape_n([img1, img2])
    waits = []
    for found in (shape1, shape2):
        fits = reductions.reduce_all(make("GreaterEqual", found[-3:-1], size))
        waits.append(debug.Assert(fits, [found, size], summarize=8))
    with control_dependencies(waits):
        img1 = control.identity(img1)
    window = _gaussian_window(size, sigma)
    window = tile.tile(window, [1, 1, shape1[-1], 1])

    def mean_of(x: Any) -> Tensor:
        found = shape.shape(x)
        x = reshape.reshape(x, join.concat([[-1], found[-3:]], 0))
        y = depthwise_conv2d(x, window, strides=[1, 1, 1, 1], padding="VALID")
        return reshape.reshape(y, join.concat([found[:-3], shape.shape(y)[1:]], 0))

    luminance, structure = _similarity(img1, img2, mean_of, max_val, k1, k2)
    axes = constant([-3, -2], dtypes.int32)
    both = reduction.reduce_mean(luminance * structure, axes)
    return both, reduction.reduce_mean(structure, axes)


def _as_floats(img1: Tensor, img2: Tensor, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    peak = convert_image_dtype(cast.cast(max_val, img1.dtype), dtypes.float32)
    img1 = convert_image_dtype(img1, dtypes.float32)
    return peak, img1, convert_image_dtype(img2, dtypes.float32)


def ssim(
    img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """Structural similarity of images: 1 for equal ones.

    Args:
      img1, img2: [..., height, width, channels] of one number type, at least ``filter_size`` high
        and wide.
      max_val: the range of values: 255 for uint8, 1.0 for floats.
      filter_size: size of the Gaussian window that means are taken over.
      filter_sigma: its width.
      k1, k2: parts of ``max_val`` that keep the quotients from growing where images are dark or
        flat.

    Returns:
      float32 [...]: one number an image.

    Raises:
      ValueError: the shapes do not agree.
    """
    img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    _, _, waits = _compatible(img1, img2)
    with control_dependencies(waits):
        img1 = control.identity(img1)
    peak, img1, img2 = _as_floats(img1, img2, max_val)
    found, _ = _by_channel(img1, img2, peak, filter_size, filter_sigma, k1, k2)
    made: Tensor = reduction.reduce_mean(found, [-1])
    return made


_HALF = [1, 2, 2, 1]


def _halved(
    images: list[Tensor], heads: list[Tensor], tails: list[Tensor], divisor: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """Images of half the height and width, rounded up, and their new last three sizes."""
    pairs = zip(images, tails, strict=True)
    flat = [reshape.reshape(x, join.concat([[-1], tail], 0)) for x, tail in pairs]
    odd = tails[0] % divisor
    needs = reductions.reduce_any(make("NotEqual", odd, 0))

    def padded() -> list[Tensor]:
        amounts = padding.pad(reshape.expand_dims(odd, -1), [[1, 0], [1, 0]])
        return [padding.pad(x, amounts, mode="SYMMETRIC") for x in flat]

    even = cond(needs, padded, lambda: flat)
    small = [avg_pool(x, ksize=_HALF, strides=_HALF, padding="VALID") for x in even]
    tails = [found[1:] for found in shape.shape_n(small)]
    shaped = zip(small, heads, tails, strict=True)
    return [reshape.reshape(x, join.concat([h, t], 0)) for x, h, t in shaped], tails


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Any = _POWERS, filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """Structural similarity of images at several scales, each half of the one before.

    Args:
      img1, img2, max_val, filter_size, filter_sigma, k1, k2: as for ``ssim``.
      power_factors: the exponent of each scale.

    Returns:
      float32 [...]: one number an image.

    Raises:
      ValueError: the shapes do not agree.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        shape1, shape2, waits = _compatible(img1, img2)
        with control_dependencies(waits):
            img1 = control.identity(img1)
        peak, *images = _as_floats(img1, img2, max_val)
        heads = [found[:-3] for found in (shape1, shape2)]
        tails = [found[-3:] for found in (shape1, shape2)]
        divisor = constant(_HALF[1:], dtypes.int32)
        scales = []
        for number in range(len(power_factors)):
            with name_scope(None, f"Scale{number}", images):
                if number:
                    images, tails = _halved(images, heads, tails, divisor)
                both, structure = _by_channel(
                    images[0], images[1], peak, filter_size, filter_sigma, k1, k2
                )
                scales.append(activation.relu(structure))
        scales[-1] = activation.relu(both)
        every = make("Pow", join.stack(scales, axis=-1), power_factors)
        return reduction.reduce_mean(reductions.reduce_prod(every, [-1]), [-1])


# ---- rough ---------------------------------------------------------------------------------


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences between neighbouring pixels.

    Args:
      images: [batch, height, width, channels] or [height, width, channels].

    Returns:
      [batch], or a scalar, of the type of ``images``.

    Raises:
      ValueError: there are neither 3 nor 4 dims.
    """
    with name_scope(name, "total_variation"):
        rank = None if images.sizes is None else len(images.sizes)
        if rank not in (3, 4):
            raise ValueError(f"'images' must be either 3 or 4-dimensional; found {images.shape}")
        every = slice(None)
        axes = None if rank == 3 else [1, 2, 3]
        differences = []
        for axis in (rank - 3, rank - 2):
            keys = [every] * rank, [every] * rank
            keys[0][axis], keys[1][axis] = slice(1, None), slice(None, -1)
            differences.append(images[tuple(keys[0])] - images[tuple(keys[1])])
        sums = [reduction.reduce_sum(elementwise.abs_(d), axis=axes) for d in differences]
        made: Tensor = sums[0] + sums[1]
        return made


# ---- edges ---------------------------------------------------------------------------------


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """Differences of each pixel from the one below and the one on its right; 0 at the end.

    Args:
      image: [batch, height, width, channels].

    Returns:
      dy and dx, of the shape and type of ``image``.

    Raises:
      ValueError: there are not 4 dims.
    """
    if image.sizes is None or len(image.sizes) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    found = shape.shape(image)
    count, height, width, depth = split.unstack(found)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    along = image[:, :, 1:, :] - image[:, :, :-1, :]
    made = []
    ends = (([count, 1, width, depth], 1, down), ([count, height, 1, depth], 2, along))
    for dims, axis, difference in ends:
        last = fill.zeros(join.stack(dims), image.dtype)
        last.set_shape([1 if n == axis else dim for n, dim in enumerate(image.sizes)])
        made.append(reshape.reshape(join.concat([difference, last], axis), found))
    return made[0], made[1]


_SOBEL = np.array(
    [
        [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
        [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    ]
)  # fmt: skip


def sobel_edges(image: Any) -> Tensor:
    """How steep images are downwards and to the right, by Sobel's filters.

    Args:
      image: [batch, height, width, channels] of a floating type, at least 2 high and wide.

    Returns:
      [batch, height, width, channels, 2] of the type of ``image``.
    """
    found = shape.shape(image)
    filters = constant(_SOBEL.transpose(1, 2, 0)[:, :, None, :], image.dtype)
    filters = tile.tile(filters, [1, 1, found[-1], 1], name="sobel_filters")
    padded = padding.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    made = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    made = reshape.reshape(made, join.concat([found, [2]], 0))
    if image.sizes is not None:
        made.set_shape([*image.sizes, 2])
    return made
