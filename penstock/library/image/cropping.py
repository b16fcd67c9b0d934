"""Images cut and padded: to boxes, to sizes, to their middle.

Sizes and offsets may be Python numbers or tensors.  What is known is computed and checked at once;
the rest becomes nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.image import checks
from penstock.ops.array import cast, join, pad as padding, patches, reshape, shape, slicing
from penstock.ops.math import binary
from penstock.ops.math.comparison import equal


def _choose(python: Callable[..., Any], node: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A function of two numbers that makes a node only where one is a tensor."""

    def choose(x: Any, y: Any) -> Any:
        return node(x, y) if checks.is_tensor(x) or checks.is_tensor(y) else python(x, y)

    return choose


larger = _choose(max, binary.maximum)
smaller = _choose(min, binary.minimum)
_same = _choose(lambda x, y: x == y, equal)


def _set_known(images: Tensor, *dims: Any) -> None:
    images.set_shape([None if checks.is_tensor(dim) else _number(dim) for dim in dims])


def _number(dim: Any) -> Any:
    """The number of an array of one, which the checks refuse in the step."""
    return dim.item() if isinstance(dim, np.ndarray) and dim.size == 1 else dim


def _dim(image: Tensor, axis: int) -> Any:
    dims = image.sizes
    if dims is not None and dims[axis] is not None:
        return dims[axis]
    return shape.shape(image)[axis]


def _margin(size: Any, fraction: float) -> Any:
    """How much is cut off at either end of a dim."""
    if not checks.is_tensor(size):
        return int((float(size) - float(size) * fraction) / 2)
    real = cast.cast(size, dtypes.float64)
    return cast.cast((real - real * fraction) / 2, dtypes.int32)


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of images.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      central_fraction: how much of the height and of the width is kept: in (0, 1].

    Returns:
      The middle; ``image`` itself for a fraction of 1.

    Raises:
      ValueError: the fraction is out of range, or there are neither 3 nor 4 dims.

    Example:
      >>> import penstock as tf
      >>> tf.image.central_crop(tf.zeros([100, 60, 3]), 0.5).shape.as_list()
      [50, 30, 3]
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError(f"central_fraction must be within (0, 1]; found {central_fraction}")
        if central_fraction == 1.0:
            whole: Tensor = image
            return whole
        checks.checked(image)
        dims = image.sizes
        if dims is None or len(dims) not in (3, 4):
            raise ValueError(f"`image` should have rank 3 or 4; found shape {image.shape}")
        first = len(dims) - 3
        found = [_dim(image, first), _dim(image, first + 1)]
        margins = [_margin(size, central_fraction) for size in found]
        kept = [size - margin * 2 for size, margin in zip(found, margins, strict=True)]
        begin = join.stack([*([0] * first), *margins, 0])
        size = join.stack([*([-1] * first), *kept, -1])
        made = slicing.slice_(image, begin, size)
        _set_known(made, *dims[:first], *kept, dims[-1])
        return made


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Images at a place in larger ones, with zeros around.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      offset_height, offset_width: rows of zeros above and columns on the left.
      target_height, target_width: size of the result.

    Returns:
      Images of the target's size, of the type of ``image``.

    Raises:
      ValueError: an offset is negative, the image does not fit, or there are neither 3 nor 4 dims.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, batch = checks.as_batch(image)
        waits = checks.positive_dims(image)
        count, height, width, depth = checks.sizes(image)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        waits += checks.require(offset_height >= 0, "offset_height must be >= 0")
        waits += checks.require(offset_width >= 0, "offset_width must be >= 0")
        waits += checks.require(after_width >= 0, "width must be <= target - offset")
        waits += checks.require(after_height >= 0, "height must be <= target - offset")
        image = checks.behind(waits, image)
        amounts = [0, 0, offset_height, after_height, offset_width, after_width, 0, 0]
        padded = padding.pad(image, reshape.reshape(join.stack(amounts), [4, 2]))
        _set_known(padded, count, target_height, target_width, depth)
        return checks.of_batch(padded, batch)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """A box cut out of images.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      offset_height, offset_width: the box's first row and column.
      target_height, target_width: size of the box.

    Returns:
      Images of the target's size, of the type of ``image``.

    Raises:
      ValueError: the box is not inside the image, or there are neither 3 nor 4 dims.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, batch = checks.as_batch(image)
        waits = checks.positive_dims(image)
        count, height, width, depth = checks.sizes(image)
        waits += checks.require(offset_width >= 0, "offset_width must be >= 0.")
        waits += checks.require(offset_height >= 0, "offset_height must be >= 0.")
        waits += checks.require(target_width > 0, "target_width must be > 0.")
        waits += checks.require(target_height > 0, "target_height must be > 0.")
        waits += checks.require(
            width >= target_width + offset_width, "width must be >= target + offset."
        )
        waits += checks.require(
            height >= target_height + offset_height, "height must be >= target + offset."
        )
        image = checks.behind(waits, image)
        begin = join.stack([0, offset_height, offset_width, 0])
        cropped = slicing.slice_(image, begin, join.stack([-1, target_height, target_width, -1]))
        _set_known(cropped, count, target_height, target_width, depth)
        return checks.of_batch(cropped, batch)


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Images cut or padded with zeros, at both ends alike, to a size.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      target_height, target_width: the size.

    Returns:
      Images of the target's size, of the type of ``image``.

    Raises:
      ValueError: the size is not positive, or there are neither 3 nor 4 dims.

    Example:
      >>> import penstock as tf
      >>> photo = tf.zeros([100, 20, 3])
      >>> tf.image.resize_image_with_crop_or_pad(photo, 32, 32).shape.as_list()
      [32, 32, 3]
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, batch = checks.as_batch(image)
        waits = checks.positive_dims(image)
        waits += checks.require(target_width > 0, "target_width must be > 0.")
        waits += checks.require(target_height > 0, "target_height must be > 0.")
        image = checks.behind(waits, image)
        if checks.is_tensor(target_height):
            target_height = checks.behind(waits, target_height)
        if checks.is_tensor(target_width):
            target_width = checks.behind(waits, target_width)
        _, height, width, _ = checks.sizes(image)
        more = target_width - width
        crop_left, pad_left = larger(-more // 2, 0), larger(more // 2, 0)
        more = target_height - height
        crop_top, pad_top = larger(-more // 2, 0), larger(more // 2, 0)
        kept = smaller(target_height, height), smaller(target_width, width)
        cropped = crop_to_bounding_box(image, crop_top, crop_left, *kept)
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, found_height, found_width, _ = checks.sizes(resized)
        waits = checks.require(_same(found_height, target_height), "resized height is not correct.")
        waits += checks.require(_same(found_width, target_width), "resized width is not correct.")
        return checks.of_batch(checks.behind(waits, resized), batch)


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Tensor:
    """Windows of images, each laid out along the last dim.

    Args:
      images: [batch, height, width, channels].
      sizes: [1, height, width, 1] of the windows.
      strides: [1, rows, columns, 1] from one window to the next.
      rates: [1, rows, columns, 1] from one pixel of a window to the next.
      padding: "VALID" or "SAME".

    Returns:
      [batch, rows, columns, height * width * channels] of the type of ``images``.
    """
    return patches.extract_image_patches(images, sizes, strides, rates, padding, name)
