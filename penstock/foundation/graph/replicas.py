"""How many replicas of a strategy the code that builds the graph stands for.

``tf.distribute`` lies above the families of ops; it gives them this one number.  State: what it
gave, a function.
"""

from __future__ import annotations

from collections.abc import Callable

_given: list[Callable[[str], int]] = []


def give(count: Callable[[str], int]) -> None:
    """Gives ``count(asker) -> number``, which raises RuntimeError outside a replica's code."""
    _given[:] = [count]


def in_sync(asker: str) -> int:
    """How many replicas work in step with the one that this code is for; 1 without a strategy.

    Args:
      asker: name of the function that asks, for the error.

    Raises:
      RuntimeError: this code is for a strategy as a whole, not for one of its replicas.
    """
    return _given[0](asker) if _given else 1
