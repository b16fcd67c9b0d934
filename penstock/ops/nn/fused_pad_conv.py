"""Convolutions of mirrored and resized images: nodes that a tool for frozen graphs makes.

They are the nodes that they stand for, one after the other: ``ResizeBilinear``, ``MirrorPad``,
``Conv2D`` of [batch, height, width, channels].  They have no gradient in TensorFlow either.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import errors
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array.pad import mirrored
from penstock.ops.nn import conv, window

_REASON = "frozen graphs alone have it; TensorFlow defines none"


def _padded_conv(
    input: Any, paddings: Any, filter: Any, mode: str, strides: Any, padding: str
) -> torch.Tensor:
    if len(paddings) != 4:
        raise ValueError(f"paddings must have shape [4, 2]; found {paddings}")
    if paddings[0] != [0, 0] or paddings[3] != [0, 0]:
        raise errors.invalid(f"only height and width are padded; found paddings {paddings}")
    if any(p < 0 for pair in paddings for p in pair):
        raise ValueError(f"paddings must not be negative; found {paddings}")
    if not input.numel():
        raise errors.invalid("Input tensor can't be empty")
    x = mirrored(input, paddings, mode).permute(0, 3, 1, 2)
    w = filter.permute(3, 2, 0, 1)
    g = conv.Geometry(x.shape[2:], w.shape[2:], strides, padding, [], "NHWC", (1, 1, 1, 1))
    if min(g.height.outputs, g.width.outputs) <= 0:
        raise ValueError(f"a filter of {list(w.shape[2:])} does not fit {list(x.shape[2:])}")
    if 0 in (x.shape[0], w.shape[0]):
        raise errors.invalid("Output tensor can't be empty")
    if not w.numel():  # torch refuses windows of no size
        return x.new_zeros((x.shape[0], g.height.outputs, g.width.outputs, w.shape[0]))
    return conv.conv_nchw(x, w, g, 1).permute(0, 2, 3, 1).contiguous()


def _resized(image: torch.Tensor, size: list[int], align_corners: bool) -> torch.Tensor:
    """Bilinear, in the image's own type but half."""
    dtype = image.dtype
    work = image.float() if dtype is torch.half else image
    for axis, length in ((1, size[0]), (2, size[1])):
        found = work.shape[axis]
        aligned = align_corners and length > 1
        scale = torch.tensor((found - 1) / (length - 1) if aligned else found / length)
        place = torch.arange(length, dtype=torch.float32) * scale
        low = place.floor().long().clamp_(max=found - 1)
        high = (low + 1).clamp_(max=found - 1)
        dims = [1, 1, 1, 1]
        dims[axis] = length
        part = (place - low).to(work.dtype).reshape(dims)
        begin, end = work.index_select(axis, low), work.index_select(axis, high)
        work = begin + (end - begin) * part
    return work.to(dtype)


def _resized_padded_conv(
    input: Any, size: Any, paddings: Any, filter: Any, resize_align_corners: bool, mode: str,
    strides: Any, padding: str,
) -> torch.Tensor:  # fmt: skip
    if len(size) != 2 or min(size) < 1 or min(input.shape[1:3]) < 1:
        raise ValueError(
            f"size must be a positive height and width; found {size} for an image of"
            f" {list(input.shape[1:3])}"
        )
    image = _resized(input, size, resize_align_corners)
    return _padded_conv(image, paddings, filter, mode, strides, padding)


def _outputs(size: int | None, kernel: int | None, stride: int, padding: str) -> int | None:
    if kernel == 0 and size is not None:  # not refused, as in TensorFlow
        return window.span(size, kernel, stride, 1, padding).outputs
    return window.static_size(size, kernel, stride, 1, padding, None, "input")


def _shape(ctx: ShapeContext) -> Dims:
    image, kernel = ctx.rank("input", 4), ctx.rank("filter", 4)
    form = ctx.rank("paddings", 2)
    if form[0] not in (None, 4) or form[1] not in (None, 2):
        raise ValueError(f"paddings must have shape [4, 2]; found {show(form)}")
    size = image[1:3]
    if "resize_align_corners" in ctx.op.attrs:
        asked = ctx.shape_value("size")
        if asked is not None and len(asked) != 2:
            raise ValueError(f"size must have 2 elements; found {len(asked)}")
        size = (None, None) if asked is None else tuple(asked)
    if image[3] is not None and kernel[2] is not None and image[3] != kernel[2]:
        raise ValueError(
            f"input has {image[3]} channel(s), the filter takes {kernel[2]} channel(s)"
        )
    pairs = ctx.value("paddings")
    strides = ctx.attr("strides")
    window.check_four("strides", strides, "NHWC")
    spatial: list[int | None] = []
    for i, length in enumerate(size):
        if length is not None and pairs is not None:
            length += int(pairs[i + 1].sum())
        else:
            length = None
        spatial.append(_outputs(length, kernel[i], strides[i + 1], ctx.attr("padding")))
    return (image[0], *spatial, kernel[3])


_TYPE = "T: {half, float, double}"
_CONV = ["mode: {'REFLECT', 'SYMMETRIC'}", "strides: list(int)", "padding: {'SAME', 'VALID'}"]
define_op(
    "FusedPadConv2D",
    "input: T, paddings: int32, filter: T -> output: T",
    attrs=[_TYPE, *_CONV],
    shape=_shape,
    kernel=_padded_conv,
    host=("paddings",),
    no_gradient=_REASON,
)
define_op(
    "FusedResizeAndPadConv2D",
    "input: T, size: int32, paddings: int32, filter: T -> output: T",
    attrs=[_TYPE, "resize_align_corners: bool = False", *_CONV],
    shape=_shape,
    kernel=_resized_padded_conv,
    host=("size", "paddings"),
    no_gradient=_REASON,
    on_host=True,
)
