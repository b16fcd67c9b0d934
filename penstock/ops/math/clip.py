"""Clipping values and norms.  IndexedSlices are clipped by their values and stay IndexedSlices.

The norm of IndexedSlices is that of the values as they stand: rows named twice are not added up
first.  A NaN or infinite global norm makes every clipped tensor NaN, so that it is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import colocate_with, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import broadcasting, cast, join, ranges, ranks
from penstock.ops.array.unsigned import INDIRECT, SIGNED, from_ordered_int64, to_ordered_int64
from penstock.ops.math import elementwise, reduction


def _clip_shape(ctx: ShapeContext) -> Dims:
    dims: Dims = ctx["t"]
    for name in ("clip_value_min", "clip_value_max"):
        other = ctx[name]
        if other != () and not shapes.is_compatible_static(dims, other):
            raise ValueError(
                f"{name} has shape {show(other)}; it must be a scalar or have the shape of t,"
                f" {show(dims)}"
            )
    return dims


def _clip(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    if t.dtype in SIGNED:
        low, high = to_ordered_int64(clip_value_min), to_ordered_int64(clip_value_max)
        return from_ordered_int64(to_ordered_int64(t).clamp_(max=high).clamp_(min=low), t.dtype)
    if t.is_complex():  # TF clips both parts
        return torch.complex(
            torch.clamp(t.real, clip_value_min.real, clip_value_max.real),
            torch.clamp(t.imag, clip_value_min.imag, clip_value_max.imag),
        )
    if t.dtype.is_floating_point:  # bounds that are NaN do not bind in TensorFlow
        clip_value_min = torch.where(clip_value_min.isnan(), -float("inf"), clip_value_min)
        clip_value_max = torch.where(clip_value_max.isnan(), float("inf"), clip_value_max)
    # Where the bounds cross, the lower one holds in TensorFlow and the upper one in torch.clamp.
    return torch.clamp(t, max=clip_value_max).clamp_(min=clip_value_min)


def _clip_inline(call: Any) -> str | None:
    kind = call.dtype("t")
    low, high = call.value("clip_value_min"), call.value("clip_value_max")
    if kind in INDIRECT or kind.is_complex or low is None or high is None:
        return None
    if not (low.size == high.size == 1 and bool((low <= high).all())):
        return None
    return "torch.clamp({t}, {clip_value_min}, {clip_value_max})".format(**call.arg)


def _clip_gradient(op: Any, grad: Tensor) -> list[Tensor]:
    """Each operand has the share of where it is what comes out."""
    t, low, high = op.inputs
    below, above = make("Less", t, low), make("Greater", t, high)
    zeros = make("ZerosLike", grad)
    inside = make("Select", make("LogicalOr", below, above), zeros, grad)
    to_t, to_low = broadcasting.dynamic(t, low)
    _, to_high = broadcasting.dynamic(t, high)
    shares = (
        (to_t, inside),
        (to_low, make("Select", below, grad, zeros)),
        (to_high, make("Select", above, grad, zeros)),
    )
    return [share(part) for share, part in shares]


define_op(
    "ClipByValue",
    "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32,"
        " bfloat16, uint16, complex128, half, uint32, uint64}"
    ],
    shape=_clip_shape,
    kernel=_clip,
    inline=_clip_inline,
    gradient=_clip_gradient,  # later TensorFlows have one; clip_by_value builds other nodes
)


def _values(t: Any, name: str = "t") -> Tensor:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t: Any, values: Tensor) -> Any:
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """``t`` with elements below the least value raised to it and above the greatest lowered to it.

    Args:
      t: Tensor or IndexedSlices of a real type.
      clip_value_min, clip_value_max: scalars, or tensors that broadcast to ``t``.

    Returns:
      The clipped ``t``, of its class and shape.

    Raises:
      ValueError: the bounds would make the shape larger.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.clip_by_value([-3.0, 0.5, 3.0], -1.0, 1.0)).tolist()
      [-1.0, 0.5, 1.0]
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _values(t)
        below = make("Minimum", values, clip_value_max)
        _same_shape("clip_value_max", values, below)
        result = make("Maximum", below, clip_value_min, name=scope)
        _same_shape("clip_value_min", values, result)
        return _like(t, result)


def _same_shape(what: str, values: Tensor, result: Tensor) -> None:
    if not shapes.is_compatible_static(values.sizes, result.sizes):
        raise ValueError(
            f"{what} must broadcast to the shape of t, {show(values.sizes)}; with it the result has"
            f" shape {show(result.sizes)}"
        )


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """``t`` scaled down so that its 2-norm is at most ``clip_norm``.

    Args:
      t: Tensor or IndexedSlices of a floating type.
      clip_norm: scalar, or a tensor that broadcasts to ``t``.
      axes: dims over which a norm is taken; None for all of them.

    Returns:
      The clipped ``t``, of its class and shape.

    Raises:
      ValueError: ``clip_norm`` would make the shape larger.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.clip_by_norm([3.0, 4.0], 1.0)))
      [0.6 0.8]
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _values(t)
        squared = reduction.reduce_sum(values * values, axes, keepdims=True)
        # The square root of 0 has no gradient: 0 goes around it.
        positive = squared > 0
        safe = make("Select", positive, squared, elementwise.ones_like(squared))
        norm = make("Select", positive, make("Sqrt", safe), squared)
        scaled = values * clip_norm
        _same_shape("clip_norm", values, scaled)
        quotient = scaled / make("Maximum", norm, clip_norm)
        return _like(t, make("Identity", quotient, name=scope))


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """``t`` scaled down so that its 2-norm over its size is at most ``clip_norm``.

    Args:
      t: tensor of float32.
      clip_norm: scalar.

    Returns:
      The clipped tensor.
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = cast.cast(ranks.size(t), "float32")
        total = reduction.reduce_sum(t * t, ranges.range_(ranks.rank(t)))
        inverse = make("Rsqrt", total)
        scaled = t * clip_norm
        factor = make("Minimum", inverse * count, constant(np.float32(1.0)) / clip_norm)
        return make("Identity", scaled * factor, name=scope)


def _checked_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"t_list should be a sequence of tensors; found {t_list!r}")
    return list(t_list)


def _all_values(t_list: list[Any]) -> list[Tensor | None]:
    return [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The 2-norm of all elements of several tensors taken together.

    Args:
      t_list: sequence of Tensors, IndexedSlices and None (skipped).

    Returns:
      A scalar.

    Raises:
      TypeError: ``t_list`` is not a sequence.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     print(session.run(tf.global_norm([tf.constant([3.0]), tf.constant([4.0])])))
      5.0
    """
    items = _checked_list(t_list)
    with name_scope(name, "global_norm", [t for t in items if t is not None]):
        halves = []
        for value in _all_values(items):
            if value is not None:
                with colocate_with(value):
                    halves.append(make("L2Loss", value))
        half = reduction.reduce_sum(join.stack(halves))
        kind = half.dtype.base_dtype
        two = constant(np.array(2.0).astype(kind.as_numpy_dtype), kind)
        return make("Sqrt", half * two, name="global_norm")


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Several tensors scaled down by one factor so that their global norm is at most ``clip_norm``.

    Args:
      t_list: sequence of Tensors, IndexedSlices and None (kept as None).
      clip_norm: scalar.
      use_norm: the global norm, if it is known already.

    Returns:
      The list of clipped tensors, and the global norm.  They are NaN if the norm is not finite.

    Raises:
      TypeError: ``t_list`` is not a sequence.

    Example:
      >>> import penstock as tf
      >>> gradients = [tf.constant([3.0]), tf.constant([4.0])]  # their norm is 5
      >>> clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
      >>> with tf.Session() as session:
      ...     print(*session.run(clipped), session.run(norm))
      [0.6] [0.8] 5.0
    """
    items = _checked_list(t_list)
    if use_norm is None:
        use_norm = global_norm(items, name)
    given = [*(t for t in items if t is not None), clip_norm]
    with name_scope(name, "clip_by_global_norm", given) as scope:
        kind = use_norm.dtype.base_dtype
        dtype = kind.as_numpy_dtype
        inverse = 1.0 / use_norm
        limit = constant(np.array(1.0).astype(dtype), kind) / clip_norm
        scale = clip_norm * make("Minimum", inverse, limit)
        finite = make("IsFinite", use_norm)
        nan = constant(np.array(np.nan).astype(dtype), kind)
        scale = make("Select", finite, scale, nan)
        clipped: list[Any] = []
        for index, value in enumerate(_all_values(items)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                result = make("Identity", value * scale, name=f"{scope}_{index}")
            clipped.append(_like(items[index], result))
    return clipped, use_norm
