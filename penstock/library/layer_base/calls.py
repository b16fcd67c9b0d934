"""The calls of layers that are under way in a thread, outermost first.

A layer that is called inside another's ``call`` takes over its ``training``; what is added to a
layer inside its call depends on the inputs of the outermost call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One call: the layer, its inputs, and the value of ``training`` that holds inside it."""

    layer: Any
    inputs: Any
    training: Any


class _Calls(threading.local):
    def __init__(self) -> None:
        self.open: list[Call] = []


_calls = _Calls()


def current_call() -> Call | None:
    """The innermost call, if there is one."""
    return _calls.open[-1] if _calls.open else None


def is_frozen() -> bool:
    """Whether a layer whose call is under way is not to change."""
    return any(not each.layer.trainable for each in _calls.open)


@contextmanager
def call_of(layer: Any, inputs: Any, training: Any) -> Iterator[None]:
    """The call of a layer, for a ``with`` block."""
    _calls.open.append(Call(layer, inputs, training))
    try:
        yield
    finally:
        _calls.open.pop()
