"""What ``tf.keras.backend`` has beside the session and the learning phase: values and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import scopes
from penstock.library.layer_base import sessions
from penstock.training.keras_models.backend_math import to_dense
from penstock.training.keras_models.cut_graphs import cut, is_cut


def int_shape(x: Any) -> Any:
    """A tensor's shape as a tuple, None where a dim is open; None for an unknown rank."""
    return None if x.shape.ndims is None else tuple(x.shape.as_list())


def ndim(x: Any) -> Any:
    """A tensor's rank; None if it is unknown."""
    return x.shape.ndims


def count_params(x: Any) -> int:
    """How many numbers a tensor or variable of known shape has."""
    return int(np.prod(x.shape.as_list(), dtype=np.int64))


def eval_(x: Any) -> Any:
    """The value of a tensor or variable in Keras's session or as it is, of a sparse one dense."""
    return get_value(to_dense(x))


def get_value(x: Any) -> Any:
    """The value of a variable, or of a tensor, in Keras's session or as it is."""
    if getattr(x, "has_value", False):
        return x.numpy()
    if not hasattr(x, "name"):  # a number, or an array
        return x
    if is_cut(x):
        return cut([], [x])()[0]
    return sessions.values_of([x])[0]


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of variables in Keras's session or as they are."""
    if scopes.get_default_graph().executes:
        return [get_value(one) for one in tensors]
    return sessions.values_of(tensors)


def set_value(x: Any, value: Any) -> None:
    """Gives a variable a value in Keras's session."""
    sessions.set_values([(x, value)])


def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Gives variables values in Keras's session: pairs of a variable and its value."""
    sessions.set_values(list(tuples))
