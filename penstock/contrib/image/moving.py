"""Rotations and translations as projective transforms, and what composes them.

A transform goes from points of the output to those of the input (``ops/image/image_projective``),
so a rotation by an angle is here the one back.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors.dispatched import cast, concat
from penstock.ops.array.fill import ones, zeros
from penstock.ops.array.shape import shape
from penstock.ops.image.image_projective import (
    as_batch,
    flat_transforms_to_matrices as flat_transforms_to_matrices,
    matrices_to_flat_transforms as matrices_to_flat_transforms,
    transform as transform,
)
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.elementwise import cos, sin


def _columns(tensor: Any) -> Any:
    return tensor[:, None]


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> Tensor:
    """The transforms that turn images about their centres.

    Args:
      angles: floats [angles] or a scalar: radians, counterclockwise.
      image_height: float scalar, in pixels.
      image_width: float scalar, in pixels.
      name: name scope.

    Returns:
      Floats [angles, 8].

    Raises:
      TypeError: another rank than 0 or 1.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        given = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        rank = given.get_shape().ndims
        if rank not in (0, 1):
            raise TypeError(
                f"Angles should have rank 0 or 1; found {given}."
                if rank is not None
                else "angles rank must be statically known"
            )
        turns: Any = given[None] if rank == 0 else given
        x_offset = (
            (image_width - 1)
            - (cos(turns) * (image_width - 1) - sin(turns) * (image_height - 1))
        ) / 2.0  # fmt: skip
        y_offset = (
            (image_height - 1)
            - (sin(turns) * (image_width - 1) + cos(turns) * (image_height - 1))
        ) / 2.0  # fmt: skip
        count: Any = shape(turns)[0]
        parts = [
            _columns(cos(turns)), -_columns(sin(turns)), _columns(x_offset),
            _columns(sin(turns)), _columns(cos(turns)), _columns(y_offset),
            zeros((count, 2), dtypes.float32),
        ]  # fmt: skip
        made: Tensor = concat(parts, axis=1)
        return made


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images turned about their centres, 0 where they have nothing.

    Args:
      images: [batch, height, width, channels], [height, width, channels] or [height, width], of
        uint8, int32, int64 or floats.
      angles: floats [batch] or a scalar: radians, counterclockwise.
      interpolation: "NEAREST" or "BILINEAR".
      name: name scope.

    Returns:
      The shape and type of ``images``.

    Raises:
      TypeError: a dtype or a rank that is not allowed.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     sess.run(tf.contrib.image.rotate([[1, 2], [3, 4]], 3.14159265 / 2)).tolist()
    [[2, 4], [1, 3]]
    """
    with name_scope(name, "rotate"):
        batch, back = as_batch(images)
        height: Any = cast(shape(batch)[1], dtypes.float32)[None]
        width: Any = cast(shape(batch)[2], dtypes.float32)[None]
        turns = angles_to_projective_transforms(angles, height, width)
        moved: Tensor = back(transform(batch, turns, interpolation=interpolation))
        return moved


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """The transforms that move images by (dx, dy).

    Args:
      translations: floats [translations, 2] or [2], in pixels, to the right and downwards.
      name: name scope.

    Returns:
      Floats [translations, 8].

    Raises:
      TypeError: another rank than 1 or 2.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        given: Any = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        rank = given.get_shape().ndims
        if rank is None:
            raise TypeError("translations rank must be statically known")
        if rank not in (1, 2):
            raise TypeError(f"Translations should have rank 1 or 2; found {given}.")
        moves = given[None] if rank == 1 else given
        count: Any = shape(moves)[0]

        def fixed(make: Any, width: int = 1) -> Any:
            return make((count, width), dtypes.float32)

        parts = [
            fixed(ones), fixed(zeros), -moves[:, 0, None],
            fixed(zeros), fixed(ones), -moves[:, 1, None],
            fixed(zeros, 2),
        ]  # fmt: skip
        made: Tensor = concat(parts, axis=1)
        return made


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images moved by (dx, dy), 0 where they have nothing.

    Args:
      images: as for ``transform``.
      translations: floats [batch, 2] or [2], in pixels, to the right and downwards.
      interpolation: "NEAREST" or "BILINEAR".
      name: name scope.

    Returns:
      The shape and type of ``images``.

    Raises:
      TypeError: a dtype or a rank that is not allowed.

    >>> with tf.Graph().as_default(), tf.Session() as sess:
    ...     sess.run(tf.contrib.image.translate([[1, 2, 3]], [1., 0.])).tolist()
    [[0, 1, 2]]
    """
    with name_scope(name, "translate"):
        moves = translations_to_projective_transforms(translations)
        return transform(images, moves, interpolation=interpolation)


def compose_transforms(*transforms: Any) -> Tensor:
    """One transform for several, one after the other.

    Args:
      *transforms: floats [transforms, 8] or [8] each.

    Returns:
      Floats [transforms, 8].

    Raises:
      AssertionError: no transform is given.
    """
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with name_scope(None, "compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)
