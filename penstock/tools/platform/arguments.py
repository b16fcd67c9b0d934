"""What the arguments of a function are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def has_kwargs(fn: Callable[..., Any]) -> bool:
    """Whether a function, a partial or what can be called takes any keyword.

    Args:
      fn: the function.

    Raises:
      TypeError: it cannot be called.

    >>> has_kwargs(lambda x, **more: x), has_kwargs(lambda x: x)
    (True, False)
    """
    if isinstance(fn, functools.partial):
        fn = fn.func
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn).__name__}.")
    kinds = [each.kind for each in inspect.signature(fn).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds
