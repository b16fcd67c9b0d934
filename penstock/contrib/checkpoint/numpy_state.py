"""``NumpyState``: NumPy arrays as attributes that checkpoints save."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from penstock.library.variables.auto_trackable import Trackable
from penstock.library.variables.tracked import attached
from penstock.storage.checkpoint.python_state import PythonState


class _Array(PythonState):
    """An array, as the bytes of a NumPy file."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        """The array as a NumPy file."""
        buffer = io.BytesIO()
        np.save(buffer, self.array, allow_pickle=False)
        return buffer.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        """Takes the array from a NumPy file, which calls nothing."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(Trackable):
    """Holds NumPy arrays as attributes; checkpoints save them, and restoring makes those that lack.

    Raises:
      NotImplementedError: an attribute is set to something else.

    Example:
      >>> import numpy as np, penstock as tf, tempfile
      >>> arrays = tf.contrib.checkpoint.NumpyState()
      >>> arrays.x = np.ones([2])
      >>> with tf.Graph().as_default(), tf.Session():
      ...     path = tf.train.Checkpoint(arrays=arrays).save(tempfile.mkdtemp() + "/ckpt")
      ...     new = tf.contrib.checkpoint.NumpyState()
      ...     _ = tf.train.Checkpoint(arrays=new).restore(path)
      ...     new.x
      array([1., 1.])
    """

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(name, held) for name, held in vars(self).items() if isinstance(held, _Array)]

    def made_while_restoring(self, name: str) -> Any:
        """An array to be restored under a name that has none yet."""
        return vars(self).setdefault(name, _Array(np.array([])))

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return found.array if isinstance(found, _Array) else found

    def __setattr__(self, name: str, value: Any) -> None:
        held = vars(self).get(name)
        if not isinstance(value, np.ndarray | np.generic):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array."
                " Currently mixing NumPy arrays and other trackable objects is not supported. File"
                " a feature request if this limitation bothers you."
            )
        if isinstance(held, _Array):
            held.array = value
        else:
            vars(self)[name] = _Array(value)
            attached()
