"""A stack of tensors that lives within one step: made by the step's own node, gone with the next.

State: per thread, the tensors, the bound, closed or not.  A step runs on one thread, and concurrent
steps must not share a stack: each runs its node that makes the stack, which begins an empty one.

Source: the stacks of TensorFlow 1.15, whose node makes a new one in each step.
"""

from __future__ import annotations

import threading
from typing import Any

from penstock.base import errors


class Stack:
    """Last in, first out.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._local = threading.local()

    def begin(self, max_size: int) -> None:
        """Makes it an empty, open stack for the step that this thread runs.

        Args:
          max_size: the most elements that it may hold; negative: no bound.
        """
        local = self._local
        local.values, local.bound, local.closed = [], max_size, False

    def push(self, elem: Any) -> None:
        """Puts a tensor on top.

        Raises:
          tf.errors.InvalidArgumentError: the stack is closed or full.
        """
        values = self._open()
        bound = self._local.bound
        if 0 <= bound <= len(values):
            raise _invalid(f"{self._named()} overflowed its max_size ({bound})")
        values.append(elem)

    def pop(self, dtype: Any) -> Any:
        """Takes the tensor on top away.

        Args:
          dtype: its torch type, ``object`` for strings.

        Raises:
          tf.errors.InvalidArgumentError: the stack is closed or empty.
          tf.errors.InternalError: the tensor is of another type.
        """
        values = self._open()
        if not values:
            raise _invalid(f"{self._named()} is empty when calling pop")
        value = values.pop()
        found = getattr(value, "dtype", object)
        if found is not dtype and found != dtype:
            raise errors.InternalError(
                None, None, f"{self._named()}: a tensor of {dtype} is asked for; found {found}"
            )
        return value

    def close(self) -> None:
        """Frees the tensors; pushes and pops of this step fail from then on."""
        if not self._local.__dict__.get("closed"):
            self._open().clear()
        self._local.closed = True

    def _open(self) -> list[Any]:
        local = self._local
        if not hasattr(local, "values"):
            self.begin(-1)
        if local.closed:
            raise _invalid(f"{self._named()} has already been closed")
        values: list[Any] = local.values
        return values

    def _named(self) -> str:
        return f"Stack {self.name!r}"


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)
