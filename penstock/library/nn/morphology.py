"""Grayscale dilation and erosion of images, as layers over the ops of ``ops.morphology``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.conv import given
from penstock.ops.array.transpose import reverse
from penstock.ops.math import reduction


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Grayscale dilation: the largest sum of image and filter under each window.

    Args:
      input: real ``[batch, height, width, channels]``.
      filter: ``[height, width, channels]`` of the same type.
      strides: list of 4.
      rates: list of 4, the distance of the filter's elements.
      padding: "SAME" or "VALID".
      filters: synonym of ``filter``.
      dilations: synonym of ``rates``.

    Returns:
      A tensor in the same format.
    """
    filter = given("filters", filters, "filter", filter)
    rates = reduction.renamed("dilations", dilations, "rates", rates)
    return make_tensor(
        "Dilation2D", input, filter, name=name, strides=strides, rates=rates, padding=padding
    )


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Grayscale erosion: the smallest difference of image and kernel under each window.

    The arguments are those of ``dilation2d``; it is the dilation of the negative image by the
    kernel turned over.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        negative = make("Neg", value)
        made = make(
            "Dilation2D", negative, reverse(kernel, [0, 1]), name=scope, strides=strides,
            rates=rates, padding=padding,
        )  # fmt: skip
        return make_tensor("Neg", made)
