"""``tf.train.experimental.PythonState``: what is no tensor, as one text of a checkpoint."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control import control
from penstock.ops.control.py_func import py_func
from penstock.storage.checkpoint.saveable import SaveableObject, SaveSpec


class PythonState(abc.ABC):
    """Base of classes whose objects checkpoints save as a text that the class makes and reads.

    Example:
      >>> import penstock as tf, tempfile
      >>> class Count(tf.train.experimental.PythonState):
      ...     value = 0
      ...     def serialize(self):
      ...         return str(self.value)
      ...     def deserialize(self, string_value):
      ...         self.value = int(string_value)
      >>> with tf.Graph().as_default(), tf.Session():
      ...     root = tf.train.Checkpoint(count=Count())
      ...     root.count.value = 5
      ...     path = root.save(tempfile.mkdtemp() + "/ckpt")
      ...     root.count.value = 6
      ...     _ = root.restore(path)
      ...     root.count.value
      5
    """

    # Under which name checkpoints file it; it is restored by the program and not by a step.
    _checkpoint_attribute = "py_state"
    _shared_name = ""
    restored_by_program = True

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The state as text or bytes."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes the state from what ``serialize`` has given, as bytes."""

    def _component_saveables(self, name: str) -> SaveableObject:
        return _Saveable(self, name)


class _Saveable(SaveableObject):
    def __init__(self, state: PythonState, name: str) -> None:
        self._state = state
        with scopes.device("/cpu:0"):
            text = self._text()
        super().__init__(state, [SaveSpec(text, "", name, dtypes.string, "/cpu:0")], name)

    def _text(self) -> Any:
        if scopes.get_default_graph().executes:
            return constant(self._bytes(), dtypes.string)
        # What it is when a step runs; NumPy's own type of bytes has no zeros at the end.
        return py_func(lambda: np.array(self._bytes(), dtype=object), [], dtypes.string)

    def _bytes(self) -> bytes:
        found = self._state.serialize()
        return found.encode() if isinstance(found, str) else bytes(found)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """Hands the text on, where operations run as they are called."""
        (text,) = restored_tensors
        if text.has_value:
            give(self._state, text.numpy())  # type: ignore[attr-defined]
            return None
        return control.no_op()


def give(state: Any, text: Any) -> None:
    """Gives a state the text that a checkpoint has of it."""
    state.deserialize(np.asarray(text, dtype=object).item())
