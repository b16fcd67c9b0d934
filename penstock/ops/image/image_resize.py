"""Resizing images: bilinear and nearest neighbour, and their gradients.

TensorFlow has three rules for where in the input the centre of output pixel ``i`` lies, with
``scale = in / out``:

    default               i * scale                (the corners at the top left fall together)
    half_pixel_centers    (i + 0.5) * scale - 0.5
    align_corners         i * (in - 1) / (out - 1) (all four corners fall together)

ATen's bilinear kernel has the last two.  The default is the last one of an image with its last row
and column repeated once, resized to one row and column more, which are then dropped; the gradient
goes the same way back.  That kernel is slow for the few channels of a photograph, and wants floats:
on a CPU one uint8 image is resized by its rows and then by columns, where torch has FBGEMM's kernel
for weighted sums of rows of bytes.

State: which rows and columns the latest sizes of the latter need, and their weights.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from penstock.foundation.base import errors
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.families import Resize
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import same_as
from penstock.ops.array import shape

_RULES = ["align_corners: bool = False", "half_pixel_centers: bool = False"]
_resize = torch.ops.aten.upsample_bilinear2d.default
_resize_back = torch.ops.aten.upsample_bilinear2d_backward.default
_sums_of_rows = (
    torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default
    if "fbgemm" in torch.backends.quantized.supported_engines
    else None
)
_scale_and_bias = torch.tensor([1.0, 0.0]).view(torch.uint8)


def check(in_size: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> None:
    problem = None
    if align_corners and half_pixel_centers:
        problem = "If half_pixel_centers is True, align_corners must be False."
    elif len(size) != 2 or min(size) < 1:
        problem = f"output dimensions must be positive; found {list(size)}"
    elif min(in_size) < 1:
        problem = f"input image must be of non-zero size; found {list(in_size)}"
    if problem is not None:
        raise errors.invalid(problem)


def check_channels(images: Any) -> None:
    if not images.shape[3]:
        raise errors.invalid(f"images must have at least one channel; found {list(images.shape)}")


def resized_shape(ctx: Any) -> Any:
    images = ctx.rank("images", 4)
    ctx.rank("size", 1)
    size = ctx.shape_value("size")
    batch, channels = (None, None) if images is None else (images[0], images[3])
    if size is None:
        return batch, None, None, channels
    if len(size) != 2:
        raise ValueError(f"size must have 2 elements (height, width); found {len(size)}")
    return batch, *size, channels


# ---- bilinear ------------------------------------------------------------------------------


def bilinear(images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    count, height, width, channels = images.shape
    check((height, width), size, align_corners, half_pixel_centers)
    if align_corners or half_pixel_centers:
        source = images.to(torch.float32).permute(0, 3, 1, 2)
        return _resize(source, size, align_corners).permute(0, 2, 3, 1).contiguous()
    if _sums_of_rows is not None and _is_photograph(images):
        return _photograph(images, *size)
    wider = torch.empty((count, height + 1, width + 1, channels), device=images.device)
    wider[:, :height, :width] = images
    wider[:, height, :width] = wider[:, height - 1, :width]
    wider[:, :, width] = wider[:, :, width - 1]
    more = _resize(wider.permute(0, 3, 1, 2), [size[0] + 1, size[1] + 1], True)
    return more.permute(0, 2, 3, 1)[:, : size[0], : size[1]].contiguous()


def _is_photograph(images: Any) -> bool:
    dtype, shape = images.dtype, images.shape
    return dtype is torch.uint8 and shape[0] == 1 and shape[3] <= 4 and not images.is_cuda


@functools.lru_cache(maxsize=512)
def _neighbours(found: int, length: int) -> tuple[Any, Any]:
    """Where each of ``length`` pixels lies among ``found``.

    Returns:
      int64 [2, length]: the pixels before and after each; float32 [length]: the latter's weights.
    """
    places = torch.arange(length, dtype=torch.float32)
    places *= torch.tensor(found / length, dtype=torch.float32)
    low = places.to(torch.int64).clamp_(max=found - 1)
    return torch.stack((low, (low + 1).clamp_(max=found - 1))), places - low


@functools.lru_cache(maxsize=512)
def _bags(found: int, length: int) -> tuple[Any, ...]:
    """For the sums over rows: scale and bias of each row; which two make each, the weights."""
    both, part = _neighbours(found, length)
    starts = torch.arange(0, 2 * length + 1, 2, dtype=torch.int32)
    weights = torch.stack((1 - part, part), 1).view(-1)
    return _scale_and_bias.expand(found, -1), both.t().reshape(-1).int(), starts, weights


@functools.lru_cache(maxsize=512)
def _columns(found: int, length: int, channels: int, rows: int) -> tuple[Any, Any, Any]:
    """``_neighbours`` for each of the channels, in each of the rows."""
    both, part = _neighbours(found, length)
    numbers = both.unsqueeze(-1) * channels + torch.arange(channels)
    low, high = (n.view(1, -1).expand(rows, -1) for n in numbers)
    return low, high, part.repeat_interleave(channels)


def _photograph(image: Any, rows: int, columns: int) -> Any:
    """One uint8 image by the default rule: its rows first, then the columns of what is left.

    Few calls: after an image was decoded, nothing of torch or of Python is in the core's cache.
    """
    _, height, width, channels = image.shape
    ends, index, starts, weights = _bags(height, rows)
    low, high, part = _columns(width, columns, channels, rows)
    # Sums of rows of bytes are what the kernel is for, each row with its scale and its bias.
    packed = torch.cat((image.reshape(height, -1), ends), 1)
    lines = _sums_of_rows(packed, index, starts, False, 0, False, weights, None, True)
    found = lines.gather(1, low)
    torch.lerp(found, lines.gather(1, high), part, out=found)
    return found.view(1, rows, columns, channels)


def _bilinear_back(
    grads: Any, original_image: Any, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = original_image.shape[1:3]
    count, *size, channels = grads.shape  # as in TensorFlow, not held against the image's
    check((height, width), size, align_corners, half_pixel_centers)
    given = grads.permute(0, 3, 1, 2)
    if align_corners or half_pixel_centers:
        found = _resize_back(given, size, [count, channels, height, width], align_corners)
    else:
        given = torch.nn.functional.pad(given, (0, 1, 0, 1))
        more = [count, channels, height + 1, width + 1]
        found = _resize_back(given, [size[0] + 1, size[1] + 1], more, True)
        found[:, :, height - 1] += found[:, :, height]
        found[:, :, :, width - 1] += found[:, :, :, width]
        found = found[:, :, :height, :width]
    return found.permute(0, 2, 3, 1).to(original_image.dtype).contiguous()


def _bilinear_grad(op: Any, grad: Any) -> list[Any]:
    rules = {name: op.attrs[name] for name in ("align_corners", "half_pixel_centers")}
    return [make("ResizeBilinearGrad", grad, op.inputs[0], **rules), None]


define_op(
    "ResizeBilinear",
    "images: T, size: int32 -> resized_images: float",
    attrs=[
        "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}", *_RULES,
    ],
    shape=resized_shape,
    kernel=bilinear,
    host=("size",),
    gradient=_bilinear_grad, on_host=True,
)  # fmt: skip
define_op(
    "ResizeBilinearGrad",
    "grads: float, original_image: T -> output: T",
    attrs=["T: {float, bfloat16, half, double}", *_RULES],
    shape=same_as("original_image"),
    kernel=_bilinear_back,
    no_gradient="TensorFlow has none",
)

# ---- nearest neighbour ---------------------------------------------------------------------


def _nearest_indices(
    length: int, found: int, align_corners: bool, half_pixel_centers: bool, device: Any
) -> Any:
    """Which of ``found`` rows each of ``length`` rows shows."""
    places = torch.arange(length, dtype=torch.float32, device=device)
    if half_pixel_centers:
        places = places + 0.5
    if align_corners and length > 1:
        # Halves go up, other than with torch.round.
        places = (places * torch.tensor((found - 1) / (length - 1), dtype=torch.float32)) + 0.5
    else:
        places = places * torch.tensor(found / length, dtype=torch.float32)
    return places.floor().to(torch.int64).clamp_(0, found - 1)


def _nearest(images: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    rules = (align_corners, half_pixel_centers)
    check(images.shape[1:3], size, *rules)
    check_channels(images)
    rows, columns = (
        _nearest_indices(size[i], images.shape[i + 1], *rules, images.device) for i in (0, 1)
    )
    bits = images.view(torch.int16) if images.dtype is torch.uint16 else images
    found = bits.index_select(1, rows).index_select(2, columns)
    return found.view(images.dtype)


def _nearest_back(grads: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    rules = (align_corners, half_pixel_centers)
    count, height, width, channels = grads.shape
    check((max(height, 1), max(width, 1)), size, *rules)  # grads may be empty
    if not grads.numel():
        return grads.new_zeros((count, size[0], size[1], channels))
    rows = _nearest_indices(height, size[0], *rules, grads.device)
    columns = _nearest_indices(width, size[1], *rules, grads.device)
    folded = grads.new_zeros((count, size[0], width, channels)).index_add_(1, rows, grads)
    made = grads.new_zeros((count, size[0], size[1], channels))
    return made.index_add_(2, columns, folded)


def _nearest_grad(op: Any, grad: Any) -> list[Any]:
    images = op.inputs[0]
    dims = images.sizes
    known = dims is not None and None not in dims[1:3]
    size = list(dims[1:3]) if known else shape.shape(images)[1:3]
    rules = {name: op.attrs[name] for name in ("align_corners", "half_pixel_centers")}
    return [make("ResizeNearestNeighborGrad", grad, size, **rules), None]


def _nearest_grad_shape(ctx: Any) -> Any:
    grads = ctx.rank("grads", 4)
    size = ctx.shape_value("size") or (None, None)
    batch, channels = (None, None) if grads is None else (grads[0], grads[3])
    return batch, *size, channels


define_op(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    attrs=["T: {int8, uint8, int16, uint16, int32, int64, half, float, double}", *_RULES],
    shape=resized_shape,
    kernel=_nearest,
    host=("size",),
    gradient=_nearest_grad,
)
define_op(
    "ResizeNearestNeighborGrad",
    "grads: T, size: int32 -> output: T",
    attrs=["T: {uint8, int8, int32, half, float, double}", *_RULES],
    shape=_nearest_grad_shape,
    kernel=_nearest_back,
    host=("size",),
    no_gradient="TensorFlow has none",
)

# ---- public functions ----------------------------------------------------------------------


def resizing(function: str, op_type: str, doc: str, *like: Resize) -> Resize:
    """The public function that makes a node of ``op_type``, with this name and docstring."""

    @named(function, doc, *like)
    def resize(
        images: Any, size: Any, align_corners: bool = False, name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor:  # fmt: skip
        return make(
            op_type, images, size, name=name, align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        )  # fmt: skip

    return resize


resize_bilinear = resizing(
    "resize_bilinear",
    "ResizeBilinear",
    """Images of another size, each pixel a mean of the four around its place.

    Args:
      images: [batch, height, width, channels] of any number type.
      size: int32 [2]: new height and width.
      align_corners: the centres of the corner pixels keep their place.
      half_pixel_centers: pixels are squares around their centres, as other libraries have it.

    Returns:
      float32 [batch, *size, channels].

    Example:
      >>> import penstock as tf
      >>> image = tf.constant([[[[0.0], [1.0]]]])
      >>> with tf.Session() as session:
      ...     session.run(tf.image.resize_bilinear(image, [1, 4])).ravel().tolist()
      [0.0, 0.5, 1.0, 1.0]
    """,
)
resize_nearest_neighbor = resizing(
    "resize_nearest_neighbor",
    "ResizeNearestNeighbor",
    """Images of another size, each pixel the one nearest to its place.

    Returns:
      [batch, *size, channels] of the type of ``images``.
    """,
    resize_bilinear,
)
