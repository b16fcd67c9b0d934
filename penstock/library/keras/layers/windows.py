"""The arguments of layers that slide windows, brought to one form, and the sizes they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dimension, shapes
from penstock.library.layer_base import settings

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def sizes(value: Any, count: int, name: str) -> tuple[int, ...]:
    """An int, or ``count`` of them, as a tuple.

    Raises:
      ValueError: another number of them, or no ints.
    """
    if isinstance(value, int):
        return (value,) * count
    text = f"The `{name}` argument must be a tuple of {count} integers. Received: {value}"
    try:
        items = tuple(value)
    except TypeError:
        raise ValueError(text) from None
    if len(items) != count:
        raise ValueError(text)
    for item in items:
        try:
            int(item)
        except (ValueError, TypeError):
            raise ValueError(f"{text} including element {item} of type {type(item)}") from None
    return items


def data_format(value: Any) -> str:
    """ "channels_last" or "channels_first"; None asks for the default.

    Raises:
      ValueError: something else.
    """
    found = settings.image_data_format() if value is None else value
    lowered = str(found).lower()
    if lowered not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last".'
            f" Received: {value}"
        )
    return lowered


def padding(value: Any) -> Any:
    """ "valid", "same" or "causal", or a list of paddings as it is.

    Raises:
      ValueError: something else.
    """
    if isinstance(value, list | tuple):
        return value
    lowered = str(value).lower()
    if lowered not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or'
            f' "causal", only for `Conv1D). Received: {value}'
        )
    return lowered


def layout(form: str, spatial: int) -> str:
    """The format as ops name it, for so many spatial dims."""
    return _FORMATS[spatial][form == "channels_first"]


def output_length(
    length: int | None, window: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How many windows there are; None where the input's size is open."""
    if length is None:
        return None
    reach = window + (window - 1) * (dilation - 1)
    left = length if padding in ("same", "causal") else length - reach + 1
    return (left + stride - 1) // stride


def output_lengths(
    lengths: Sequence[Any], sizes: Sequence[int], padding: str, strides: Sequence[int],
    dilations: Sequence[int] | None = None,
) -> list[Any]:  # fmt: skip
    """The same along each dim."""
    each = zip(lengths, sizes, strides, dilations or [1] * len(sizes), strict=True)
    return [
        output_length(length, size, padding, stride, dilation)
        for length, size, stride, dilation in each
    ]


def transposed_length(
    length: Any, window: int, padding: str, stride: int = 0, extra: int | None = None,
    dilation: int = 1,
) -> Any:  # fmt: skip
    """The size whose convolution has ``length`` windows; of tensors, too.

    Args:
      length: number of windows, or None.
      window: size of one.
      padding: "valid", "same" or "full".
      stride: distance of windows.
      extra: what is added on one side; None finds the greatest that fits.
      dilation: distance of elements in a window.
    """
    if length is None:
        return None
    reach = window + (window - 1) * (dilation - 1)
    if extra is None:
        if padding == "valid":
            return length * stride + max(reach - stride, 0)
        made = length * stride
        return made - (stride + reach - 2) if padding == "full" else made
    pad = {"same": reach // 2, "valid": 0, "full": reach - 1}[padding]
    return (length - 1) * stride + reach - 2 * pad + extra


def known_channels(shape: Any, axis: int) -> int:
    """The number of channels of a shape.

    Raises:
      ValueError: it is open.
    """
    found = dimension.dimension_value(shapes.as_shape(shape)[axis])
    if found is None:
        raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
    return int(found)


def with_channels(form: str, batch: Any, spatial: Sequence[Any], channels: Any) -> Any:
    """A shape in a format."""
    dims = [channels, *spatial] if form == "channels_first" else [*spatial, channels]
    return shapes.TensorShape([batch, *dims])
