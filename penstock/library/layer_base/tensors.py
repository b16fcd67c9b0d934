"""What layers note of tensors: the mask of a layer's output, the layer that it came from, and the
metric whose result it is.

State: three weak maps from tensors, of which an entry goes with its tensor; classes that programs
registered as tensors.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

_masks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_metrics: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_SYMBOLIC: list[type] = []
_histories: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def mask_of(tensor: Any) -> Any:
    """The mask that a layer has given with its output, or None."""
    try:
        return _masks.get(tensor)
    except TypeError:
        return None  # neither hashable nor a tensor


def set_mask(tensor: Any, mask: Any) -> None:
    """Notes a mask; None takes one away."""
    if mask is None:
        _masks.pop(tensor, None)
    else:
        _masks[tensor] = mask


def metric_of(tensor: Any) -> Any:
    """The metric whose call has returned it, or None."""
    try:
        return _metrics.get(tensor)
    except TypeError:
        return None


def set_metric(tensor: Any, metric: Any) -> None:
    """Notes that a metric's call has returned it."""
    _metrics[tensor] = metric


def history_of(tensor: Any) -> Any:
    """(layer, number of the call, number of the output) of a tensor, or None."""
    try:
        return _histories.get(tensor)
    except TypeError:
        return None


def set_history(tensor: Any, history: Any) -> None:
    """Notes where a tensor came from."""
    _histories[tensor] = history


def register_symbolic_tensor_type(cls: type) -> None:
    """Lets layers take objects of a class for tensors: what converts to one, as a distribution.

    Args:
      cls: a class for which ``tf.register_tensor_conversion_function`` was called.
    """
    _SYMBOLIC.append(cls)


def is_symbolic_type(value: Any) -> bool:
    """Whether it is of a class that was registered as one of tensors."""
    return isinstance(value, tuple(_SYMBOLIC))
