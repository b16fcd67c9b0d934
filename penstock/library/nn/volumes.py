"""Public convolutions and pools over three dims: layers over ``ops.conv3d``, ``ops.pool3d``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make_tensor
from penstock.foundation.graph.families import PoolOfAny
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.conv import given, sequence_of


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str | None = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Convolution (cross-correlation) of volumes with a filter.

    Args:
      input: floating ``[batch, depth, height, width, channels]`` (channels second with NCDHW).
      filter: ``[depth, height, width, input channels, output channels]`` of the same type.
      strides: list of 5.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      dilations: list of 5.
      filters: synonym of ``filter``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: shapes or attributes that do not fit.
    """
    filter = given("filters", filters, "filter", filter)
    return make_tensor(
        "Conv3D", input, filter, name=name, strides=strides, padding=padding,
        data_format=data_format or "NDHWC", dilations=list(dilations),
    )  # fmt: skip


def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of ``conv3d`` in its filter, whose shape is ``filter_sizes``."""
    return make_tensor(
        "Conv3DBackpropFilterV2", input, filter_sizes, out_backprop, name=name, strides=strides,
        padding=padding, data_format=data_format, dilations=list(dilations),
    )  # fmt: skip


def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Transposed convolution of volumes: the gradient of ``conv3d`` in its input.

    Args:
      value: floating ``[batch, depth, height, width, channels]``.
      filter: ``[depth, height, width, output channels, channels]``.
      output_shape: int vector of 5.
      strides: int, or a list of 1, 3 or 5.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      input: synonym of ``value``.
      filters: synonym of ``filter``.
      dilations: int, or a list of 1, 3 or 5.

    Returns:
      A tensor of the shape ``output_shape``.
    """
    filter = given("filters", filters, "filter", filter)
    value = given("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NDHWC"
        c = 1 if data_format.startswith("NC") else 4
        return make_tensor(
            "Conv3DBackpropInputV2", output_shape, filter, value, name=scope,
            strides=sequence_of(strides, 3, c, "strides"), padding=padding,
            data_format=data_format, dilations=sequence_of(dilations, 3, c, "dilations"),
        )  # fmt: skip


def _pool3d(function: str, op_type: str, doc: str) -> PoolOfAny:
    @named(function, doc)
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NDHWC",
        name: str | None = None,
    ) -> Tensor:
        with name_scope(name, op_type, [input]) as scope:
            data_format = data_format or "NDHWC"
            c = 1 if data_format.startswith("NC") else 4
            return make_tensor(
                op_type, input, name=scope, ksize=sequence_of(ksize, 3, c, "ksize"),
                strides=sequence_of(strides, 3, c, "strides"), padding=padding,
                data_format=data_format,
            )  # fmt: skip

    return pool


max_pool3d = _pool3d(
    "max_pool3d",
    "MaxPool3D",
    """The largest value in each window of ``[batch, depth, height, width, channels]``.

    Args:
      input: float, half or bfloat16.
      ksize: window: int, or a list of 1, 3 or 5.
      strides: int, or a list of 1, 3 or 5.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".

    Returns:
      A tensor in the same format.
    """,
)
avg_pool3d = _pool3d(
    "avg_pool3d",
    "AvgPool3D",
    "The mean of each window, over what is inside the volume; arguments as of ``max_pool3d``.",
)
