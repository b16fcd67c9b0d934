"""Numbers sorted into buckets between given boundaries; feature columns are made of it."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input


def _bucketize(input: Any, boundaries: list[float]) -> Any:
    if any(a > b for a, b in zip(boundaries, boundaries[1:], strict=False)):
        raise ValueError(f"boundaries must be in order; found {boundaries}")
    # Boundaries are single-precision numbers, whatever the input is.
    edges = torch.tensor(boundaries, dtype=torch.float32, device=input.device)
    wide = torch.float64 if input.dtype is not torch.float32 else torch.float32
    return torch.bucketize(input.to(wide), edges.to(wide), out_int32=True, right=True)


define_op(
    "Bucketize",
    "input: T -> output: int32",
    attrs=["T: {int32, int64, float, double}", "boundaries: list(float)"],
    shape=first_input,
    kernel=_bucketize,
    no_gradient="the number of a bucket does not change smoothly",
)


def bucketize(input_tensor: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """The number of the bucket that each element falls into.

    Args:
      input_tensor: integers or floats, of any shape.
      boundaries: list of floats, in order; bucket ``i`` begins with boundary ``i - 1``.
      name: of the node.

    Returns:
      int32, in the same shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.contrib.slim.bucketize([0.5, 1.0, 7.0], [1.0, 3.0]))
      array([0, 1, 2], dtype=int32)
    """
    made: Tensor = make("Bucketize", input_tensor, boundaries=list(boundaries), name=name)
    return made
