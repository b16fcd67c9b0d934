"""What a function's docstring takes from those of its family, and what it keeps."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from penstock.foundation.base.docstrings import documented_as


def full(values: Any, axis: int, keep: bool = False, name: str | None = None) -> None:
    """All of it.

    Args:
      values: numbers, over
        two lines.
      axis, keep: as of others.
      name: name of the node.

    Returns:
      What ``full`` gives.

    Raises:
      ValueError: no axis.

    Example:
      >>> full([1], 0)

    Source: a paper.
    """


def other(values: Any, weights: Any, name: str | None = None) -> None:
    """The other.

    Args:
      values: not these.
      weights: one a value.

    Raises:
      TypeError: not this.
    """


def test_what_is_said_stays_and_the_rest_is_taken_in_the_order_of_the_signature() -> None:
    @documented_as(full, other)
    def part(name: str, keep: bool, weights: Any, values: Any, extra: int) -> None:
        """A part, of its own.

        More of it.

        Args:
          extra: more.
          name: of the part.

        Returns:
          Its own.

        Example:
          >>> part()

        Source: another paper.
        """

    assert part.__doc__ == inspect.cleandoc(
        """A part, of its own.

        More of it.

        Args:
          name: of the part.
          keep: as of others.
          weights: one a value.
          values: numbers, over
            two lines.
          extra: more.

        Returns:
          Its own.

        Raises:
          ValueError: no axis.

        Example:
          >>> part()

        Source: another paper.
        """
    )


def test_examples_and_sources_are_not_taken() -> None:
    @documented_as(full)
    def part(axis: int) -> None:
        """A part."""

    assert part.__doc__ == (
        "A part.\n\nArgs:\n  axis: as of others.\n\nReturns:\n  What ``full`` gives.\n\nRaises:\n"
        "  ValueError: no axis."
    )


def test_the_function_stays_itself() -> None:
    def part(axis: int) -> None:
        """A part."""

    assert documented_as(full)(part) is part


def test_what_is_no_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="describes what is no argument: axes"):

        @documented_as(full)
        def part(axis: int) -> None:
            """A part.

            Args:
              axes: misspelt.
            """
