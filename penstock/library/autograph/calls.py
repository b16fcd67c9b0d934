"""Which functions are converted where they are called, and their converted selves.

Functions of Penstock, of NumPy, torch and the standard library stay as they are, as do classes and
what has no source.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from penstock.library.autograph import functions
from penstock.library.autograph.python_functions import OVERLOADS
from penstock.library.autograph.sources import SourceError

_LEFT = {"penstock", "tensorflow", "numpy", "torch", "scipy", *sys.stdlib_module_names} - {
    "__main__"
}


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Makes converted functions call a function as it is.

    Args:
      func: the function; without it, ``do_not_convert`` gives a decorator.

    Returns:
      A function that is called as ``func``.

    Example:
      >>> import penstock as tf
      >>> @tf.autograph.experimental.do_not_convert
      ... def same(x):
      ...     return x
      >>> same(3)
      3
    """
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    called.ag__left = True  # type: ignore[attr-defined]
    return called


def converted(function: Any) -> Any:
    """What a converted function calls instead of ``function``."""
    try:
        overload = OVERLOADS.get(function)
    except TypeError:  # it has no hash
        overload = None
    if overload is not None:
        return overload
    return attempt(function)


def attempt(function: Any) -> Any:
    """A function converted, or as it is where it is not to be or cannot be."""
    if isinstance(function, FunctionType):
        return _function(function)
    if isinstance(function, MethodType):
        made = attempt(function.__func__)
        return function if made is function.__func__ else MethodType(made, function.__self__)
    if isinstance(function, functools.partial):
        made = attempt(function.func)
        if made is function.func:
            return function
        return functools.partial(made, *function.args, **function.keywords)
    if isinstance(function, type) or not callable(function):
        return function
    called = type(function).__call__
    if isinstance(called, FunctionType) and is_users(called):
        made = attempt(called)
        return function if made is called else MethodType(made, function)
    return function


def requested(function: Any) -> Any:
    """As ``attempt``, of a function that the program names: wherever that comes from."""
    if isinstance(function, FunctionType) and not hasattr(function, "ag__left"):
        return _converted(function)
    return attempt(function)


def _function(function: FunctionType) -> Any:
    if hasattr(function, "ag__left") or functions.is_converted(function):
        return function
    return _converted(function) if is_users(function) else function


def _converted(function: FunctionType) -> Any:
    if functions.is_converted(function):
        return function
    try:
        return functions.convert(function)
    except SourceError:
        return function


def is_users(function: Any) -> bool:
    """Whether a function is the program's, not that of a library that stays as it is."""
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] not in _LEFT
