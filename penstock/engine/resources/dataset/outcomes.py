"""Elements that are held before they are given out: what failed is held in its element's place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.engine.resources import ending
from penstock.engine.resources.dataset.base import Element, EndOfSequence, Iterator, State
from penstock.foundation.base import errors

# An element, or the error in its place; EndOfSequence after the last one.
Outcome = tuple[Element | None, BaseException | None]


def made(make: Callable[[], Element]) -> Outcome:
    """What a call gives or raises."""
    try:
        return make(), None
    except ending.ProcessEnds:
        raise
    except BaseException as error:
        return None, error


def attempted(source: Iterator) -> Outcome | None:
    """The next element or the error in its place; None after the last one.

    Raises:
      tf.errors.CancelledError, tf.errors.DeadlineExceededError: those of the step's own wait.
    """
    try:
        return source.next(), None
    except EndOfSequence:
        return None
    except (errors.CancelledError, errors.DeadlineExceededError):
        raise
    except errors.OpError as error:
        return None, error


def taken(outcome: Outcome) -> Element:
    """The element.

    Raises:
      whatever is in its place.
    """
    element, error = outcome
    if error is not None:
        raise error.with_traceback(None)
    return element if element is not None else ()


def saved(outcome: Outcome) -> State:
    """As plain values; of an error its class and its text."""
    element, error = outcome
    if element is not None:
        return list(element)
    if isinstance(error, EndOfSequence):
        return None
    code = getattr(error, "error_code", None) or errors.UNKNOWN
    return {"code": code, "message": str(error)}


def restored(state: State) -> Outcome:
    """What ``saved`` made plain values of."""
    if state is None:
        return None, EndOfSequence()
    if isinstance(state, dict):
        kind: Any = errors.exception_type_from_error_code(state["code"])
        return None, kind(None, None, state["message"])
    return tuple(state), None


def saved_ahead(ended: bool, buffer: Any) -> State:
    """What a consumer saves of a buffer that others fill: whether it met the end, and what is held.

    Args:
      ended: whether the consumer met the end.
      buffer: ``items`` under its ``lock``, of ``source``, of which one is made under ``making``.
    """
    with buffer.making, buffer.lock:
        items = [saved(outcome) for outcome in buffer.items]
        return [ended, items, buffer.source.save()]
