"""Public convolutions: arguments of TensorFlow 1.15, as layers over the ops of ``ops.conv``."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import nodes
from penstock.ops.nn import window


def given(new: str, value: Any, old: str, old_value: Any) -> Any:
    """The one of two synonymous arguments that was given; one must be.

    Raises:
      ValueError: both or neither were given.
    """
    if (value is None) == (old_value is None):
        raise ValueError(f"exactly one of {old!r} and {new!r} must be given")
    return old_value if value is None else value


def sequence_of(value: Any, n: int, channel_index: int, name: str) -> list[int]:
    """A strides-like argument, one entry a dim, from an int or a list of 1, n or n + 2."""
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    items = [int(v) for v in value]
    if len(items) == 1:
        items = items * n
    if len(items) == n + 2:
        return items
    if len(items) != n:
        raise ValueError(
            f"{name} should be of length 1, {n} or {n + 2} but was {len(items)}: {items}"
        )
    return [1, *items, 1] if channel_index == n + 1 else [1, 1, *items]


def padding_attrs(padding: Any) -> dict[str, Any]:
    """The attrs padding and explicit_paddings of a ``padding`` argument.

    Raises:
      ValueError: neither a known name nor one (before, after) pair a dim.
    """
    if isinstance(padding, list | tuple):
        if len(padding) != 4 or not all(
            isinstance(p, list | tuple) and len(p) == 2 for p in padding
        ):
            raise ValueError(f"explicit padding must be 4 pairs (before, after); found {padding!r}")
        return {"padding": "EXPLICIT", "explicit_paddings": [int(v) for p in padding for v in p]}
    if padding == "EXPLICIT":
        raise ValueError("explicit padding is given as a list of pairs, not as 'EXPLICIT'")
    return {"padding": padding, "explicit_paddings": []}


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Convolution (cross-correlation) of images with a filter.

    Args:
      input: floating ``[batch, height, width, channels]`` (``[batch, channels, height, width]``
        with NCHW).
      filter: ``[height, width, input channels, output channels]`` of the same type.  Where
        ``input`` has a multiple of its input channels, the convolution is in groups.
      strides: int, or a list of 1, 2 or 4.
      padding: "SAME", "VALID", or a (before, after) pair for each dim.
      use_cudnn_on_gpu: kept for old programs.
      data_format: "NHWC" or "NCHW".
      dilations: int, or a list of 1, 2 or 4.
      filters: synonym of ``filter``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: shapes or attributes that do not fit.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 8]), 2, "SAME").shape.as_list()
      [1, 2, 2, 8]
    """
    filter = given("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    c = window.channel(data_format)
    return make_tensor(
        "Conv2D",
        input,
        filter,
        name=name,
        strides=sequence_of(strides, 2, c, "strides"),
        dilations=sequence_of(dilations, 2, c, "dilations"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """Gradient of ``conv2d`` in its input.

    Args:
      input_sizes: int32 vector, the shape of the input.
      filter: the filter.
      out_backprop: gradient of the convolution's output.
      strides: as of the convolution.
      padding: as of the convolution.
      use_cudnn_on_gpu: kept for old programs.
      data_format: as of the convolution.
      dilations: as of the convolution.
      filters: synonym of ``filter``.

    Returns:
      A tensor of shape ``input_sizes``.
    """
    return make_tensor(
        "Conv2DBackpropInput",
        input_sizes,
        given("filters", filters, "filter", filter),
        out_backprop,
        name=name,
        strides=strides,
        dilations=list(dilations),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Gradient of ``conv2d`` in its filter; arguments as of ``conv2d_backprop_input``."""
    return make_tensor(
        "Conv2DBackpropFilter",
        input,
        filter_sizes,
        out_backprop,
        name=name,
        strides=strides,
        dilations=list(dilations),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        **padding_attrs(padding),
    )


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose (gradient) of ``conv2d``: from its output's shape to its input's.

    Args:
      value: floating ``[batch, height, width, input channels]``.
      filter: ``[height, width, output channels, input channels]``.
      output_shape: int32 vector of 4.
      strides: int, or a list of 1, 2 or 4.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      input: synonym of ``value``.
      filters: synonym of ``filter``.
      dilations: int, or a list of 1, 2 or 4.

    Returns:
      A tensor of shape ``output_shape``.

    Raises:
      ValueError: shapes that do not fit.

    Example:
      >>> import penstock as tf
      >>> maps = tf.zeros([1, 7, 7, 16])
      >>> filters = tf.zeros([3, 3, 8, 16])  # height, width, channels out, channels in
      >>> larger = tf.nn.conv2d_transpose(maps, filters, [1, 14, 14, 8], [1, 2, 2, 1])
      >>> larger.shape.as_list()
      [1, 14, 14, 8]
    """
    value = given("input", input, "value", value)
    filter = given("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NHWC"
        c = window.channel(data_format)
        return make_tensor(
            "Conv2DBackpropInput",
            output_shape,
            filter,
            value,
            name=scope,
            strides=sequence_of(strides, 2, c, "strides"),
            dilations=sequence_of(dilations, 2, c, "dilations"),
            data_format=data_format,
            **padding_attrs(padding),
        )


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution along one dim: ``conv2d`` with height 1.

    Args:
      value: floating ``[batch, width, channels]`` (``[batch, channels, width]`` with NCW).
      filters: ``[width, input channels, output channels]``.
      stride: int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      use_cudnn_on_gpu: kept for old programs.
      data_format: "NWC" or "NCW".
      input: synonym of ``value``.
      dilations: int, or a list of 1 or 3.

    Returns:
      A tensor in the same format.
    """
    value = given("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        layout, axis = _layout_of_1d(data_format)
        strides = [1, *sequence_of(stride, 1, 3 - axis, "stride")]
        spread = [1, *sequence_of(dilations, 1, 3 - axis, "dilations")]
        value = make("ExpandDims", value, axis)
        filters = make("ExpandDims", filters, 0)
        made = make(
            "Conv2D",
            value,
            filters,
            name=scope,
            strides=strides,
            dilations=spread,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=layout,
            **padding_attrs(padding),
        )
        return make_tensor("Squeeze", made, squeeze_dims=[axis])


def _layout_of_1d(data_format: str | None) -> tuple[str, int]:
    """Format in two dims, and position of the new height."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError(f"data_format must be 'NWC' or 'NCW'; found {data_format!r}")


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose (gradient) of ``conv1d``.

    Args:
      input: floating ``[batch, width, input channels]``.
      filters: ``[width, output channels, input channels]``.
      output_shape: int32 vector of 3.
      strides: int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      dilations: int, or a list of 1 or 3.

    Returns:
      A tensor of shape ``output_shape``.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        layout, axis = _layout_of_1d(data_format)
        steps = [1, *sequence_of(strides, 1, 3 - axis, "strides")]
        spread = [1, *sequence_of(dilations, 1, 3 - axis, "dilations")]
        input = make("ExpandDims", input, axis)
        filters = make("ExpandDims", filters, 0)
        if isinstance(output_shape, tuple | np.ndarray):
            output_shape = list(output_shape)
        shape = nodes.concat([output_shape[:axis], [1], output_shape[axis:]], 0)
        made = make(
            "Conv2DBackpropInput",
            shape,
            filters,
            input,
            name=scope,
            strides=steps,
            dilations=spread,
            data_format=layout,
            **padding_attrs(padding),
        )
        return make_tensor("Squeeze", made, squeeze_dims=[axis])
