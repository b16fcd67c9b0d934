"""References: a tensor or variable as a key, whatever its ``==`` may mean."""

from __future__ import annotations

from typing import Any


class Reference:
    """What ``experimental_ref`` gives: it is hashable, and equal to another of the same object.

    Args:
      wrapped: the tensor or variable.
    """

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or variable."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)
