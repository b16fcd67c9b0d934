"""Reductions made of others: log-sum-exp, variance, standard deviation, counts of non-zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import nodes
from penstock.ops.math.reduction import reduce_mean, reduce_sum, renamed
from penstock.ops.math.reductions import reduce_max


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """``log(sum(exp(input_tensor)))`` over ``axis``, without overflow.

    Args:
      input_tensor: floating tensor.
      axis, keepdims, name, reduction_indices, keep_dims: as of ``reduce_sum``.

    Returns:
      A tensor of the dtype of ``input_tensor``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     float(session.run(tf.reduce_logsumexp([1000.0, -1000.0])))
      1000.0
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    x = input_tensor if isinstance(input_tensor, Tensor) else None
    x = x if x is not None else convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [x]) as scope:
        raw = reduce_max(x, axis, keepdims=True)
        shift = make(
            "StopGradient",
            make("Select", make("IsFinite", raw), raw, nodes.zeros_like(raw)),
        )
        total = reduce_sum(make("Exp", make("Sub", x, shift)), axis, keepdims=keep)
        result = make("Log", total)
        if not keep:
            shift = nodes.reshape(shift, nodes.shape(result))
        del scope
        return make("Add", result, shift)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Tensor:
    """Population variance over ``axis``.

    Args:
      input_tensor: a tensor of numbers; the means of integers are rounded as integers are.
      axis, keepdims: as of ``reduce_sum``.

    Returns:
      A tensor of the dtype of ``input_tensor``.
    """
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis, keepdims=True)
        centred = nodes.sub(input_tensor, means)
        return reduce_mean(make("Square", centred), axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Tensor:
    """Population standard deviation over ``axis``; arguments as of ``reduce_variance``."""
    with name_scope(name or "reduce_std"):
        return make("Sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
    input: Any = None,
) -> Tensor:
    """How many elements over ``axis`` differ from zero (from "" for strings).

    Args:
      input_tensor: numeric, bool or string tensor; ``input`` is its other name.
      axis, keepdims, reduction_indices, keep_dims: as of ``reduce_sum``.
      dtype: dtype of the counts.

    Returns:
      A tensor of ``dtype``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.count_nonzero([[0, 1], [2, 3]], 1)).tolist()
      [1, 2]
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    given = renamed("input", input, "input_tensor", input_tensor)
    with name_scope(name, "count_nonzero", [given]):
        x = convert_to_tensor(given, name="input")
        kind = x.dtype.base_dtype
        zero = np.array(b"", object) if kind is dtypes.string else np.zeros((), kind.as_numpy_dtype)
        none = make("Const", name="zeros", value=zero, dtype=kind)
        nonzero = nodes.cast(make("NotEqual", x, none), dtypes.int64)
        return nodes.cast(reduce_sum(nonzero, axis, keepdims=keep), dtype)
