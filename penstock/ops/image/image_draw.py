"""Boxes drawn on images, glimpses and windows cut out of them, some at random.

Drawing goes box by box, four strips each, since a later box covers an earlier one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import stream
from penstock.foundation.base import errors
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.image import image_codec

# ---- drawing -------------------------------------------------------------------------------

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLORS = torch.tensor(
    [
        (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1),
        (0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
    ]
)  # fmt: skip
_WHITE = torch.ones(1, 1)


def _drawn(images: Any, boxes: Any) -> Any:
    return _drawn_in_colors(images, boxes, _COLORS[:0])


def _drawn_in_colors(images: Any, boxes: Any, colors: Any) -> Any:
    depth = images.shape[-1]
    if images.dim() != 4 or depth not in (1, 3, 4):
        raise errors.invalid(
            "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA); found images of shape"
            f" {list(images.shape)}"
        )
    if boxes.dim() != 3 or boxes.shape[2] != 4 or boxes.shape[0] != images.shape[0]:
        raise errors.invalid(f"boxes must be [batch, boxes, 4]; found shape {list(boxes.shape)}")
    if not colors.numel():
        colors = _COLORS if depth > 1 else _WHITE
    if colors.shape[1] < depth:
        raise errors.invalid(f"colors must have {depth} columns; found shape {list(colors.shape)}")
    colors = colors.to(images.device, images.dtype)[:, :depth]
    height, width = images.shape[1:3]
    scale = torch.tensor((height - 1, width - 1) * 2, dtype=torch.float32, device=boxes.device)
    made = images.clone()
    for image, places in zip(made, (boxes * scale).long().tolist(), strict=True):
        for number, place in enumerate(places):
            _draw(image, place, colors[number % len(colors)])
    return made


def _draw(image: Any, place: list[int], color: Any) -> None:
    """Draws what is inside of the image of the four sides of one box."""
    top, left, bottom, right = place
    height, width = image.shape[:2]
    if top > bottom or left > right:
        return
    if top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = color


def _drawn_shape(ctx: ShapeContext) -> Dims:
    images, boxes = ctx.rank("images", 4), ctx.rank("boxes", 3)
    if boxes[2] not in (None, 4):
        raise ValueError(f"boxes must have 4 columns; found {boxes[2]}")
    if "colors" in ctx.op.inputs_by_name():
        ctx.rank("colors", 2)
    if images[3] not in (None, 1, 3, 4):
        raise ValueError(
            f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA); found {images[3]}"
        )
    return ctx["images"]


for _name, _more, _kernel in (
    ("DrawBoundingBoxes", "", _drawn),
    ("DrawBoundingBoxesV2", ", colors: float", _drawn_in_colors),
):
    define_op(
        _name,
        f"images: T, boxes: float{_more} -> output: T",
        attrs=["T: {float, half} = float"],
        shape=_drawn_shape,
        kernel=_kernel,
        no_gradient="TensorFlow has none",
    )

# ---- glimpses ------------------------------------------------------------------------------


def _noise(kind: str, image: Any, size: list[int], generator: Any) -> Any:
    """What surrounds an image: drawn between its least and largest values, channel by channel."""
    shape = (*size, image.shape[2])
    if kind == "zero" or not image.numel():
        return torch.zeros(shape)
    low, high = image.amin((0, 1)), image.amax((0, 1))
    if kind == "uniform":
        return torch.rand(shape, generator=generator) * (high - low) + low
    spread, middle = torch.std_mean(image, (0, 1), correction=0)
    drawn = torch.randn(shape, generator=generator) * spread + middle
    return torch.minimum(torch.maximum(drawn, low), high)


def _glimpse(
    input: Any, size: Any, offsets: Any, centered: bool, normalized: bool, uniform_noise: bool,
    noise: str, state: stream.Stream,
) -> Any:  # fmt: skip
    _check_glimpse(input, size, offsets, uniform_noise, noise)
    found = input.shape[1:3]
    places = offsets.to(torch.float32)
    bounds = torch.tensor(found, dtype=torch.float32)
    if normalized:
        places = places * bounds
    if centered:
        places = places / 2 + bounds / 2
    starts = (places - torch.tensor(size, dtype=torch.float32) / 2).to(torch.int64).tolist()
    made = torch.empty((input.shape[0], *size, input.shape[3]))
    for image, into, (top, left) in zip(input, made, starts, strict=True):
        rows = range(max(top, 0), max(min(top + size[0], found[0]), 0))
        columns = range(max(left, 0), max(min(left + size[1], found[1]), 0))
        if len(rows) < size[0] or len(columns) < size[1]:
            into.copy_(_noise(noise, image, size, state.generator))
        if len(rows) and len(columns):
            part = image[rows.start : rows.stop, columns.start : columns.stop]
            row, column = rows.start - top, columns.start - left
            into[row : row + len(rows), column : column + len(columns)] = part
    return made


def _check_glimpse(input: Any, size: Any, offsets: Any, uniform_noise: bool, noise: str) -> None:
    problem = None
    if len(size) != 2 or min(size) < 0:
        problem = f"size must be two numbers, none negative; found {list(size)}"
    elif offsets.dim() != 2 or offsets.shape[1] != 2 or offsets.shape[0] != input.shape[0]:
        problem = f"offsets must be [batch, 2]; found shape {list(offsets.shape)}"
    elif uniform_noise and noise != "uniform":
        problem = f"uniform_noise and noise {noise!r} should not be specified at the same time"
    elif noise not in ("uniform", "gaussian", "zero"):
        problem = f"noise should be 'uniform', 'gaussian' or 'zero'; found {noise!r}"
    if problem is not None:
        raise errors.invalid(problem)


def _glimpse_shape(ctx: ShapeContext) -> Dims:
    images, offsets = ctx.rank("input", 4), ctx.rank("offsets", 2)
    ctx.rank("size", 1)
    size = ctx.shape_value("size") or (None, None)
    if len(size) != 2:
        raise ValueError(f"size must have 2 elements; found {len(size)}")
    if offsets[1] not in (None, 2):
        raise ValueError(f"offsets must have 2 columns; found {offsets[1]}")
    if None not in (images[0], offsets[0]) and images[0] != offsets[0]:
        raise ValueError(f"offsets must have one row an image; found {offsets[0]}")
    return images[0] if images[0] is not None else offsets[0], *size, images[3]


define_op(
    "ExtractGlimpse",
    "input: float, size: int32, offsets: float -> glimpse: float",
    attrs=[
        "centered: bool = True", "normalized: bool = True", "uniform_noise: bool = True",
        "noise: string = 'uniform'",
    ],
    shape=_glimpse_shape,
    kernel=_glimpse,
    host=("size",),
    no_gradient="TensorFlow has none",
    state=lambda attrs, name: stream.Stream(),
    random=True,
    stateful=True,
)  # fmt: skip

# ---- windows drawn at random ---------------------------------------------------------------


def _window(
    height: int, width: int, ratios: Any, areas: Any, draw: np.random.Generator
) -> tuple[int, int, int, int] | None:
    """Top, left, height and width of a window; None where what was drawn does not fit."""
    ratio = draw.random() * (ratios[1] - ratios[0]) + ratios[0]
    least, most = (area * width * height for area in areas)
    rows, tallest = round(math.sqrt(least / ratio)), round(math.sqrt(most / ratio))
    if round(tallest * ratio) > width:
        tallest = int((width + 0.5 - 1e-7) / ratio)
    tallest = min(tallest, height)
    rows = min(rows, tallest)
    rows += int(draw.integers(tallest - rows + 1))
    columns = round(rows * ratio)
    # Rounding may have left the range of areas by one row.
    rows += (rows * columns < least) - (rows * columns > most)
    columns = round(rows * ratio)
    if not (least <= rows * columns <= most and 0 < rows <= height and 0 < columns <= width):
        return None
    top = int(draw.integers(height - rows)) if rows < height else 0
    left = int(draw.integers(width - columns)) if columns < width else 0
    return top, left, rows, columns


def _covers(window: Any, boxes: Any, least: float) -> bool:
    """Whether enough of some box is in the window."""
    top, left, rows, columns = window
    for y1, x1, y2, x2 in boxes:
        area = (y2 - y1) * (x2 - x1)
        if area < 1:
            continue
        height = min(top + rows, y2) - max(top, y1)
        across = min(left + columns, x2) - max(left, x1)
        if max(height, 0) * max(across, 0) / area >= least:
            return True
    return False


def _check_sampling(
    image_size: Any, boxes: Any, least: float, ratios: Any, areas: Any, attempts: int
) -> None:
    problem = None
    if len(image_size) != 3:
        problem = f"image_size must contain 3 elements; found {len(image_size)}"
    elif boxes.dim() != 3 or boxes.shape[2] != 4:
        problem = f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {boxes.shape}"
    elif not 0 <= least <= 1:
        problem = f"Minimum object covered must be in [0, 1]; found {least}"
    elif len(ratios) != 2 or min(ratios) <= 0:
        problem = f"Aspect ratio range must be two positive numbers; found {list(ratios)}"
    elif len(areas) != 2 or not (0 < areas[0] <= 1 and 0 < areas[1] <= 1):
        problem = f"Area range must be two numbers in (0, 1]; found {list(areas)}"
    elif attempts <= 0:
        problem = f"Max attempts must be positive; found {attempts}"
    elif boxes.numel() and not bool(((boxes >= 0) & (boxes <= 1)).all()):
        problem = "All bounding box coordinates must be in [0.0, 1.0]"
    if problem is not None:
        raise errors.invalid(problem)


def _sample(
    image_size: Any, bounding_boxes: Any, min_object_covered: float, aspect_ratio_range: Any,
    area_range: Any, max_attempts: int, use_image_if_no_bounding_boxes: bool, T: Any, state: Any,
) -> Any:  # fmt: skip
    limits = (min_object_covered, aspect_ratio_range, area_range, max_attempts)
    _check_sampling(image_size, bounding_boxes, *limits)
    height, width = image_size[:2]
    if height <= 0 or width <= 0:
        raise errors.invalid(f"Image height and width must be positive; found {list(image_size)}")
    scale = torch.tensor((height - 1, width - 1) * 2, dtype=torch.float32)
    boxes = (bounding_boxes.cpu().view(-1, 4) * scale).long().tolist()
    if not boxes:
        if not use_image_if_no_bounding_boxes:
            raise errors.invalid(
                "No bounding boxes provided as input. One must enable"
                " use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        boxes = [(0, 0, height, width)]
    found = (0, 0, height, width)
    for _ in range(max_attempts):
        drawn = _window(height, width, aspect_ratio_range, area_range, state.numpy)
        if drawn is not None and _covers(drawn, boxes, min_object_covered):
            found = drawn
            break
    top, left, rows, columns = found
    corners = (top / height, left / width, (top + rows) / height, (left + columns) / width)
    return (
        torch.tensor((top, left, 0), dtype=T),
        torch.tensor((rows, columns, -1), dtype=torch.int64).to(T),
        torch.tensor(corners, dtype=torch.float32).view(1, 1, 4),
    )


def _sample_shape(ctx: ShapeContext) -> list[Dims]:
    size, boxes = ctx.rank("image_size", 1), ctx.rank("bounding_boxes", 3)
    if size[0] not in (None, 3):
        raise ValueError(f"image_size must have 3 elements; found {size[0]}")
    if boxes[2] not in (None, 4):
        raise ValueError(f"bounding_boxes must have 4 coordinates; found {boxes[2]}")
    return [(3,), (3,), (1, 1, 4)]


_SEEDS = ["seed: int = 0", "seed2: int = 0"]
_COVERED = "min_object_covered: float = 0.10000000149011612"
for _name, _input, _attrs in (
    ("SampleDistortedBoundingBox", "", [_COVERED]),
    ("SampleDistortedBoundingBoxV2", ", min_object_covered: float", []),
):
    define_op(
        _name,
        f"image_size: T, bounding_boxes: float{_input} -> begin: T, size: T, bboxes: float",
        attrs=[
            "T: {uint8, int8, int16, int32, int64}", *_SEEDS, *_attrs,
            "aspect_ratio_range: list(float) = [0.75, 1.3300000429153442]",
            "area_range: list(float) = [0.05000000074505806, 1.0]", "max_attempts: int = 100",
            "use_image_if_no_bounding_boxes: bool = False",
        ],
        shape=_sample_shape,
        kernel=_sample,
        host=("image_size", "min_object_covered") if _input else ("image_size",),
        no_gradient="a window drawn does not change smoothly",
        state=stream.of_op,
        random=True,
        stateful=True,
    )  # fmt: skip


def _random_crop(image: Any, size: Any, state: stream.Stream) -> Any:
    if image.dim() != 3 or len(size) != 2:
        raise errors.invalid(f"input must be 3-dimensional and size [2]; found {list(image.shape)}")
    free = [found - wanted for found, wanted in zip(image.shape[:2], size, strict=True)]
    if min(free) < 0 or min(size) < 1:
        raise errors.invalid(f"size must be within {list(image.shape[:2])}; found {list(size)}")
    top, left = (int(state.numpy.integers(n + 1)) for n in free)
    return image[top : top + size[0], left : left + size[1]].clone()


def _random_crop_shape(ctx: ShapeContext) -> Dims:
    image = ctx.rank("image", 3)
    return (*(ctx.shape_value("size") or (None, None)), image[2])


define_op(
    "RandomCrop",
    "image: T, size: int64 -> output: T",
    attrs=["T: {uint8, int8, int16, int32, int64, float, double}", *_SEEDS],
    shape=_random_crop_shape,
    kernel=_random_crop,
    host=("size",),
    no_gradient="TensorFlow has none",
    state=stream.of_op,
    random=True,
    stateful=True,
)

# ---- JPEG of a quality that is a tensor ----------------------------------------------------


def _of_quality(images: Any, quality: int) -> np.ndarray:
    return image_codec.jpeg_file(images, "", quality, False, False, True, "in", 300, 300, "")


define_op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    shape=lambda ctx: (ctx.rank("images", 3), ctx.rank("quality", 0))[1],
    kernel=_of_quality,
    host=("quality",),
    no_gradient="its output is a string",
)

# ---- public functions ----------------------------------------------------------------------


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Images with the outlines of boxes on them.

    Args:
      images: half or float32 [batch, height, width, depth], depth 1, 3 or 4.
      boxes: float32 [batch, boxes, 4]: y1, x1, y2, x2 in [0, 1].
      colors: float32 [colors, at least depth], taken in turn; ten colours by default.

    Returns:
      The shape and type of ``images``.

    Example:
      >>> import penstock as tf
      >>> image = tf.zeros([1, 5, 5, 3])
      >>> box = [[[0.0, 0.0, 1.0, 1.0]]]  # top, left, bottom, right, as parts of the image
      >>> with tf.Session() as session:
      ...     drawn = session.run(tf.image.draw_bounding_boxes(image, box))
      >>> (drawn[0].max(-1) > 0).astype(int).tolist()
      [[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 0, 0, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]]
    """
    if colors is None:
        return make("DrawBoundingBoxes", images, boxes, name=name)
    return make("DrawBoundingBoxesV2", images, boxes, colors, name=name)


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A window of each image; what lies outside of the image is noise.

    Args:
      input: float32 [batch, height, width, channels].
      size: int32 [2]: height and width of the windows.
      offsets: float32 [batch, 2]: y, x of their centres.
      centered: (0, 0) is the middle of the image and (-1, -1) its top left corner; otherwise
        (0, 0) is that corner.
      normalized: offsets are in heights and widths of the image; otherwise in pixels.
      uniform_noise: noise is uniform between the least and largest value of each channel.

    Returns:
      float32 [batch, *size, channels].
    """
    return make(
        "ExtractGlimpse", input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=uniform_noise, name=name,
    )  # fmt: skip


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """A window of an image, drawn at random, that shows enough of some box.

    Args:
      image_size: int [3]: height, width, channels.
      bounding_boxes: float32 [batch, boxes, 4]: y1, x1, y2, x2 in [0, 1].
      seed, seed2: seeds of the draw; both 0 for one that nobody can repeat.
      min_object_covered: how much of some box must be in the window, at least.
      aspect_ratio_range: width / height; by default 0.75 to 1.33.
      area_range: part of the image's area; by default 0.05 to 1.
      max_attempts: draws before it is the whole image; by default 100.
      use_image_if_no_bounding_boxes: without boxes, the image is one.

    Returns:
      ``begin`` and ``size``, the arguments of ``tf.slice``; and the window as float32 [1, 1, 4].

    Example:
      >>> import penstock as tf
      >>> image = tf.zeros([100, 100, 3])
      >>> cat = [[[0.2, 0.2, 0.8, 0.8]]]
      >>> begin, size, box = tf.image.sample_distorted_bounding_box(
      ...     tf.shape(image), cat, min_object_covered=0.5
      ... )
      >>> with tf.Session() as session:  # the crop has at least half of the cat
      ...     crop = session.run(tf.slice(image, begin, size))
      >>> bool(crop.shape[0] * crop.shape[1] >= 0.5 * 60 * 60)
      True
    """
    options = {
        "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }  # fmt: skip
    given = {key: value for key, value in options.items() if value is not None}
    with name_scope(name, "sample_distorted_bounding_box"):
        return make(
            "SampleDistortedBoundingBoxV2", image_size, bounding_boxes, min_object_covered,
            seed=seed or 0, seed2=seed2 or 0, name=name, **given,
        )  # fmt: skip
