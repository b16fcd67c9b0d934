"""Activations as layers name them: ``tf.keras.activations``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layer_base import configs, settings
from penstock.ops.array import nodes
from penstock.ops.math import clip, elementwise, reduction, reductions, select
from penstock.ops.nn import activation, softmax as softmaxes


def softmax(x: Any, axis: int = -1) -> Any:
    """Softmax over ``axis``.

    Raises:
      ValueError: ``x`` is a vector.
    """
    rank = x.shape.ndims
    if rank == 2:
        return softmaxes.softmax(x)
    if rank is not None and rank > 2:
        e = elementwise.exp(x - reductions.reduce_max(x, axis=axis, keepdims=True))
        return e / reduction.reduce_sum(e, axis=axis, keepdims=True)
    raise ValueError("Cannot apply softmax to a tensor that is 1D")


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""
    found = activation.elu(x)
    if alpha == 1:
        return found
    return select.where(x > 0, found, alpha * found)


def selu(x: Any) -> Any:
    """The scaled exponential linear unit."""
    return activation.selu(x)


def softplus(x: Any) -> Any:
    """``log(exp(x) + 1)``."""
    return activation.softplus(x)


def softsign(x: Any) -> Any:
    """``x / (|x| + 1)``."""
    return activation.softsign(x)


def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0) -> Any:
    """``x`` between ``threshold`` and ``max_value``; ``alpha * (x - threshold)`` below.

    Args:
      x: a tensor.
      alpha: slope below the threshold.
      max_value: upper bound, or None.
      threshold: below it ``x`` is damped.
    """
    negative: Any = None
    if alpha != 0.0:
        if max_value is None and threshold == 0:
            return activation.leaky_relu(x, alpha=alpha)
        if threshold != 0:
            negative = activation.relu(-x + threshold)
        else:
            negative = activation.relu(-x)
    capped = max_value is not None
    if threshold != 0:
        x = x * make("Cast", nodes.greater(x, threshold), DstT=dtypes.as_dtype(settings.floatx()))
    elif max_value == 6:
        x, capped = activation.relu6(x), False
    else:
        x = activation.relu(x)
    if capped:
        most = _scalar(max_value, x)
        x = clip.clip_by_value(x, _scalar(0.0, x), most)
    return x if negative is None else x - _scalar(alpha, x) * negative


def _scalar(value: Any, like: Any) -> Any:
    return convert_to_tensor(value, like.dtype.base_dtype)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return elementwise.tanh(x)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return elementwise.sigmoid(x)


def exponential(x: Any) -> Any:
    """``exp(x)``."""
    return elementwise.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """``0.2 * x + 0.5``, clipped to [0, 1]."""
    slope, offset = _scalar(0.2, x), _scalar(0.5, x)
    moved = make("Add", make("Mul", x, slope), offset)
    return clip.clip_by_value(moved, 0.0, 1.0)


def linear(x: Any) -> Any:
    """``x`` itself."""
    return x


_KNOWN: dict[str, Any] = {
    one.__name__: one
    for one in (
        softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid,
        linear,
    )
}  # fmt: skip


def serialize(activation: Any) -> Any:
    """An activation by name."""
    if hasattr(activation, "__name__"):
        return activation.__name__
    return configs.serialized(activation)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The activation of that name."""
    return configs.made_from(name, _KNOWN, "activation function", custom_objects)


def get(identifier: Any) -> Any:
    """The activation that a name, itself or None (linear) stands for.

    Raises:
      ValueError: no activation has that name.
      TypeError: it is neither a name nor callable.
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
