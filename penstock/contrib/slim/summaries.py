"""Summaries of tensors under their own names; also printed with each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.nn.normalization import zero_fraction
from penstock.ops.control.debug import Print
from penstock.storage.summary import build


def _name(tensor: Any, name: str | None, prefix: str | None, end: str = "") -> str:
    found = (name or tensor.op.name) + end
    return f"{prefix}/{found}" if prefix else found


def _added(summary: Any, tensor: Any, name: str, print_summary: bool) -> Any:
    if print_summary:
        summary = Print(summary, [tensor], name)
    collecting.add_to_collection(GraphKeys.SUMMARIES, summary)
    return summary


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram of a tensor.

    Args:
      tensor: the tensor.
      name: name of the summary; default the tensor's.
      prefix: comes before it.
    """
    return build.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """A summary of images, [batch, height, width, channels]; see ``add_scalar_summary``."""
    name = _name(tensor, name, prefix)
    summary = build.image(name=name, tensor=tensor, collections=[])
    return _added(summary, tensor, name, print_summary)


def add_scalar_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """A summary of a scalar.

    Args:
      tensor: the scalar.
      name: name of the summary; default the tensor's.
      prefix: comes before it.
      print_summary: whether it is printed when it is run.
    """
    name = _name(tensor, name, prefix)
    summary = build.scalar(name=name, tensor=tensor, collections=[])
    return _added(summary, tensor, name, print_summary)


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """Which part of a tensor is zero; see ``add_scalar_summary``."""
    name = _name(tensor, name, prefix, "/Fraction_of_Zero_Values")
    value = zero_fraction(tensor)
    return add_scalar_summary(value, name, print_summary=print_summary)


def _each(add: Callable[..., Any], tensors: Iterable[Any], **arguments: Any) -> list[Any]:
    return [add(tensor, **arguments) for tensor in tensors]


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """``add_histogram_summary`` of each tensor."""
    return _each(add_histogram_summary, tensors, prefix=prefix)


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """``add_image_summary`` of each tensor."""
    return _each(add_image_summary, tensors, prefix=prefix)


def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """``add_scalar_summary`` of each tensor."""
    return _each(add_scalar_summary, tensors, prefix=prefix, print_summary=print_summary)


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """``add_zero_fraction_summary`` of each tensor."""
    return _each(add_zero_fraction_summary, tensors, prefix=prefix)
