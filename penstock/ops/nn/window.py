"""Sliding windows: the arithmetic that convolutions and pools share.

Along one spatial dim, a window of ``k`` elements, ``d`` apart, moves in steps of ``s``::

    VALID     out = floor((size - reach) / s) + 1 with reach = (k - 1) d + 1
    SAME      out = ceil(size / s); the padding that this needs is split in halves, the odd element
              goes to the end
    EXPLICIT  out = floor((size + before + after - reach) / s) + 1
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.foundation.base import errors
from penstock.foundation.opdef.inference import RefusedAtBuild


class Span(NamedTuple):
    """One spatial dim of a window op: number of outputs and padding at both ends."""

    outputs: int
    before: int
    after: int


def spatial(data_format: str) -> tuple[int, int]:
    """Positions of height and width in a shape of ``data_format``."""
    return (1, 2) if data_format == "NHWC" else (2, 3)


def channel(data_format: str) -> int:
    """Position of the channels."""
    return 3 if data_format == "NHWC" else 1


def to_nchw(x: Any, data_format: str) -> Any:
    """Images with channels first."""
    return x.permute(0, 3, 1, 2) if data_format == "NHWC" else x


def from_nchw(x: Any, data_format: str) -> Any:
    """Images in ``data_format``, of those with channels first."""
    return x.permute(0, 2, 3, 1) if data_format == "NHWC" else x


def span(
    size: int, window: int, stride: int, dilation: int, padding: str, explicit: Any = None
) -> Span:
    """Outputs and padding along one dim; ``explicit`` is (before, after) for EXPLICIT padding."""
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        outputs = -(-size // stride)
        total = max((outputs - 1) * stride + reach - size, 0)
        return Span(outputs, total // 2, total - total // 2)
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    return Span((size + before + after - reach) // stride + 1, before, after)


def kernel_size(
    size: int, window: int, stride: int, dilation: int, padding: str, explicit: Any = None
) -> int:
    """The number of outputs as a kernel counts them; the arguments are those of ``span``.

    A window that is less than a stride too long gives none, where a shape rule refuses it.

    Raises:
      ValueError: a window that is longer.
    """
    outputs = span(size, window, stride, dilation, padding, explicit).outputs
    reach = (window - 1) * dilation + 1
    if outputs < 0 and size + sum(explicit or ()) - reach + stride > -stride:
        return 0  # a quotient is rounded towards 0
    if outputs < 0:
        raise ValueError(
            f"Computed output size would be negative: {outputs}, of a window of {reach} over {size}"
        )
    return outputs


def overlap(offset: int, size: int, stride: int, outputs: int) -> tuple[slice, slice]:
    """Outputs of which one element of the window is inside the image, and those elements.

    Args:
      offset: position of that element for the first output, negative where it is padding.
      size: size of the image.
      stride: step of the window.
      outputs: number of outputs.

    Returns:
      A slice of the outputs and one of the image, of equal lengths.
    """
    first = -(offset // stride) if offset < 0 else 0
    last = max(first, min(outputs, (size - 1 - offset) // stride + 1))
    start = offset + first * stride
    return slice(first, last), slice(start, start + (last - first - 1) * stride + 1, stride)


def explicit_pair(explicit_paddings: Any, axis: int) -> tuple[int, int] | None:
    """(before, after) of ``axis`` in the flat attr ``explicit_paddings``."""
    if not explicit_paddings:
        return None
    return explicit_paddings[2 * axis], explicit_paddings[2 * axis + 1]


def static_size(
    size: int | None,
    window: int | None,
    stride: int,
    dilation: int,
    padding: str,
    explicit: Any,
    what: str,
    least_dilation: int = 1,
) -> int | None:
    """The number of outputs in a shape rule.

    Raises:
      ValueError: the window does not fit; ``what`` names the operand.
    """
    if stride < 1 or dilation < least_dilation:
        kind, found = ("Stride", stride) if stride < 1 else ("Dilation rate", dilation)
        raise ValueError(f"{kind} must be > 0, but got {found}")
    if size is None or (window is None and padding != "SAME"):
        return None
    known = 1 if window is None else window
    outputs = span(size, known, stride, dilation, padding, explicit).outputs
    if outputs < 0 or (outputs == 0 and size > 0 and padding != "SAME"):
        found = (
            f"a window of {window} (dilation {dilation}, {padding} padding) does not fit into"
            f" {size} element(s) of {what}"
        )
        built = f"Negative dimension size caused by subtracting {window} from {size}: {found}"
        extent = (known - 1) * dilation + 1
        short = int((size - extent + stride) / stride)  # towards zero, as a kernel divides
        if padding != "VALID" or short >= 0:
            raise ValueError(built)
        raise RefusedAtBuild(
            built,
            "InvalidArgumentError",
            f"Computed output size would be negative: {short} [input_size: {size},"
            f" effective_filter_size: {extent}, stride: {stride}]: {found}",
        )
    return outputs


def check_padding(padding: str, explicit_paddings: Any, data_format: str) -> None:
    """Checks that ``explicit_paddings`` goes with ``padding`` and pads only spatial dims."""
    if padding != "EXPLICIT":
        if explicit_paddings:
            raise ValueError(
                f"explicit_paddings is {list(explicit_paddings)}, but padding is {padding}"
            )
        return
    if len(explicit_paddings) != 8 or min(explicit_paddings) < 0:
        raise ValueError(
            f"explicit_paddings must be 8 numbers, none negative; found {list(explicit_paddings)}"
        )
    for axis in {0, channel(data_format)}:
        if explicit_pair(explicit_paddings, axis) != (0, 0):
            raise ValueError(
                "explicit_paddings may not pad the batch or the channels; found "
                f"{list(explicit_paddings)} with {data_format}"
            )


def is_within_images(ksize: Any, strides: Any) -> bool:
    """Whether the windows of a pool are of one image each, and all images have windows."""
    return bool(ksize[0] == 1 and strides[0] == 1)


def check_within_images(ksize: Any, strides: Any) -> None:
    """Checks that no window of a pool reaches, or strides, over images of the batch."""
    if not is_within_images(ksize, strides):
        raise errors.UnimplementedError(
            None, None,
            "Pooling is not yet supported on the batch dimension.: ksize is"
            f" {list(ksize)}, strides are {list(strides)}",
        )  # fmt: skip


def check_entries(name: str, values: Any) -> None:
    """Checks that an attr has one entry a dim of an image."""
    if len(values) != 4:
        raise ValueError(f"{name} must have 4 entries; found {list(values)}")


def check_four(name: str, values: Any, data_format: str, *, positive_only: bool = False) -> None:
    """Checks an attr with one entry a dim: four entries, 1 for the batch."""
    check_entries(name, values)
    if values[0] != 1 or (not positive_only and values[channel(data_format)] != 1):
        raise ValueError(
            f"{name} must be 1 for batch and channels ({data_format}); found {list(values)}"
        )
