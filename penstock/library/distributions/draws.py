"""Draws: seeds of the second draw of a sample, and how draws are arranged."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import cast, join, pad, ranks, reshape, shape
from penstock.ops.math import comparison, reductions


def new_seed(seed: int | None, salt: str) -> int | None:
    """The seed of another draw: 31 bits of the digest of ``seed`` and ``salt``."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def vector_and_count(x: Tensor, name: str) -> tuple[Tensor, Any]:
    """A shape as a vector, and how many samples that is: a number where it is known.

    Raises:
      ValueError: ``x`` has two dims or more.
    """
    known = static.constant_value(x)
    count: Any = reductions.reduce_prod(x) if known is None else int(np.prod(known))
    rank = x.shape.ndims
    if rank is None:
        is_scalar = cast.cast(comparison.equal(ranks.rank(x), 0), dtypes.int32)
        dims = pad.pad(shape.shape(x), [[is_scalar, 0]], constant_values=1)
        return reshape.reshape(x, dims), count
    if rank > 1:
        raise ValueError(f"Input is neither scalar nor vector: {name} has the shape {x.shape}")
    if rank == 1:
        return x, count
    if known is None:
        return reshape.reshape(x, [1]), count
    return convert_to_tensor(np.array([known], np.int32), name=name), count


def arranged(drawn: Tensor, sample_shape: Tensor) -> Tensor:
    """Draws ``[count, ...]`` as ``sample_shape + [...]``."""
    one: Any = shape.shape(drawn)
    return reshape.reshape(drawn, join.concat([sample_shape, one[1:]], 0))


def tell_shape(
    drawn: Tensor, sample_shape: Tensor, batch: shapes.TensorShape, event: shapes.TensorShape
) -> None:
    """Tells samples what is known of their shape."""
    known = static.constant_value(sample_shape)
    dims = static.constant_value_as_shape(sample_shape) if known is None else known.tolist()
    sizes = shapes.TensorShape(dims)
    one = batch.concatenate(event)
    if sizes.ndims is not None and one.ndims is not None:
        drawn.set_shape(sizes.concatenate(one))
    elif drawn.shape.ndims is not None:
        last = event if one.ndims is None else one
        if last.ndims is not None:
            first = shapes.TensorShape([None] * (drawn.shape.ndims - last.ndims))
            drawn.set_shape(first.concatenate(last))
