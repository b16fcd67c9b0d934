"""Convolutions and pools of any dilation, by way of ``SpaceToBatchND``.

A window with gaps over an image is a plain window over each of the interleaved sub-images, so
TensorFlow 1.15 moves these into the batch, applies the plain op, and moves them back.  The same
nodes are made here, constants included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.foundation.opdef.inference import show
from penstock.library.nn import conv, volumes
from penstock.ops.array import nodes, space
from penstock.ops.math import reduction
from penstock.ops.nn import depthwise

WindowOp = Callable[[Tensor, int, str], Tensor]


def _first_spatial(data_format: str | None) -> int:
    return 2 if data_format is not None and data_format.startswith("NC") else 1


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: WindowOp,
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Applies ``op`` as if its window were dilated.

    Args:
      input: the images.
      dilation_rate: int32 vector, one positive rate a spatial dim.
      padding: "SAME" or "VALID".
      op: ``op(input, number of spatial dims, padding)``, the plain window op.
      filter_shape: shape of the window; needed with SAME.
      spatial_dims: positions of the spatial dims; by default 1, 2, ... (2, 3, ... for "NC...").
      data_format: tells where the spatial dims are.

    Returns:
      What ``op`` returns, in the order of ``input``.

    Raises:
      ValueError: rates that are not positive; SAME without ``filter_shape``; sizes of the filter or
        rates that are not known while the graph is built.
    """
    return dilated(input, dilation_rate, padding, op, filter_shape, spatial_dims, data_format, None)


def dilated(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: WindowOp,
    filter_shape: Any,
    spatial_dims: Sequence[int] | None,
    data_format: str | None,
    base_paddings: Any,
) -> Tensor:
    """``with_space_to_batch``, given what ``same_paddings`` made, if it was called before."""
    input = convert.convert_to_tensor(input, name="input")
    rate = convert.convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    known = static.constant_value(rate)
    if known is None:
        raise ValueError("dilation_rate must be known while the graph is built")
    if known.ndim != 1 or (known < 1).any():
        raise ValueError(f"dilation_rate must be a vector of positive ints; found {known.tolist()}")
    start = _first_spatial(data_format)
    dims = list(range(start, start + len(known))) if spatial_dims is None else list(spatial_dims)
    least = dims[-1] + (start == 1)
    if input.sizes is not None and len(input.sizes) < least:
        raise ValueError(
            f"input tensor must have rank {least} at least; its shape is {show(input.sizes)}"
        )
    if (known == 1).all():
        return op(input, len(known), padding)
    base: Any = base_paddings
    if base is None:
        base = np.zeros((len(known), 2), np.int32)
        if padding.upper() == "SAME":
            base = same_paddings(filter_shape, known)
    paddings, crops = space.required_space_to_batch_paddings(
        _spatial_shape(input, dims), rate, base
    )
    block = _over_all_dims(known, 1, dims)
    paddings, crops = (_over_all_dims(p, 0, dims) for p in (paddings, crops))
    moved = make("SpaceToBatchND", input, block, paddings)
    result = op(moved, len(known), "VALID")
    return make_tensor("BatchToSpaceND", result, block, crops)


def same_paddings(filter_shape: Any, rate: np.ndarray) -> Tensor:
    """The padding that a dilated window needs for an output as large as the input."""
    if filter_shape is None:
        raise ValueError("SAME padding needs filter_shape")
    shape = convert.convert_to_tensor(filter_shape, name="filter_shape")
    known = static.constant_value(shape)
    if known is None:
        raise ValueError("the height and width of a dilated SAME filter must be known")
    extra = (known[: len(rate)] - 1) * rate
    pairs = np.stack([extra // 2, extra - extra // 2], 1).astype(np.int32)
    return constant(pairs, dtypes.int32, name="stack")


def _spatial_shape(input: Tensor, dims: Sequence[int]) -> Any:
    if input.sizes is not None and all(input.sizes[d] is not None for d in dims):
        return np.array([input.sizes[d] for d in dims], np.int32)
    shape = make("Shape", input, out_type=dtypes.int32)
    return make_tensor("Pack", [nodes.element(shape, d) for d in dims], name="stack", axis=0)


def _over_all_dims(value: Any, fill: int, dims: Sequence[int]) -> Any:
    """One entry for each dim from 1 to the last spatial one; ``fill`` where one is not spatial."""
    known = value if isinstance(value, np.ndarray) else static.constant_value(value)
    if known is not None:
        rows = {d: known[i] for i, d in enumerate(dims)}
        blank = np.full_like(known[0], fill)
        return np.stack([rows.get(d, blank) for d in range(1, max(dims) + 1)]).astype(np.int32)
    if list(dims) == list(range(1, len(dims) + 1)):
        part = value[0 : len(dims)]
        with name_scope("concat"):
            constant(np.int32(0), dtypes.int32, name="concat_dim")
            return make_tensor("Identity", part, name="concat")
    blanks = np.full((dims[0] - 1, 2), fill, np.int32)
    return nodes.concat([blanks, value], 0)


def strides_and_rate(spatial: int, strides: Any, rate: Any) -> tuple[list[int], list[int]]:
    """Strides and rates, one a spatial dim each; not both above 1."""
    found = []
    for name, value in (("strides", strides), ("dilation_rate", rate)):
        items = [1] * spatial if value is None else [int(v) for v in value]
        if len(items) != spatial:
            raise ValueError(f"len({name})={len(items)} but should be {spatial}; found {items}")
        if min(items) < 1:
            raise ValueError(f"all values of {name} must be positive; found {items}")
        found.append(items)
    if max(found[0]) > 1 and max(found[1]) > 1:
        raise ValueError(
            "strides > 1 not supported in conjunction with dilation_rate > 1; found strides"
            f" {found[0]} and dilation_rate {found[1]}"
        )
    return found[0], found[1]


def convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution over one, two or three spatial dims, strided or dilated.

    Args:
      input: floating ``[batch, spatial..., channels]`` (``[batch, channels, spatial...]`` for
        "NC...").
      filter: ``[spatial..., input channels, output channels]``.
      padding: "SAME" or "VALID".
      strides: one int a spatial dim, or one for all; default 1.
      dilation_rate: one int a spatial dim, or one for all; default 1.
      data_format: "NWC" or "NCW"; "NHWC" or "NCHW"; "NDHWC" or "NCDHW".
      filters: synonym of ``filter``.
      dilations: synonym of ``dilation_rate``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: strides and dilations both above 1, or more than three spatial dims.
    """
    filter = reduction.renamed("filters", filters, "filter", filter)
    rate = reduction.renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert.convert_to_tensor(input, name="input")
        if input.sizes is None:
            filter = convert.convert_to_tensor(filter, name="filter")
        spatial = _spatial_rank(input, filter)
        first = _first_spatial(data_format)
        channels = 1 if first == 2 else spatial + 1
        strides = conv.sequence_of(strides, spatial, channels, "strides")
        rate = conv.sequence_of(rate, spatial, channels, "dilations")

        def plain(x: Tensor, count: int, padding: str) -> Tensor:
            if count == 1:
                return conv.conv1d(x, filter, strides, padding, data_format=data_format, name=scope)
            if count == 2:
                return conv.conv2d(
                    x, filter, strides, padding, data_format=data_format or "NHWC", name=scope
                )
            return volumes.conv3d(x, filter, strides, padding, data_format, name=scope)

        if all(one == 1 for one in rate):
            return plain(input, spatial, padding)
        filter = convert.convert_to_tensor(filter, name="filter")
        between = slice(first, first + spatial)
        _, rate = strides_and_rate(spatial, strides[between], rate[between])
        shape = filter.sizes
        if padding == "SAME" and (shape is None or None in shape):
            raise ValueError(
                f"Cannot convert a partially known TensorShape to a Tensor: {filter.shape}; the"
                " padding of a dilated SAME convolution needs the filter's size"
            )
        return with_space_to_batch(
            input, rate, padding, plain, filter_shape=shape, data_format=data_format
        )


def _spatial_rank(input: Tensor, filter: Any) -> int:
    dims = input.sizes if input.sizes is not None else filter.sizes
    if dims is None:
        raise ValueError("rank of input or filter must be known")
    if not 3 <= len(dims) <= 5:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {len(dims)}.")
    return len(dims) - 2


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """``convolution`` of NHWC images with gaps of ``rate - 1`` between the filter's elements.

    Args:
      value: floating images.
      filters: ``[height, width, input channels, output channels]``.
      rate: the dilation in both dims.
      padding: "SAME" or "VALID".

    Returns:
      Images.
    """
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose (gradient) of ``atrous_conv2d``.

    Args:
      value: floating NHWC images.
      filters: ``[height, width, output channels, input channels]``.
      output_shape: four ints, or an int32 vector of four.
      rate: the dilation in both dims.
      padding: "SAME" or "VALID".

    Returns:
      Images of shape ``output_shape``.

    Raises:
      ValueError: channels, sizes, a rate or a padding that do not fit.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert.convert_to_tensor(value, name="value")
        filters = convert.convert_to_tensor(filters, name="filters")
        _check_transposed(value.sizes, filters.sizes)
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv.conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        sizes = _transposed_sizes(output_shape, filters)
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be either VALID or SAME: found {padding!r}")
        whole: Any = [0, 0]
        if padding == "SAME":
            kernel: Any = filters.sizes
            if kernel is None or None in kernel:
                kernel = nodes.shape(filters)
            whole = [(kernel[i] - 1) * rate for i in range(2)]
        before = [w // 2 for w in whole]
        after = [w - b for w, b in zip(whole, before, strict=True)]
        padded = [sizes[i + 1] + before[i] + after[i] for i in range(2)]
        extra = [(rate - size % rate) % rate for size in padded]
        blocks = [(s + e) // rate for s, e in zip(padded, extra, strict=True)]
        value = space.space_to_batch(value, [[0, extra[0]], [0, extra[1]]], block_size=rate)
        value = make(
            "Conv2DBackpropInput", [rate * rate * sizes[0], *blocks, sizes[3]], filters, value,
            strides=[1, 1, 1, 1], padding="VALID",
        )  # fmt: skip
        crops = [[before[i], after[i] + extra[i]] for i in range(2)]
        return space.batch_to_space(value, crops, block_size=rate)


def _check_transposed(image: Any, kernel: Any) -> None:
    for what, dims in (("value", image), ("filters", kernel)):
        if dims is not None and len(dims) != 4:
            raise ValueError(f"{what} must be of rank 4; its shape is {show(dims)}")
    if image and kernel and None not in (image[3], kernel[3]) and image[3] != kernel[3]:
        raise ValueError(
            "value's input channels does not match filters' input channels,"
            f" {image[3]} != {kernel[3]}"
        )


def _transposed_sizes(output_shape: Any, filters: Tensor) -> Any:
    """``output_shape`` as four ints, or as the tensor that it is."""
    shape = convert.convert_to_tensor(output_shape, name="output_shape")
    if shape.sizes is not None and shape.sizes not in ((4,), (None,)):
        raise ValueError(f"output_shape must have shape (4,), got {show(shape.sizes)}")
    if isinstance(output_shape, Tensor):
        return output_shape
    sizes = list(output_shape)
    outputs = None if filters.sizes is None else filters.sizes[2]
    if not isinstance(sizes[3], Tensor) and outputs not in (None, sizes[3]):
        raise ValueError(
            f"output_shape does not match filter's output channels, {sizes[3]} != {outputs}"
        )
    return sizes


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """``conv1d_transpose``, ``conv2d_transpose`` or ``conv3d_transpose``, by ``input``'s rank.

    Raises:
      ValueError: not one to three spatial dims.
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        input = convert.convert_to_tensor(input)
        filters = convert.convert_to_tensor(filters)
        spatial = _spatial_rank(input, filters)
        if spatial == 1:
            return conv.conv1d_transpose(
                input, filters, output_shape, strides, padding, data_format or "NWC", dilations,
                scope,
            )  # fmt: skip
        if spatial == 3:
            return volumes.conv3d_transpose(
                input, filters, output_shape, strides, padding, data_format, scope,
                dilations=dilations,
            )  # fmt: skip
        return conv.conv2d_transpose(
            input, filters, output_shape, strides, padding, data_format or "NHWC", scope,
            dilations=dilations,
        )  # fmt: skip


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution of every channel with its own filters.

    Args:
      input: floating ``[batch, height, width, channels]``.
      filter: ``[height, width, channels, multiplier]``.
      strides: list of 4.
      padding: "SAME" or "VALID".
      rate: two ints, the dilation; default 1.
      data_format: "NHWC" or "NCHW".
      dilations: synonym of ``rate``.

    Returns:
      A tensor with ``channels * multiplier`` channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x, w = tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 2])
      ...     tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME").shape.as_list()
      [1, 4, 4, 6]
    """
    rate = reduction.renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert.convert_to_tensor(input, name="tensor_in")
        filter = convert.convert_to_tensor(filter, name="filter_in")
        return _depthwise(input, filter, strides, padding, rate, data_format, scope)


def _depthwise(
    input: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any, data_format: str | None,
    name: str,
) -> Tensor:  # fmt: skip
    def plain(x: Tensor, _: int, padding: str) -> Tensor:
        return depthwise.depthwise_conv2d_native(
            x, filter, strides, padding, data_format or "NHWC", name=name
        )

    return with_space_to_batch(
        input,
        [1, 1] if rate is None else rate,
        padding,
        plain,
        filter_shape=nodes.shape(filter),
        data_format=data_format,
    )


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """``depthwise_conv2d``, then a convolution with a 1 x 1 filter that mixes the channels.

    Args:
      input: floating ``[batch, height, width, channels]``.
      depthwise_filter: ``[height, width, channels, multiplier]``.
      pointwise_filter: ``[1, 1, channels * multiplier, outputs]``.
      strides: list of 4, of the depthwise convolution.
      padding: "SAME" or "VALID".
      rate: two ints, the dilation; default 1.
      data_format: "NHWC" or "NCHW".
      dilations: synonym of ``rate``.

    Returns:
      A tensor with ``outputs`` channels.

    Raises:
      ValueError: a pointwise filter that is not 1 x 1.
    """
    rate = reduction.renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert.convert_to_tensor(input, name="tensor_in")
        deep = convert.convert_to_tensor(depthwise_filter, name="depthwise_filter")
        flat = convert.convert_to_tensor(pointwise_filter, name="pointwise_filter")
        if flat.sizes is not None and any(d not in (None, 1) for d in flat.sizes[:2]):
            raise ValueError(f"pointwise_filter must be 1 x 1; found {flat.sizes[:2]}")
        middle = _depthwise(input, deep, strides, padding, rate, data_format, "depthwise")
        return conv.conv2d(
            middle, flat, [1, 1, 1, 1], "VALID", data_format=data_format or "NHWC", name=scope
        )


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Max or average pooling over one, two or three spatial dims, strided or dilated.

    Args:
      input: ``[batch, spatial..., channels]``.
      window_shape: one int a spatial dim.
      pooling_type: "MAX" or "AVG".
      padding: "SAME" or "VALID".
      dilation_rate: one int a spatial dim; default 1.
      strides: one int a spatial dim; default 1.
      data_format: where the channels are.
      dilations: synonym of ``dilation_rate``.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: an unknown pooling type; SAME padding with dilation; strides larger than the
        window, or above 1 with dilation.
    """
    rate = reduction.renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert.convert_to_tensor(input, name="input")
        sizes = [int(w) for w in window_shape]
        spatial = len(sizes)
        if not 1 <= spatial <= 3:
            raise ValueError(f"It is required that 1 <= num_spatial_dims <= 3; found {spatial}")
        shapes.TensorShape(input.sizes).with_rank(spatial + 2)
        strides, rate = strides_and_rate(spatial, strides, rate)
        if padding == "SAME" and max(rate) > 1:
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if any(step > size for step, size in zip(strides, sizes, strict=True)):
            raise ValueError(
                "strides > window_shape not supported; found strides"
                f" {strides} and window_shape {sizes}"
            )
        if pooling_type not in _POOLS:
            raise ValueError(
                f"{spatial}-D {pooling_type} pooling is not supported; known are MAX and AVG"
            )
        plain = _pool_op(_POOLS[pooling_type], sizes, strides, data_format, scope)
        return with_space_to_batch(
            input, rate, padding, plain, filter_shape=sizes, data_format=data_format
        )


_POOLS = {"MAX": "MaxPool", "AVG": "AvgPool"}


def _pool_op(
    op_type: str, sizes: list[int], strides: list[int], data_format: str | None, scope: str
) -> WindowOp:
    """The pool without dilation, for ``with_space_to_batch``; over one dim, by way of two."""
    first = _first_spatial(data_format)
    if len(sizes) == 3:
        op_type, layout = op_type + "3D", "NDHWC" if first == 1 else "NCDHW"
    else:
        layout = "NHWC" if first == 1 else "NCHW"

    def plain(x: Tensor, count: int, padding: str) -> Tensor:
        lead, steps = sizes, strides
        if count == 1:
            x = make("ExpandDims", x, first)
            lead, steps = [1, *sizes], [1, *strides]
        window, steps = ([1, *v, 1] if first == 1 else [1, 1, *v] for v in (lead, steps))
        result: Tensor = make(
            op_type, x, name=scope, ksize=window, strides=steps, padding=padding,
            data_format=layout,
        )  # fmt: skip
        return make("Squeeze", result, squeeze_dims=[first]) if count == 1 else result

    return plain
