"""Summaries of tensors by collection: histograms, or scalars of what is a scalar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.ops.array.cast import cast, to_float
from penstock.ops.math.comparison import greater, less
from penstock.ops.math.reduction import reduce_mean
from penstock.storage.summary import build


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar summary of a scalar, a histogram of what has dims.

    Args:
      tensor: the tensor.
      tag: name of the summary; default that of the tensor's node.

    Returns:
      The summary.
    """
    if tensor.get_shape().ndims == 0:
        return _scalar(tensor, tag)
    return _histogram(tensor, tag)


def _scalar(tensor: Any, tag: str | None) -> Any:
    tensor.get_shape().assert_has_rank(0)
    return build.scalar(tag or f"{tensor.op.name}_summary", tensor)


def _histogram(tensor: Any, tag: str | None) -> Any:
    return build.histogram(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Any) -> Any:
    """A histogram of a layer's output, and of relu and sigmoid how many do nothing.

    Args:
      op: the output.

    Returns:
      The histogram.
    """
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        given = op.op.inputs[0]
        _scalar(_share(less(given, cast(0.0, op.dtype))), f"{op.op.name}/zeros")
    if op.op.type == "Relu6":
        given = op.op.inputs[0]
        _scalar(_share(greater(given, cast(6.0, op.dtype))), f"{op.op.name}/sixes")
    return _histogram(op, f"{op.op.name}/activation")


def _share(which: Any) -> Any:
    """Which part of the elements is true."""
    return reduce_mean(to_float(which))


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """``summarizer`` of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """``summarizer`` of each tensor of a collection.

    Args:
      collection: its name.
      name_filter: regular expression that the names of nodes must match.
      summarizer: makes one summary.

    Returns:
      A list of summaries.
    """
    tensors = [
        tensor
        for tensor in collecting.get_collection(collection)
        if name_filter is None or re.match(name_filter, tensor.op.name)
    ]
    return summarize_tensors(tensors, summarizer)


def summarize_variables(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """``summarize_collection`` of the global variables."""
    return summarize_collection(GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """``summarize_collection`` of WEIGHTS."""
    return summarize_collection(GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """``summarize_collection`` of BIASES."""
    return summarize_collection(GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """``summarize_collection`` of ACTIVATIONS."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
