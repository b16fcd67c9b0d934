"""Images moved by projective transforms: rotated, translated, sheared.

A transform is [a0, a1, a2, b0, b1, b2, c0, c1]: the point (x, y) of the output is what lies at
``((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)`` of the input, with ``k = c0 x + c1 y + 1``. So
it goes from output to input, and the gradient takes its inverse. Coordinates and the weights of
pixels are float32 for every dtype, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import fill, join, reshape as reshaping, shape, slicing
from penstock.ops.linalg import linalg

# ---- kernel --------------------------------------------------------------------------------------


def _sources(transforms: Any, height: int, width: int) -> tuple[Any, Any]:
    """x and y of the input for each pixel of the output, [transforms, height, width]."""
    ys = torch.arange(height, dtype=torch.float32, device=transforms.device)[:, None]
    xs = torch.arange(width, dtype=torch.float32, device=transforms.device)
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms[:, :, None, None].unbind(1)
    scale = c0 * xs + c1 * ys + 1
    # Points at infinity have no source: they lie outside of every image.
    x, y = (a0 * xs + a1 * ys + a2) / scale, (b0 * xs + b1 * ys + b2) / scale
    away = torch.full_like(x, -1e9)
    finite = (scale != 0) & x.isfinite() & y.isfinite()
    return torch.where(finite, x, away), torch.where(finite, y, away)


def _read(images: Any, x: Any, y: Any) -> Any:
    """The pixels at whole coordinates; 0 outside."""
    batch, height, width, _ = images.shape
    inside = (x >= 0) & (y >= 0) & (x < width) & (y < height)
    rows = y.clamp(0, height - 1).to(torch.int64)
    columns = x.clamp(0, width - 1).to(torch.int64)
    which = torch.arange(batch, device=images.device)[:, None, None]
    return torch.where(inside[..., None], images[which, rows, columns], 0)


def _nearest(images: Any, x: Any, y: Any) -> Any:
    def rounded(values: Any) -> Any:
        # Halves go away from zero; float64 holds the sum exactly.
        return values.sign() * (values.abs().to(torch.float64) + 0.5).floor()

    return _read(images, rounded(x), rounded(y))


def _bilinear(images: Any, x: Any, y: Any) -> Any:
    wide, left, top = images.to(torch.float32), x.floor(), y.floor()
    right, bottom = left + 1, top + 1
    to_right, to_bottom = (x - left)[..., None], (y - top)[..., None]
    to_left, to_top = (right - x)[..., None], (bottom - y)[..., None]
    above = to_left * _read(wide, left, top) + to_right * _read(wide, right, top)
    below = to_left * _read(wide, left, bottom) + to_right * _read(wide, right, bottom)
    return (to_top * above + to_bottom * below).to(images.dtype)


_SAMPLERS = {"NEAREST": _nearest, "BILINEAR": _bilinear}


def _transform(images: Any, transforms: Any, interpolation: str, size: tuple[int, ...]) -> Any:
    sampler = _SAMPLERS.get(interpolation)
    if sampler is None:
        raise errors.invalid(
            f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR"
        )
    if images.dim() != 4:
        raise errors.invalid(f"Input images must have rank 4; found {list(images.shape)}")
    count = transforms.shape[0] if transforms.dim() == 2 else None
    if count not in (1, images.shape[0]) or transforms.shape[1] != 8:
        raise errors.invalid(
            "Input transform should be num_images x 8 or 1 x 8; found"
            f" {list(transforms.shape)} for images {list(images.shape)}"
        )
    if min(size) <= 0:
        raise errors.invalid(f"new dimensions must be positive; found {list(size)}")
    x, y = (t.expand(images.shape[0], -1, -1) for t in _sources(transforms, *size))
    if not images.numel():
        return images.new_zeros((images.shape[0], *size, images.shape[3]))
    return sampler(images, x, y)


def _kernel(images: Any, transforms: Any, interpolation: str) -> Any:
    return _transform(images, transforms, interpolation, tuple(images.shape[1:3]))


def _kernel_v2(images: Any, transforms: Any, output_shape: Any, interpolation: str) -> Any:
    return _transform(images, transforms, interpolation, tuple(int(n) for n in output_shape))


# ---- gradient ------------------------------------------------------------------------------------


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Matrices of projective transforms.

    Args:
      transforms: floats [transforms, 8], or [8] for one.

    Returns:
      Floats [transforms, 3, 3].

    Raises:
      ValueError: another rank than 1 or 2, or unknown, or not 8 columns.
    """
    with name_scope(None, "flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        rank = transforms.get_shape().ndims
        if rank not in (1, 2):
            raise ValueError(
                f"Transforms should be 2D, got: {transforms}: one transform of 8 numbers a row"
            )
        flat = reshaping.reshape(transforms, constant([-1, 8]))
        count = slicing.getitem(shape.shape(flat), 0)
        whole = join.concat([flat, fill.ones([count, 1])], axis=1)
        return reshaping.reshape(whole, constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """Projective transforms of matrices, each divided by its last number.

    Args:
      transform_matrices: floats [transforms, 3, 3], or [3, 3] for one.

    Returns:
      Floats [transforms, 8].

    Raises:
      ValueError: another rank than 2 or 3, or unknown.
    """
    with name_scope(None, "matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="matrices")
        if matrices.get_shape().ndims not in (2, 3):
            raise ValueError(
                f"Matrices should be 3D, got: {matrices}: [transforms, 3, 3] or [3, 3]"
            )
        flat: Any = reshaping.reshape(matrices, constant([-1, 9]))
        flat = flat / flat[:, 8:9]
        return slicing.getitem(flat, (slice(None), slice(None, 8)))


def _gradient(op: Any, grad: Any) -> list[Any]:
    images, transforms = op.inputs[:2]
    inverse = linalg.matrix_inverse(flat_transforms_to_matrices(transforms))
    back = matrices_to_flat_transforms(inverse)
    size = slicing.getitem(shape.shape(images), slice(1, 3))
    made = make(
        "ImageProjectiveTransformV2", grad, back, size,
        interpolation=op.get_attr("interpolation"),
    )  # fmt: skip
    return [made, *[None] * (len(op.inputs) - 1)]


# ---- definitions and functions -------------------------------------------------------------------


def _shape(ctx: ShapeContext) -> Dims:
    return ctx.rank("images", 4)


def _shape_v2(ctx: ShapeContext) -> Dims:
    ctx.rank("output_shape", 1)
    images = ctx.rank("images", 4)
    batch, channels = (None, None) if images is None else (images[0], images[3])
    size = ctx.shape_value("output_shape")
    height, width = (None, None) if size is None else size
    return (batch, height, width, channels)


_ATTRS = ["dtype: {uint8, int32, int64, half, float, double}", "interpolation: string"]
define_op(
    "ImageProjectiveTransform",
    "images: dtype, transforms: float -> transformed_images: dtype",
    attrs=_ATTRS,
    shape=_shape,
    kernel=_kernel,
    gradient=_gradient,
)
define_op(
    "ImageProjectiveTransformV2",
    "images: dtype, transforms: float, output_shape: int32 -> transformed_images: dtype",
    attrs=_ATTRS,
    later=['fill_mode: string = "CONSTANT"'],
    shape=_shape_v2,
    kernel=_kernel_v2,
    host=("output_shape",),
    gradient=_gradient,
)

_KINDS = (
    dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64,
)  # fmt: skip


def as_batch(images: Any) -> tuple[Tensor, Any]:
    """Images as [batch, height, width, channels], and how the result is brought back.

    Raises:
      TypeError: a dtype that has no kernel, or an unknown rank, or one beside 2, 3, 4.
    """
    images = convert_to_tensor(images, name="images")
    if images.dtype.base_dtype not in _KINDS:
        raise TypeError(f"Invalid dtype {images.dtype}. Allowed: {', '.join(map(repr, _KINDS))}")
    rank = images.get_shape().ndims
    every = slice(None)
    to_batch = {2: (None, every, every, None), 3: (None, every, every, every), 4: ()}
    back = {2: (0, every, every, 0), 3: (0, every, every, every), 4: ()}
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank not in to_batch:
        raise TypeError(f"Images should have rank between 2 and 4; found {rank}.")
    return _sliced(images, to_batch[rank]), lambda made: _sliced(made, back[rank])


def _sliced(tensor: Tensor, index: tuple[Any, ...]) -> Tensor:
    return slicing.getitem(tensor, index) if index else tensor


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Images moved by projective transforms, 0 where they have nothing.

    Args:
      images: [batch, height, width, channels], [height, width, channels] or [height, width], of
        uint8, int32, int64 or floats.
      transforms: floats [batch, 8], [1, 8] or [8]: from points of the output to those of the input,
        as the module's text says; no gradient flows to them.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: int32 [2], height and width of the result; default those of ``images``.

    Returns:
      As ``images``, of that height and width.

    Raises:
      TypeError: a dtype or rank of ``images`` or rank of ``transforms`` that is not allowed.
      ValueError: an ``output_shape`` that is not [2].

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     left = tf.contrib.image.transform([[1, 2, 3]], [1., 0, 1, 0, 1, 0, 0, 0])
    ...     sess.run(left).tolist()
    [[2, 3, 0]]
    """
    with name_scope(name, "transform"):
        batch, back = as_batch(images)
        transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        if output_shape is None:
            output_shape = slicing.getitem(shape.shape(batch), slice(1, 3))
        size = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width; found"
                f" shape {size.get_shape()}"
            )
        if transforms.get_shape().ndims is None:
            raise TypeError("transforms rank must be statically known")
        if transforms.get_shape().ndims == 1:
            transforms = slicing.getitem(transforms, (None,))
        elif transforms.get_shape().ndims != 2:
            raise TypeError(
                f"Transforms should have rank 1 or 2; found shape {transforms.get_shape()}."
            )
        made = make(
            "ImageProjectiveTransformV2", batch, transforms, size,
            interpolation=interpolation.upper(),
        )  # fmt: skip
        return back(made)
