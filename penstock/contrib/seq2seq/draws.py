"""Draws from categorical and Bernoulli distributions, as the helpers make them.

Nodes and their names are those of TensorFlow's distributions: the shape of the sample goes before
the batch's.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, join, nodes, pad, ranks, reshape, shape, transpose
from penstock.ops.math import comparison, reductions
from penstock.ops.random import random


def _sizes(sample_shape: Tensor) -> tuple[Tensor, Tensor]:
    """``sample_shape`` as a vector, and how many draws that is."""
    is_scalar = cast.cast(comparison.equal(ranks.rank(sample_shape), 0), dtypes.int32)
    known = shape.shape(sample_shape)
    vector = pad.pad(known, [[is_scalar, 0]], constant_values=1)
    vector = reshape.reshape(sample_shape, vector)
    return vector, reductions.reduce_prod(vector)


def _arranged(drawn: Tensor, sample_shape: Tensor) -> Tensor:
    """Draws [count, batch...] as [sample_shape..., batch...]."""
    known: Any = shape.shape(drawn)
    return reshape.reshape(drawn, join.concat([sample_shape, known[1:]], 0))


def categorical(logits: Any, seed: int | None) -> Tensor:
    """An int32 class for each row of ``logits`` [batch, classes], by probability."""
    logits = convert_to_tensor(logits)
    dims = shape.shape(logits)
    nodes.element(dims, -1)
    batch: Any = shape.shape(logits)
    batch = batch[:-1]
    with scopes.name_scope("call_sampler"):
        sample_shape = convert_to_tensor([], dtype=dtypes.int32, name="sample_shape")
        sample_shape, count = _sizes(sample_shape)
        drawn = random.multinomial(logits, count, seed=seed, output_dtype=dtypes.int32)
        drawn = transpose.transpose(drawn, [1, 0])
        drawn = reshape.reshape(drawn, join.concat([[count], batch], 0))
        # One draw, which TensorFlow finds by computing the count while the graph is built.
        drawn.set_shape([1, *logits.get_shape().as_list()[:-1]])
        made = _arranged(drawn, sample_shape)
    made.set_shape(logits.get_shape()[:-1])
    return made


def bernoulli(probability: Tensor, count: Any, dtype: Any, seed: int | None) -> Tensor:
    """``count`` draws that are true (or 1) with ``probability``, of the type ``dtype``."""
    batch = shape.shape(probability)
    with scopes.name_scope("call_sampler"):
        sample_shape, total = _sizes(count)
        uniform = random.random_uniform(
            join.concat([[total], batch], 0), dtype=probability.dtype, seed=seed
        )
        drawn = cast.cast(comparison.less(uniform, probability), dtype)
        return _arranged(drawn, sample_shape)
