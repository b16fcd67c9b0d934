"""Images mirrored, rotated and transposed; mirrored at random."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.case import case
from penstock.library.control_flow.cond import cond
from penstock.library.image import checks
from penstock.ops.array import cast, reshape, shape, transpose as movement
from penstock.ops.math import elementwise
from penstock.ops.random import random


def _like(image: Tensor, made: Tensor) -> Tensor:
    """``made`` with the shape of ``image``; three dims where that is unknown."""
    made.set_shape([None] * 3 if image.sizes is None else list(image.sizes))
    return made


def _flip(image: Any, axis: int, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]):
        image = checks.checked(convert_to_tensor(image, name="image"))
        if checks.is_batch(image):
            return movement.reverse(image, [axis + 1])
        return _like(image, movement.reverse(image, [axis]))


def flip_left_right(image: Any) -> Tensor:
    """Images mirrored: left becomes right.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].

    Returns:
      The shape and type of ``image``.

    Raises:
      ValueError: there are neither 3 nor 4 dims.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.image.flip_left_right([[[1], [2], [3]]])).ravel().tolist()
      [3, 2, 1]
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Images turned upside down; as ``flip_left_right``."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = checks.checked(convert_to_tensor(image, name="image"))
        if not checks.is_batch(image):
            drawn = random.random_uniform([], 0, 1.0, seed=seed)
            mirrored = make("Less", drawn, 0.5)
            made = cond(
                mirrored, lambda: movement.reverse(image, [axis]), lambda: image, name=scope
            )
            return _like(image, made)
        count = shape.shape(image)[0]
        drawn = random.random_uniform([count], 0, 1.0, seed=seed)
        flips = elementwise.round_(reshape.reshape(drawn, [count, 1, 1, 1]))
        flips = cast.cast(flips, image.dtype)
        mirrored = movement.reverse(image, [axis + 1])
        both: Tensor = flips * mirrored + (1 - flips) * image
        return both


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Each image mirrored or not, one as likely as the other.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      seed: seed of the draw; see ``tf.set_random_seed``.

    Returns:
      The shape and type of ``image``.

    Raises:
      ValueError: there are neither 3 nor 4 dims.

    Example:
      >>> import penstock as tf
      >>> image = tf.reshape(tf.range(3), [1, 3, 1])
      >>> flipped = tf.image.random_flip_left_right(image)
      >>> with tf.Session() as session:
      ...     seen = {tuple(session.run(flipped).flat) for _ in range(50)}
      >>> [[int(n) for n in row] for row in sorted(seen)]
      [[0, 1, 2], [2, 1, 0]]
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Each image upside down or not; as ``random_flip_left_right``."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Images turned counter-clockwise ``k`` times by 90 degrees.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].
      k: how many times: an int32 scalar.

    Returns:
      The turned images, of the type of ``image``.

    Raises:
      ValueError: there are neither 3 nor 4 dims.
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checks.checked(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtypes.int32, name="k")
        if k.sizes not in (None, ()):
            raise ValueError(f"k must be a scalar; found shape {k.shape}")
        k = make("FloorMod", k, 4)
        first = int(checks.is_batch(image))
        rows, columns = first, first + 1
        order = [0, 2, 1, 3] if first else [1, 0, 2]

        def once() -> Tensor:
            return movement.transpose(movement.reverse(image, [columns]), order)

        def twice() -> Tensor:
            return movement.reverse(image, [rows, columns])

        def thrice() -> Tensor:
            return movement.reverse(movement.transpose(image, order), [columns])

        turns = [(make("Equal", k, n + 1), f) for n, f in enumerate((once, twice, thrice))]
        made: Tensor = case(turns, default=lambda: image, exclusive=True, name=scope)
        dims = image.sizes or (None,) * 3
        made.set_shape([*dims[:first], None, None, dims[-1]])
        return made


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images whose rows become columns.

    Args:
      image: [batch, height, width, channels] or [height, width, channels].

    Returns:
      [batch, width, height, channels] or [width, height, channels].

    Raises:
      ValueError: there are neither 3 nor 4 dims.
    """
    with name_scope(name, "transpose", [image]):
        image = checks.checked(convert_to_tensor(image, name="image"))
        order = [0, 2, 1, 3] if checks.is_batch(image) else [1, 0, 2]
        return movement.transpose(image, order, name=name)
