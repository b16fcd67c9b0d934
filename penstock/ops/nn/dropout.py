"""Dropout, written from a uniform draw, a comparison and two products, as in TensorFlow 1.15."""

from __future__ import annotations

import numbers
from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import nodes
from penstock.ops.random import random


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Sets random elements to zero and scales the others so that the expected sum stays.

    Args:
      x: a floating tensor.
      keep_prob: probability that an element is kept; ``1 - rate``.
      noise_shape: shape of the random draw, which is broadcast: dims of size 1 keep or drop whole
        slices.  By default the shape of ``x``.
      seed: seed of the draw.
      rate: probability that an element is dropped, in [0, 1).

    Returns:
      A tensor of the type and shape of ``x``; ``x`` itself where nothing is dropped.

    Raises:
      ValueError: neither or both of rate and keep_prob; a rate outside [0, 1); x is not floating.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sorted(set(sess.run(tf.nn.dropout(tf.ones([100]), rate=0.5, seed=1)).tolist()))
      [0.0, 2.0]
    """
    rate = _rate(keep_prob, rate)
    with name_scope(name, "dropout", [x]):
        is_number = isinstance(rate, numbers.Real)
        if is_number and not 0 <= rate < 1:
            raise ValueError(f"rate must be in [0, 1) (keep_prob in (0, 1]); found rate {rate}")
        x = convert.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"x must be floating, since it is scaled; found {x.dtype.name}")
        if is_number and rate == 0:
            return x
        rate = convert.convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if static.constant_value(rate) == 0:
            return x
        return _drop(x, rate, _noise_shape(x, noise_shape), seed)


def _rate(keep_prob: Any, rate: Any) -> Any:
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    if keep_prob is not None and rate is not None:
        raise ValueError("exactly one of rate and keep_prob must be given to dropout")
    if rate is not None:
        return rate
    if not isinstance(keep_prob, numbers.Real) and not isinstance(keep_prob, Tensor):
        keep_prob = convert.convert_to_tensor(keep_prob)
    return nodes.sub(1.0, keep_prob) if isinstance(keep_prob, Tensor) else 1.0 - float(keep_prob)


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape to draw; dims that are None in ``noise_shape`` are those of ``x``."""
    if noise_shape is None:
        return nodes.shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    try:
        dims = shapes.as_shape(noise_shape).sizes
    except (TypeError, ValueError):
        return noise_shape
    if x.sizes is not None and dims is not None and len(dims) == len(x.sizes):
        filled = [own if d is None else d for d, own in zip(dims, x.sizes, strict=True)]
        return noise_shape if None in filled else shapes.as_shape(filled)
    return noise_shape


def _drop(x: Tensor, rate: Tensor, noise_shape: Any, seed: int | None) -> Tensor:
    draw = random.random_uniform(noise_shape, seed=seed, dtype=x.dtype.base_dtype)
    scale = nodes.div(1, nodes.sub(1, rate))
    kept = nodes.greater_equal(draw, rate)
    result = nodes.mul(nodes.mul(x, scale), make("Cast", kept, DstT=x.dtype.base_dtype))
    result.set_shape(x.get_shape())
    return result
