"""The array behind a V1 TensorArray's node: for each thread the one that its step began.

A step runs on one thread, and concurrent steps must not share an array.  Its node makes a new one
whenever it runs, so nothing of an earlier step is left.

State: the current ``TensorArray`` of each thread.
"""

from __future__ import annotations

import threading
from typing import Any

from penstock.engine.resources.tensor_array import TensorArray
from penstock.foundation.base import errors


class StepArray:
    """What the handle of a V1 TensorArray stands for.

    Args:
      name: of the node, for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._local = threading.local()

    def begin(self, array: TensorArray) -> None:
        """Sets the array of the step that this thread runs."""
        self._local.array = array

    @property
    def current(self) -> TensorArray:
        """The array of the step that this thread runs.

        Raises:
          tf.errors.InvalidArgumentError: its node has not run.
        """
        array: Any = getattr(self._local, "array", None)
        if array is None:
            raise errors.invalid(f"TensorArray {self.name!r} is used before its node has run")
        found: TensorArray = array
        return found

    # What a node gets that takes the handle by value.
    value = current
