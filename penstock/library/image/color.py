"""Brightness, contrast, hue, saturation and gamma; colour spaces; element types of images.

An image of integers counts as one of floats in [0, 1]: it is converted, adjusted, and converted
back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.image import checks
from penstock.ops.array import cast, fill, join, ranks, reshape, shape, tile
from penstock.ops.control import check, control
from penstock.ops.image import image_codec as codec
from penstock.ops.linalg import contraction
from penstock.ops.math import division, reduction, reductions, statistics
from penstock.ops.random import random

_SMALL_FLOATS = (dtypes.float16, dtypes.float32)


# ---- element types -------------------------------------------------------------------------


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Images of another element type: the greatest integer and 1.0 mean the same.

    Args:
      image: tensor of integers or floats; floats are expected in [0, 1).
      dtype: an integer or floating type.
      saturate: values beyond the range of ``dtype`` become its ends.

    Returns:
      The shape of ``image``, of ``dtype``.

    Raises:
      AttributeError: ``dtype`` is neither integer nor floating.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     pixels = tf.constant([[[0, 128, 255]]], tf.uint8)
      ...     print(session.run(tf.image.convert_image_dtype(pixels, tf.float32)).round(3))
      [[[0.    0.502 1.   ]]]
    """
    image = convert_to_tensor(image, name="image")
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating and not wanted.is_integer:
        raise AttributeError(f"dtype must be either floating point or integer; found {wanted.name}")
    found = image.dtype.base_dtype
    if wanted is found:
        same: Tensor = control.identity(image, name=name)
        return same
    to_integer = cast.saturate_cast if saturate else cast.cast
    with name_scope(name, "convert_image", [image]) as scope:
        made: Tensor
        if found.is_floating and wanted.is_floating:
            made = cast.cast(image, wanted, scope)
        elif not found.is_integer:
            made = to_integer(make("Mul", image, wanted.max + 0.5, name="Mul"), wanted, scope)
        elif wanted.is_floating:
            made = make("Mul", cast.cast(image, wanted), 1.0 / found.max, name=scope)
        elif found.max > wanted.max:
            factor = (found.max + 1) // (wanted.max + 1)
            made = to_integer(division.div(image, factor), wanted, scope)
        else:
            factor = (wanted.max + 1) // (found.max + 1)
            made = make("Mul", to_integer(image, wanted), factor, name=scope)
        return made


def _as_float(image: Tensor) -> Tensor:
    return image if image.dtype in _SMALL_FLOATS else convert_image_dtype(image, dtypes.float32)


# ---- adjustments ---------------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """``image`` plus ``delta``, which is in the scale of [0, 1].

    Args:
      image: images of any number type.
      delta: a scalar.

    Returns:
      The shape and type of ``image``.
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        given = _as_float(image)
        adjusted = make("Add", given, cast.cast(delta, given.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images whose distances from their mean, channel by channel, are multiplied.

    Args:
      images: [..., height, width, channels] of any number type.
      contrast_factor: a float32 scalar.

    Returns:
      The shape and type of ``images``.
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = make("AdjustContrastv2", _as_float(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``gain * image ** gamma``, for images in the scale of [0, 1].

    Args:
      image: images of any number type.
      gamma: a number or scalar, not negative.
      gain: a number or scalar.

    Returns:
      The shape and type of ``image``.

    Raises:
      ValueError: ``gamma`` is negative.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        given = _as_float(image)
        waits = checks.require(gamma >= 0, "Gamma should be a non-negative real number.")
        if waits:
            gamma = checks.behind(waits, gamma)
        return convert_image_dtype(gain * given**gamma, image.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """RGB images whose hues are turned.

    Args:
      image: [..., height, width, 3] of any number type.
      delta: a scalar in [-1, 1]; 1 is once around the circle.

    Returns:
      The shape and type of ``image``.
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(make("AdjustHue", _as_float(image), delta), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """RGB images whose saturations are multiplied.

    Args:
      image: [..., height, width, 3] of any number type.
      saturation_factor: a scalar.

    Returns:
      The shape and type of ``image``.
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = make("AdjustSaturation", _as_float(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Tensor:
    """An image as it is after encoding to JPEG and decoding.

    Args:
      image: [height, width, 1 or 3] of any number type.
      jpeg_quality: 0 to 100: a number or int32 scalar.

    Returns:
      The type of ``image``.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        own = image.dtype
        image = convert_image_dtype(image, dtypes.uint8)
        if not checks.is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtypes.int32)
        data = make("EncodeJpegVariableQuality", image, jpeg_quality)
        return convert_image_dtype(codec.decode_jpeg(data), own)


def _draw(low: Any, high: Any, seed: int | None, **kind: Any) -> Tensor:
    return random.random_uniform([], low, high, seed=seed, **kind)


def _check_range(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError(f"upper must be > lower; found {upper} and {lower}")
    if lower < 0:
        raise ValueError(f"lower must be non-negative; found {lower}")


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_brightness`` by a number drawn from [-max_delta, max_delta).

    Raises:
      ValueError: ``max_delta`` is negative.

    Args:
      image: one image or a batch, of any number type.
      max_delta: the most that is added or taken away, of floats in [0, 1]; not negative.
      seed: op-level seed.

    Returns:
      The image, of its shape and type.

    Example:
      >>> import penstock as tf
      >>> image = tf.fill([2, 2, 3], 0.5)
      >>> with tf.Session() as session:
      ...     changed = session.run(tf.image.random_brightness(image, max_delta=0.1))
      >>> bool((abs(changed - 0.5) <= 0.1).all()), len(np.unique(changed))  # all by the same
      (True, 1)
    """
    if max_delta < 0:
        raise ValueError(f"max_delta must be non-negative; found {max_delta}")
    return adjust_brightness(image, _draw(-max_delta, max_delta, seed))


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_contrast`` by a factor drawn from [lower, upper).

    Raises:
      ValueError: the range is empty or reaches below 0.

    Args:
      image: one image or a batch, of any number type, [..., height, width, channels].
      lower, upper: bounds of the factor that distances from the mean are multiplied by.
      seed: op-level seed.

    Returns:
      The image, of its shape and type.

    Example:
      >>> import penstock as tf
      >>> image = tf.reshape(tf.linspace(0.0, 1.0, 12), [2, 2, 3])
      >>> with tf.Session() as session:
      ...     changed = session.run(tf.image.random_contrast(image, 0.2, 0.5))
      >>> changed.shape, bool(np.ptp(changed) < 1)
      ((2, 2, 3), True)
    """
    _check_range(lower, upper)
    return adjust_contrast(image, _draw(lower, upper, seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_hue`` by a number drawn from [-max_delta, max_delta).

    Raises:
      ValueError: ``max_delta`` is not in [0, 0.5].

    Args:
      image: RGB, [..., 3].
      max_delta: the most that the hue is turned by, in [0, 0.5].
      seed: op-level seed.

    Returns:
      The image, of its shape and type.

    Example:
      >>> import penstock as tf
      >>> image = tf.constant([[[1.0, 0.0, 0.0]]])
      >>> with tf.Session() as session:
      ...     changed = session.run(tf.image.random_hue(image, max_delta=0.1))
      >>> changed.shape, float(changed.max())  # still as bright, of another color
      ((1, 1, 3), 1.0)
    """
    if not 0 <= max_delta <= 0.5:
        raise ValueError(f"max_delta must be in [0, 0.5]; found {max_delta}")
    return adjust_hue(image, _draw(-max_delta, max_delta, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_saturation`` by a factor drawn from [lower, upper).

    Raises:
      ValueError: the range is empty or reaches below 0.

    Args:
      image: RGB, [..., 3].
      lower, upper: bounds of the factor of the saturation.
      seed: op-level seed.

    Returns:
      The image, of its shape and type.

    Example:
      >>> import penstock as tf
      >>> image = tf.constant([[[1.0, 0.5, 0.5]]])
      >>> with tf.Session() as session:
      ...     changed = session.run(tf.image.random_saturation(image, 0.1, 0.5))
      >>> bool(changed.min() > 0.5), float(changed.max())  # paler
      (True, 1.0)
    """
    _check_range(lower, upper)
    return adjust_saturation(image, _draw(lower, upper, seed))


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """``adjust_jpeg_quality`` by a quality drawn from [min_jpeg_quality, max_jpeg_quality).

    Raises:
      ValueError: the range is empty or not within [0, 100].
    """
    low, high = min_jpeg_quality, max_jpeg_quality
    if not (0 <= low <= 100 and 0 <= high <= 100):
        raise ValueError(f"jpeg encoding range must be between 0 and 100; found {low} and {high}")
    if low >= high:
        raise ValueError(
            f"`min_jpeg_quality` must be less than `max_jpeg_quality`; found {low} and {high}"
        )
    return adjust_jpeg_quality(image, _draw(low, high, seed, dtype=dtypes.int32))


def per_image_standardization(image: Any) -> Tensor:
    """Each image with mean 0 and standard deviation 1.

    The deviation counts as at least ``1 / sqrt(elements)``, so that flat images do not blow up.

    Args:
      image: [..., height, width, channels] of any number type.

    Returns:
      The shape and type of ``image``; an integer type cuts off what is below 0 or above 1.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checks.checked(convert_to_tensor(image, name="image"))
        own = image.dtype
        if own not in _SMALL_FLOATS:
            image = convert_image_dtype(image, dtypes.float32)
        count = reductions.reduce_prod(shape.shape(image)[-3:])
        mean = reduction.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = statistics.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = make("Rsqrt", cast.cast(count, image.dtype))
        deviation = make("Maximum", deviation, least)
        made = division.div(image - mean, deviation, name=scope)
        return convert_image_dtype(made, own, saturate=True)


# ---- colour spaces -------------------------------------------------------------------------

# What red, green and blue add to luminance.
_LUMINANCE = [0.2989, 0.5870, 0.1140]
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]  # fmt: skip
_YIQ_TO_RGB = [
    [1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049],
]  # fmt: skip
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]  # fmt: skip
_YUV_TO_RGB = [
    [1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0],
]  # fmt: skip


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The luminance of RGB images.

    Args:
      images: [..., 3] of any number type.

    Returns:
      [..., 1] of the type of ``images``.
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        given = convert_image_dtype(images, dtypes.float32)
        gray = contraction.tensordot(given, _LUMINANCE, [-1, -1])
        return convert_image_dtype(reshape.expand_dims(gray, -1), images.dtype, name=scope)


def _gray_checks(images: Tensor) -> list[Any]:
    """Checks that images have a last dim of 1."""
    dims = images.sizes
    if dims is not None and len(dims) < 2:
        raise ValueError(
            f"A grayscale image must be at least two-dimensional; found shape {images.shape}"
        )
    if dims is not None and None not in dims:
        if dims[-1] != 1:
            raise ValueError(
                f"Last dimension of a grayscale image should be size 1; found {dims[-1]}"
            )
        return []
    return [
        check.assert_equal(
            shape.shape(images)[-1], 1,
            message="Last dimension of a grayscale image should be size 1.",
        ),
        check.assert_greater_equal(
            ranks.rank(images), 3,
            message="A grayscale image must be at least two-dimensional.",
        ),
    ]  # fmt: skip


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Grey images with three equal channels.

    Args:
      images: [..., 1].

    Returns:
      [..., 3] of the type of ``images``.

    Raises:
      ValueError: the last dim is known and not 1.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        images = checks.behind(_gray_checks(images), images)
        outer = reshape.expand_dims(ranks.rank(images) - 1, 0)
        ones = fill.ones(outer, dtype=dtypes.int32)
        multiples = join.concat([ones, reshape.expand_dims(3, 0)], 0)
        made = tile.tile(images, multiples, name=scope)
        if images.sizes is not None:
            made.set_shape([*images.sizes[:-1], 3])
        return made


def _changed_space(kernel: Sequence[Sequence[float]], what: str) -> Callable[[Any], Tensor]:
    def change(images: Any) -> Tensor:
        images = convert_to_tensor(images, name="images")
        matrix = convert_to_tensor(kernel, images.dtype, name="kernel")
        last = len(images.sizes) - 1
        return contraction.tensordot(images, matrix, axes=[[last], [0]])

    source, target = what.upper().split("_TO_")
    doc = f"""Images of {source} as {target}.

    Args:
      images: [..., 3] of a floating type; RGB is in [0, 1].

    Returns:
      The shape and type of ``images``.
    """
    return named(what, doc)(change)


rgb_to_yiq = _changed_space(_RGB_TO_YIQ, "rgb_to_yiq")
yiq_to_rgb = _changed_space(_YIQ_TO_RGB, "yiq_to_rgb")
rgb_to_yuv = _changed_space(_RGB_TO_YUV, "rgb_to_yuv")
yuv_to_rgb = _changed_space(_YUV_TO_RGB, "yuv_to_rgb")
