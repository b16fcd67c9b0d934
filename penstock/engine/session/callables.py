"""Functions that run a step, made from a ``CallableOptions``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def from_options(make_callable: Callable[..., Any], given: Any) -> Callable[..., list[Any]]:
    """A function as ``make_callable`` makes.

    Args:
      make_callable: the session's.
      given: a ``CallableOptions``: names of ``feed``, ``fetch`` and ``target``, ``run_options``.

    Returns:
      ``call(*feeds, run_metadata=None)``, which returns the values of the fetches in a list.
    """
    fetched = list(given.fetch)
    targets = [name.removeprefix("^") for name in given.target]
    run = make_callable((fetched, targets), list(given.feed), accept_options=True)
    options = given.run_options if given.HasField("run_options") else None

    def call(*args: Any, run_metadata: Any = None) -> list[Any]:
        values: list[Any] = run(*args, options=options, run_metadata=run_metadata)[0]
        return values

    return call
