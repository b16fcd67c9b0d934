"""Stacks of tensors that live within one step.

State of a ``Stack``: the tensors, the bound, closed or not.  It belongs to the step whose node
made it.  ``StepStack`` is the lasting state behind a V1 stack's node: a stack a thread, since a
step runs on one thread and concurrent steps must not share one.

Source: the stacks of TensorFlow 1.15, whose node makes a new one in each step.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from penstock.foundation.base import errors


class Stack:
    """Last in, first out: tensors, strings' arrays, or other stacks and TensorArrays.

    Args:
      name: for messages.
      max_size: the most elements that it may hold; negative: no bound.
    """

    __slots__ = ("name", "_values", "_bound", "_closed")

    def __init__(self, name: str = "", max_size: int = -1) -> None:
        self.name = name
        self._values: list[Any] = []
        self._bound = max_size
        self._closed = False

    def push(self, elem: Any) -> None:
        """Puts an element on top; its memory is kept, not copied.

        Raises:
          tf.errors.InvalidArgumentError: the stack is closed or full.
        """
        if self._closed:
            raise self._has_been_closed()
        values = self._values
        if 0 <= self._bound <= len(values):
            raise errors.invalid(f"{self._named()} overflowed its max_size ({self._bound})")
        values.append(elem)

    def pop(self, dtype: Any) -> Any:
        """Takes the element on top away.

        Args:
          dtype: its torch type, ``object`` for strings and handles.

        Raises:
          tf.errors.InvalidArgumentError: the stack is closed or empty.
          tf.errors.InternalError: the tensor is of another type.
        """
        if self._closed:
            raise self._has_been_closed()
        if not self._values:
            raise errors.invalid(f"{self._named()} is empty when calling pop")
        value = self._values.pop()
        found = value.dtype if isinstance(value, torch.Tensor) else object
        if found is not dtype:
            raise errors.InternalError(
                None, None, f"{self._named()}: a tensor of {dtype} is asked for; found {found}"
            )
        return value

    def close(self) -> None:
        """Frees the tensors; pushes and pops fail from then on."""
        self._values.clear()
        self._closed = True

    def __len__(self) -> int:
        return len(self._values)

    def _has_been_closed(self) -> errors.InvalidArgumentError:
        return errors.invalid(f"{self._named()} has already been closed")

    def _named(self) -> str:
        return f"Stack {self.name!r}"


class StepStack:
    """The stack behind a V1 stack's node: for each thread the one that its step began.

    Args:
      name: for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._local = threading.local()

    def begin(self, max_size: int = -1) -> None:
        """Makes it an empty, open stack for the step that this thread runs."""
        self._local.stack = Stack(self.name, max_size)

    def push(self, elem: Any) -> None:
        """As ``Stack.push``."""
        self._current().push(elem)

    def pop(self, dtype: Any) -> Any:
        """As ``Stack.pop``."""
        return self._current().pop(dtype)

    def close(self) -> None:
        """As ``Stack.close``."""
        self._current().close()

    def _current(self) -> Stack:
        if not hasattr(self._local, "stack"):
            self.begin()
        stack: Stack = self._local.stack
        return stack
