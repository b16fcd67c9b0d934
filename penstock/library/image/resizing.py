"""Images brought to another size, by any method, with or without their aspect ratio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.image import checks, cropping
from penstock.ops.array import cast
from penstock.ops.image.image_resize import resize_bilinear, resize_nearest_neighbor
from penstock.ops.image.image_scale import resize_area, resize_bicubic
from penstock.ops.math import binary, elementwise


class ResizeMethod:
    """How ``resize_images`` finds the pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# By number, and by the name that TensorFlow 2 gives the method.
_RESIZERS: dict[Any, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic,
    ResizeMethod.AREA: resize_area,
    "bilinear": resize_bilinear,
    "nearest": resize_nearest_neighbor,
    "bicubic": resize_bicubic,
    "area": resize_area,
}


def resize_images(
    images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Images, or one image, of another size.

    Args:
      images: [batch, height, width, channels] or [height, width, channels] of any number type.
      size: int32 [2]: new height and width.
      method: a member of ``ResizeMethod``.
      align_corners: the centres of the corner pixels keep their place.
      preserve_aspect_ratio: the largest size within ``size`` that keeps the aspect ratio.

    Returns:
      The images; ``images`` itself where it is known to have this size; else float32, but of the
      type of ``images`` with NEAREST_NEIGHBOR.

    Raises:
      ValueError: a shape is wrong, or there is no such method.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     image = tf.constant([[[0.0], [1.0]]])
      ...     session.run(tf.image.resize_images(image, [1, 4]))[0, :, 0].tolist()
      [0.0, 0.5, 1.0, 1.0]
    """
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.sizes is None:
            raise ValueError("'images' contains no shape.")
        images, batch = checks.as_batch(images)
        size = _as_size(size)
        new = static.constant_value_as_shape(size) or (None, None)
        if preserve_aspect_ratio:
            size = _within(new, images)
            new = _dims_within(new, images.sizes[1:3])
        if None in new or tuple(new) != tuple(images.sizes[1:3]):
            if method not in _RESIZERS:
                raise ValueError(f"Resize method is not implemented: {method!r}")
            images = _RESIZERS[method](images, size, align_corners)
            images.set_shape([None, *new, None])
        return checks.of_batch(images, batch)


def _as_size(size: Any) -> Tensor:
    try:
        size = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError) as error:
        raise ValueError(f"'size' must be a 1-D int32 Tensor; found {size!r}") from error
    if size.sizes not in (None, (2,), (None,)):
        raise ValueError(
            "'size' must be a 1-D Tensor of 2 elements: new_height, new_width; found shape"
            f" {size.shape}"
        )
    made: Tensor = size
    return made


def _dims_within(wanted: Any, found: Any) -> Any:
    """What ``_within`` gives, where that is known."""
    if None in (*wanted, *found):
        return None, None
    real = np.float32
    factor = min(real(w) / real(f) for w, f in zip(wanted, found, strict=True))
    return [int(np.round(factor * real(f))) for f in found]


def _within(wanted: Any, images: Tensor) -> Tensor:
    """The largest size within ``wanted`` that has the images' aspect ratio."""

    def real(value: Any) -> Any:
        return cast.cast(value, dtypes.float32)

    if None in wanted:
        raise ValueError("preserve_aspect_ratio needs a size that is known statically")
    found = checks.sizes(images)[1:3]
    factors = [real(w) / real(f) for w, f in zip(wanted, found, strict=True)]
    factor = binary.minimum(*factors)
    scaled = [cast.cast(elementwise.round_(factor * real(f)), dtypes.int32) for f in found]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:  # fmt: skip
    """Images of another size with their aspect ratio kept, and zeros around.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      target_height, target_width: the size.
      method, align_corners: as for ``resize_images``.

    Returns:
      Images of the target's size.

    Raises:
      ValueError: the size is not positive, or there are neither 3 nor 4 dims.
    """
    with name_scope(None, "resize_image_with_pad", [image]):
        image, batch = checks.as_batch(image)
        waits = checks.positive_dims(image)
        waits += checks.require(target_width > 0, "target_width must be > 0.")
        waits += checks.require(target_height > 0, "target_height must be > 0.")
        image = checks.behind(waits, image)
        _, height, width, _ = checks.sizes(image)
        new, offsets = _fitted((height, width), (target_height, target_width))
        resized = resize_images(image, new, method, align_corners=align_corners)
        if not any(map(checks.is_tensor, (height, width, target_height, target_width))):
            dims = _fitted_dims((height, width), (target_height, target_width))
            resized.set_shape([None, *dims, None])
        target = (target_height, target_width)
        padded = cropping.pad_to_bounding_box(resized, offsets[0], offsets[1], *target)
        checks.sizes(padded)
        return checks.of_batch(padded, batch)


def _fitted_dims(found: tuple[int, int], target: tuple[int, int]) -> tuple[int, int]:
    """The size that ``_fitted`` makes, where it is known."""
    ratio = max(found[1] / target[1], found[0] / target[0])
    return int(found[0] / ratio), int(found[1] / ratio)


def _fitted(found: tuple[Any, Any], target: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """The largest size within ``target`` of that aspect ratio; rows above and columns left."""
    have = [cast.cast(size, dtypes.float64) for size in found]
    want = [cast.cast(size, dtypes.float64) for size in target]
    width_ratio = have[1] / want[1]
    ratio = cropping.larger(width_ratio, have[0] / want[0])
    exact = [size / ratio for size in have]
    new = [cast.cast(elementwise.floor(size), dtypes.int32) for size in exact]
    free = [(size - used) / 2 for size, used in zip(want, exact, strict=True)]
    whole = [elementwise.floor(size) for size in free]
    return new, [cropping.larger(0, cast.cast(size, dtypes.int32)) for size in whole]
