"""What nestings may take apart besides lists and dicts: values of several tensors, and specs.

This is below ``nest``, which asks a value for its parts and knows no class of such values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Parted:
    """A value that is made of several tensors."""

    __slots__ = ()

    def nest_parts(self) -> list[Any] | None:
        """What it is made of, in TensorFlow's order; None of what stays whole."""
        raise NotImplementedError

    def nest_like(self, parts: Sequence[Any]) -> Any:
        """Another of its kind, made of these parts."""
        raise NotImplementedError


class PartedSpec(Parted):
    """What is known of a value: it is made of the specs of the value's parts."""

    __slots__ = ()

    def nest_match(self, first: Any, second: Any) -> None:
        """Checks that two specs or values, of which it is one, may stand for each other.

        Raises:
          ValueError: no spec is compatible with both.
        """
        raise NotImplementedError
