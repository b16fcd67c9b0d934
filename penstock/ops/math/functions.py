"""Functions written from several ops: ``lbeta``, ``polyval``, bins of a histogram, fingerprints.

The nodes are those of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import reshape, shape
from penstock.ops.array.cast import cast
from penstock.ops.linalg import linalg_norm
from penstock.ops.math import clip, division, elementwise, reduction


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """ln(|Beta(x)|) along the last dim: the sum of lgamma, less lgamma of the sum.

    Args:
      x: float tensor [..., n]; for n of 0 the result is -inf.

    Returns:
      A tensor [...].
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        product = reduction.reduce_sum(elementwise.lgamma(x), axis=[-1])
        total = elementwise.lgamma(reduction.reduce_sum(x, axis=[-1]))
        return product - total


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """The polynomial of ``coeffs``, highest power first, at ``x``.

    Args:
      coeffs: list of tensors that broadcast with ``x``; 0 where it is empty.
      x: where, of any numeric type.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     print(sess.run(tf.math.polyval([1.0, 2.0, 3.0], 10.0)))
      123.0
    """
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return elementwise.zeros_like(x, name=scope)
        given = [convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        value = given[0]
        for coefficient in given[1:]:
            value = coefficient + value * x
        return value


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The bin of each value, of ``nbins`` of the same width in ``value_range``.

    Args:
      values: numeric tensor.
      value_range: [low, high] of the type of ``values``; what lies outside is in the outer bins.
      nbins: int32 scalar.
      dtype: has no effect, as in TensorFlow: the result is int32.

    Returns:
      An int32 tensor of the shape of ``values``.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        dims = shape.shape(values)
        values = reshape.reshape(values, [-1])
        ends: Any = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        count = cast(nbins, values.dtype)
        below = values - ends[0]
        scaled = division.truediv(below, ends[1] - ends[0], name="scaled_values")
        places = elementwise.floor(count * scaled, name="indices")
        places = cast(clip.clip_by_value(places, 0, count - 1), dtypes.int32)
        return reshape.reshape(places, dims)


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Eight bytes that tell each part of ``data`` along its first dim.

    Args:
      data: tensor [n, ...] of any type.
      method: "farmhash64".

    Returns:
      A uint8 tensor [n, 8].
    """
    return make("Fingerprint", data, method, name=name)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """``tensor`` divided by its norm, and the norm; arguments as of ``tf.linalg.norm``."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = cast(linalg_norm.norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size
