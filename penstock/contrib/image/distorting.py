"""Colours of images changed in YIQ (``ops/image/image_yiq``), by given or by random amounts."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.image.color import convert_image_dtype
from penstock.ops.random.random import random_uniform


def random_hsv_in_yiq(
    image: Any,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Tensor:
    """``adjust_hsv_in_yiq`` by amounts that each step draws.

    Args:
      image: [..., height, width, 3] of any number type.
      max_delta_hue: the hue is turned by up to this, in radians, either way.
      lower_saturation, upper_saturation: range of the factor of the saturation.
      lower_value, upper_value: range of the factor of the value.
      seed: op-level seed.

    Returns:
      The shape and type of ``image``.

    Raises:
      ValueError: negative amounts, or a range whose ends are the wrong way round.
    """
    _check_amounts(max_delta_hue, lower_saturation, upper_saturation, lower_value, upper_value)

    def drawn(low: float, high: float) -> Any:
        # A range of one number needs no draw.
        return high if low == high else random_uniform([], low, high, seed=seed)

    delta_hue = 0 if max_delta_hue == 0 else drawn(-max_delta_hue, max_delta_hue)
    saturation = drawn(lower_saturation, upper_saturation)
    return adjust_hsv_in_yiq(image, delta_hue, saturation, drawn(lower_value, upper_value))


def _check_amounts(hue: float, *ranges: float) -> None:
    if hue < 0:
        raise ValueError(f"max_delta must be non-negative. Found {hue}.")
    for what, low, high in zip(("saturation", "value"), ranges[::2], ranges[1::2], strict=True):
        if low < 0:
            raise ValueError(f"lower_{what} must be non-negative. Found {low}.")
        if high < low:
            raise ValueError(f"lower_{what} must be < upper_{what}. Found {low} and {high}.")


def adjust_hsv_in_yiq(
    image: Any,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Tensor:
    """Images with hue turned, saturation and value multiplied, in the space YIQ.

    Args:
      image: [..., height, width, 3] of any number type; integers count as floats in [0, 1].
      delta_hue: scalar, radians.
      scale_saturation: scalar factor.
      scale_value: scalar factor.
      name: name scope.

    Returns:
      The shape and type of ``image``; floats may leave [0, 1].

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     dark = tf.contrib.image.python.ops.distort_image_ops.adjust_hsv_in_yiq(
    ...         [[[1., 0.5, 0.25]]], scale_value=0.5)
    ...     sess.run(dark).round(4).tolist()
    [[[0.5, 0.25, 0.125]]]
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        given = convert_image_dtype(image, dtypes.float32)
        made = make("AdjustHsvInYiq", given, delta_hue, scale_saturation, scale_value)
        return convert_image_dtype(made, image.dtype)
