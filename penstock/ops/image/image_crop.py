"""``CropAndResize``: boxes cut out of images and brought to one size, and its gradients.

Output pixel ``i`` of ``n`` lies at ``y1 + i * (y2 - y1) / (n - 1)`` of the image's height less one
(one pixel alone: in the middle); outside of the image it is ``extrapolation_value``.  All boxes are
sampled at once: each needs its image's number, two rows and two columns a pixel, and how far it is
from the first of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, same_as
from penstock.ops.array import shape

_NUMBERS = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}"
_METHOD = "method: {'bilinear', 'nearest'} = 'bilinear'"


class _Axis(NamedTuple):
    """Where the pixels of each box lie along one dim of the image: all [boxes, size]."""

    first: Any
    last: Any
    part: Any
    inside: Any
    near: Any


def _axis(begin: Any, end: Any, found: int, size: int) -> _Axis:
    begin, end = begin.unsqueeze(1), end.unsqueeze(1)
    if size > 1:
        step = (end - begin) * (found - 1) / (size - 1)
        numbers = torch.arange(size, dtype=torch.float32, device=begin.device)
        places = begin * (found - 1) + numbers * step
    else:
        places = 0.5 * (begin + end) * (found - 1)
    inside = (places >= 0) & (places <= found - 1)
    places = torch.where(inside, places, 0)
    first = places.floor()
    near = (places + 0.5).floor()  # halves go up, other than with torch.round
    return _Axis(first.long(), places.ceil().long(), places - first, inside, near.long())


def _places(image_shape: Any, boxes: Any, box_ind: Any, size: Any) -> tuple[Any, _Axis, _Axis]:
    batch, height, width = image_shape[:3]
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        raise errors.invalid(f"boxes must be 2-D with 4 columns; found shape {list(boxes.shape)}")
    if box_ind.dim() != 1 or box_ind.shape[0] != boxes.shape[0]:
        raise errors.invalid(
            f"box_index must have one entry a box; found shapes {list(box_ind.shape)} and"
            f" {list(boxes.shape)}"
        )
    if box_ind.numel() and not bool(((box_ind >= 0) & (box_ind < batch)).all()):
        raise errors.OutOfRangeError(
            None, None, f"box_index has values outside [0, batch_size), batch_size {batch}"
        )
    if min(height, width) < 1:
        raise errors.invalid(f"image dimensions must be positive; found {list(image_shape)}")
    top, left, bottom, right = boxes.unbind(1)
    rows, columns = _axis(top, bottom, height, size[0]), _axis(left, right, width, size[1])
    return box_ind.long().view(-1, 1, 1), rows, columns


def _corners(image: Any, number: Any, rows: _Axis, columns: _Axis) -> list[Any]:
    """The pixels at the top left, top right, bottom left and bottom right: float32."""
    return [
        image[number, row.unsqueeze(2), column.unsqueeze(1)].to(torch.float32)
        for row in (rows.first, rows.last)
        for column in (columns.first, columns.last)
    ]


def _indexable(image: Any) -> Any:
    return image.to(torch.int32) if image.dtype is torch.uint16 else image


def _crop_and_resize(
    image: Any, boxes: Any, box_ind: Any, crop_size: Any, method: str, extrapolation_value: float
) -> Any:
    if len(crop_size) != 2 or min(crop_size) < 1:
        raise errors.invalid(f"crop dimensions must be positive; found {list(crop_size)}")
    if not bool(boxes.isfinite().all()):
        raise errors.invalid("boxes holds an element that is not finite")
    number, rows, columns = _places(image.shape, boxes, box_ind, crop_size)
    image = _indexable(image)
    if method == "nearest":
        crops = image[number, rows.near.unsqueeze(2), columns.near.unsqueeze(1)]
        crops = crops.to(torch.float32)
    else:
        down, along = rows.part[:, :, None, None], columns.part[:, None, :, None]
        top_left, top_right, bottom_left, bottom_right = _corners(image, number, rows, columns)
        top = torch.lerp(top_left, top_right, along)
        crops = torch.lerp(top, torch.lerp(bottom_left, bottom_right, along), down)
    inside = rows.inside.unsqueeze(2) & columns.inside.unsqueeze(1)
    return torch.where(inside.unsqueeze(3), crops, extrapolation_value)


def _inside(grads: Any, rows: _Axis, columns: _Axis) -> Any:
    inside = rows.inside.unsqueeze(2) & columns.inside.unsqueeze(1)
    return torch.where(inside.unsqueeze(3), grads, 0)


def _back_to_image(
    grads: Any, boxes: Any, box_ind: Any, image_size: Any, T: Any, method: str
) -> Any:
    if len(image_size) != 4 or min(image_size[1:]) < 1:
        raise errors.invalid(
            f"image_size must be [batch, height, width, depth]; found {image_size}"
        )
    number, rows, columns = _places(image_size, boxes, box_ind, grads.shape[1:3])
    grads = _inside(grads, rows, columns)
    wide = torch.promote_types(T, torch.float32)
    found = torch.zeros(image_size, dtype=wide, device=grads.device)
    if method == "nearest":
        parts = [(rows.near, columns.near, grads)]
    else:
        down, along = rows.part[:, :, None, None], columns.part[:, None, :, None]
        parts = [
            (row, column, grads * across * beside)
            for row, across in ((rows.first, 1 - down), (rows.last, down))
            for column, beside in ((columns.first, 1 - along), (columns.last, along))
        ]
    flat = found.view(-1, image_size[3])
    for row, column, part in parts:
        place = (number * image_size[1] + row.unsqueeze(2)) * image_size[2] + column.unsqueeze(1)
        flat.index_add_(0, place.reshape(-1), part.reshape(-1, image_size[3]).to(flat.dtype))
    return found.to(T)


def _shares(found: int, size: int, like: Any) -> tuple[Any, Any]:
    """How the places along one dim move with the begin and with the end of a box."""
    if size > 1:
        numbers = torch.arange(size, dtype=torch.float32, device=like.device)
        end = numbers * ((found - 1) / (size - 1))
        return (found - 1) - end, end
    half = torch.full((1,), 0.5 * (found - 1), device=like.device)
    return half, half


def _back_to_boxes(grads: Any, image: Any, boxes: Any, box_ind: Any) -> Any:
    size = grads.shape[1:3]
    if grads.shape[3] != image.shape[3]:
        raise errors.invalid(
            f"image and grads must have the same depth; found shapes {list(image.shape)} and"
            f" {list(grads.shape)}"
        )
    number, rows, columns = _places(image.shape, boxes, box_ind, size)
    grads = _inside(grads, rows, columns)
    down, along = rows.part[:, :, None, None], columns.part[:, None, :, None]
    top_left, top_right, bottom_left, bottom_right = _corners(
        _indexable(image), number, rows, columns
    )
    of_row = torch.lerp(bottom_left - top_left, bottom_right - top_right, along)
    of_column = torch.lerp(top_right - top_left, bottom_right - bottom_left, down)
    by_row, by_column = (of_row * grads).sum((2, 3)), (of_column * grads).sum((1, 3))
    begin_row, end_row = _shares(image.shape[1], size[0], grads)
    begin_column, end_column = _shares(image.shape[2], size[1], grads)
    moved = [by_row @ begin_row, by_column @ begin_column, by_row @ end_row, by_column @ end_column]
    return torch.stack(moved, 1)


def _crops_shape(ctx: ShapeContext) -> Dims:
    image = ctx.rank("image", 4)
    boxes = ctx.rank("boxes", 2)
    numbers = ctx.rank("box_ind", 1)
    ctx.rank("crop_size", 1)
    if boxes[1] not in (None, 4):
        raise ValueError(f"boxes must have 4 columns; found {boxes[1]}")
    if None not in (boxes[0], numbers[0]) and boxes[0] != numbers[0]:
        raise ValueError(f"box_ind must have one entry a box; found {numbers[0]} for {boxes[0]}")
    size = ctx.shape_value("crop_size") or (None, None)
    if len(size) != 2:
        raise ValueError(f"crop_size must have 2 elements; found {len(size)}")
    return boxes[0] if boxes[0] is not None else numbers[0], *size, image[3]


def _image_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("grads", 4)
    size = ctx.shape_value("image_size")
    return (None,) * 4 if size is None else size


def _crop_and_resize_grad(op: Any, grad: Any) -> list[Any]:
    image, boxes, number, _ = op.inputs
    to_image = None
    dims = image.sizes
    known = dims is not None and None not in dims
    size = list(dims) if known else shape.shape(image)
    if image.dtype.is_floating:
        to_image = make(
            "CropAndResizeGradImage", grad, boxes, number, size, T=image.dtype,
            method=op.attrs["method"],
        )  # fmt: skip
    return [to_image, make("CropAndResizeGradBoxes", grad, image, boxes, number), None, None]


define_op(
    "CropAndResize",
    "image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float",
    attrs=[_NUMBERS, _METHOD, "extrapolation_value: float = 0.0"],
    shape=_crops_shape,
    kernel=_crop_and_resize,
    host=("crop_size",),
    gradient=_crop_and_resize_grad,
)
define_op(
    "CropAndResizeGradImage",
    "grads: float, boxes: float, box_ind: int32, image_size: int32 -> output: T",
    attrs=["T: {float, half, double}", _METHOD],
    shape=_image_shape,
    kernel=_back_to_image,
    host=("image_size",),
    no_gradient="TensorFlow has none",
)
define_op(
    "CropAndResizeGradBoxes",
    "grads: float, image: T, boxes: float, box_ind: int32 -> output: float",
    attrs=[_NUMBERS, "method: {'bilinear'} = 'bilinear'"],
    shape=same_as("boxes"),
    kernel=_back_to_boxes,
    no_gradient="TensorFlow has none",
)


def crop_and_resize(
    image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None,
) -> Tensor:  # fmt: skip
    """Boxes cut out of images, each brought to ``crop_size``.

    Args:
      image: [batch, height, width, depth] of any number type.
      boxes: float32 [boxes, 4]: y1, x1, y2, x2, where 0 and 1 are the centres of the first and
        last pixels; y1 > y2 flips.
      box_ind: int32 [boxes]: which image each is cut out of.
      crop_size: int32 [2]: height and width of the crops.
      method: "bilinear" or "nearest".
      extrapolation_value: what lies outside of an image.
      box_indices: the newer name of ``box_ind``.

    Returns:
      float32 [boxes, *crop_size, depth].

    Raises:
      ValueError: both ``box_ind`` and ``box_indices`` are given.
    """
    if box_indices is not None:
        if box_ind is not None:
            raise ValueError("Cannot specify both 'box_ind' and 'box_indices'")
        box_ind = box_indices
    return make(
        "CropAndResize", image, boxes, box_ind, crop_size, method=method,
        extrapolation_value=extrapolation_value, name=name,
    )  # fmt: skip
