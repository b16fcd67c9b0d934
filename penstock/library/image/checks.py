"""What the functions on images check: at once where shapes are known, else in the step.

A check that cannot be made yet is an operation; the image is then passed through a node that waits
for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import ranks, reshape, shape, split, squeeze
from penstock.ops.control import check, control, debug

_POSITIVE = ["all dims of 'image.shape' must be > 0."]


def is_tensor(value: Any) -> bool:
    """Whether a value is known only when the graph runs."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def positive_dims(image: Tensor) -> list[Operation]:
    """Checks that an image has three dims or more, none of them empty."""
    dims = image.sizes
    if dims is not None and len(dims) < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    if dims is not None and 0 in dims:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {image.shape}")
    if dims is not None and None not in dims:
        return []
    return [
        check.assert_positive(shape.shape(image), _POSITIVE),
        check.assert_greater_equal(
            ranks.rank(image), 3, message="'image' must be at least three-dimensional."
        ),
    ]


def checked(image: Tensor) -> Tensor:
    """``image`` behind ``positive_dims``."""
    made: Tensor = control.with_dependencies(positive_dims(image), image)
    return made


def is_batch(image: Tensor) -> bool:
    """True for [batch, height, width, channels]; False for one image, or an unknown rank.

    Raises:
      ValueError: there are neither 3 nor 4 dims.
    """
    rank = None if image.sizes is None else len(image.sizes)
    if rank not in (None, 3, 4):
        raise ValueError(f"'image' must have either 3 or 4 dimensions; found shape {image.shape}")
    return rank == 4


def as_batch(image: Any) -> tuple[Tensor, bool]:
    """An image as a batch of one, and whether it was a batch before."""
    image = convert_to_tensor(image, name="image")
    known, batch = image.sizes is not None, is_batch(image)
    if not batch:
        image = reshape.expand_dims(image, 0)
        if not known:
            image.set_shape([None] * 4)
    return image, batch


def of_batch(images: Tensor, batch: bool) -> Tensor:
    """The batch, or its only image."""
    return images if batch else squeeze.squeeze(images, axis=[0])


def sizes(image: Tensor, rank: int = 4) -> list[Any]:
    """Each dim as an int where it is known, else as a scalar tensor."""
    dims = image.sizes
    if dims is not None and None not in dims:
        return list(dims)
    if dims is not None and len(dims) != rank:
        raise ValueError(f"Shape {image.shape} must have rank {rank}")
    dims = dims or (None,) * rank
    parts = split.unstack(shape.shape(image), num=rank)
    return [part if dim is None else dim for dim, part in zip(dims, parts, strict=True)]


def require(condition: Any, message: str) -> list[Operation]:
    """Checks a Python condition at once, a tensor in the step.

    Raises:
      ValueError: the condition is known and false.
    """
    if is_tensor(condition):
        return [debug.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def behind(checks: Sequence[Any], value: Any) -> Any:
    """``value`` as a node that waits for the checks."""
    return control.with_dependencies(checks, value)
