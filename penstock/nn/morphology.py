"""Grayscale dilation and erosion of images, as layers over the ops of ``ops.morphology``."""

from __future__ import annotations

from typing import Any

from penstock.graph.build import make
from penstock.graph.scopes import name_scope
from penstock.graph.tensor import Tensor
from penstock.nn.conv import given
from penstock.ops import reduction
from penstock.ops.transpose import reverse


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
      name: name of the node.
      filters: synonym of ``filter``.
      dilations: synonym of ``rates``.

    Returns:
      A tensor in the same format.
    """
    filter = given("filters", filters, "filter", filter)
    rates = reduction.renamed("dilations", dilations, "rates", rates)
    made: Tensor = make(
        "Dilation2D", input, filter, name=name, strides=strides, rates=rates, padding=padding
    )
    return made


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
        result: Tensor = make("Neg", made)
    return result
