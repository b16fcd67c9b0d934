"""Sums of exponentials with weights, and the inverse of ``tf.nn.softplus``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import squeeze
from penstock.ops.control import control
from penstock.ops.math import comparison, elementwise, reduction, reductions, select, statistics


def reduce_weighted_logsumexp(
    logx: Any,
    w: Any = None,
    axis: Any = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """``log(abs(sum(w exp(logx))))`` over axes, without overflow.

    Args:
      logx: floating tensor.
      w: weights of any sign, which broadcast with ``logx``; 1 by default.
      axis: the axes; all by default.
      keep_dims: whether they stay, with the size 1.
      return_sign: whether the sign of the sum is returned, too.

    Returns:
      A tensor; where ``return_sign``, a pair with the signs, of the same shape.

    Example:
      >>> import penstock as tf
      >>> of = tf.contrib.distributions.reduce_weighted_logsumexp([0.0, 0.0], [3.0, -2.0])
      >>> abs(tf.Session().run(of).item()) < 1e-6
      True
    """
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            total = statistics.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (total, elementwise.ones_like(total)) if return_sign else total
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        terms: Any = logx + elementwise.log(elementwise.abs_(w))
        largest: Any = reductions.reduce_max(terms, axis=axis, keepdims=True)
        # What is infinite would make the differences undefined.
        finite = elementwise.is_finite(largest)
        largest = control.stop_gradient(
            select.where(finite, largest, elementwise.zeros_like(largest))
        )
        scaled = elementwise.sign(w) * elementwise.exp(terms - largest)
        total = reduction.reduce_sum(scaled, axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = squeeze.squeeze(largest, axis)
        sign: Any = elementwise.sign(total)
        found = largest + elementwise.log(sign * total)
        return (found, sign) if return_sign else found


def softplus_inverse(x: Any, name: str | None = None) -> Tensor:
    """The value of which ``tf.nn.softplus`` is ``x``: ``log(exp(x) - 1)``.

    Args:
      x: floating tensor of numbers above 0.

    Returns:
      A tensor of the shape and dtype of ``x``.

    Example:
      >>> import penstock as tf
      >>> of = tf.contrib.distributions.softplus_inverse(tf.nn.softplus(2.0))
      >>> round(tf.Session().run(of).item(), 4)
      2.0
    """
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        bound = math.log(float(np.finfo(x.dtype.as_numpy_dtype).eps)) + 2.0
        is_small = comparison.less(x, math.exp(bound))
        is_large = comparison.greater(x, -bound)
        # 1 where another branch is taken, so that no gradient of this one is undefined.
        plain = elementwise.ones_like(x)
        safe: Any = select.where(comparison.logical_or(is_small, is_large), plain, x)
        middle = safe + elementwise.log(-elementwise.expm1(-safe))
        rest = select.where(is_large, x, middle)
        found: Tensor = select.where(is_small, elementwise.log(x), rest)
        return found
