"""What a case gives the worker: a step to repeat, and a way to let its memory go."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional


def nothing_to_close() -> None:
    """The ``close`` of a program that holds nothing besides its Python objects."""


class Program(NamedTuple):
    """A prepared case.

    Attributes:
        step: Does one step with the next batch (cyclically), NumPy in, number or NumPy array out,
            all of it inside the measured time.
        close: Releases what the step holds.
        between: What is done after each step, outside the measured time.
        beside: Starts work in the background; gives what tells whether it is over.
    """

    step: Callable[[], Any]
    close: Callable[[], None] = nothing_to_close
    between: Optional[Callable[[], None]] = None
    beside: Optional[Callable[[], Callable[[], bool]]] = None
