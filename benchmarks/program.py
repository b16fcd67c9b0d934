"""What a case gives the worker: a step to repeat, and a way to let its memory go."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple


def nothing_to_close() -> None:
    """The ``close`` of a program that holds nothing besides its Python objects."""


class Program(NamedTuple):
    """A prepared case.

    Attributes:
        step: Does one step with the next batch (cyclically), NumPy in, number or NumPy array out,
            all of it inside the measured time.
        close: Releases what the step holds.
    """

    step: Callable[[], Any]
    close: Callable[[], None] = nothing_to_close
