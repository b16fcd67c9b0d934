"""Decorators that know what they decorate, as programs import them from ``tensorflow.python.util``.

``tf_decorator.make_decorator``, ``tf_inspect.getargspec``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ArgSpec(NamedTuple):
    """The positional arguments of a function, as Python 3.10 and before gave them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """The positional arguments of a function; Python has dropped its own ``inspect.getargspec``.

    Args:
      func: the function.

    Raises:
      ValueError: if it has arguments by keyword only, which this form cannot say.

    >>> getargspec(lambda a, b=2, *rest: None)
    ArgSpec(args=['a', 'b'], varargs='rest', keywords=None, defaults=(2,))
    """
    full = inspect.getfullargspec(func)
    if full.kwonlyargs:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which"
            f" can support them: {', '.join(full.kwonlyargs)}"
        )
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def make_decorator(
    target: Callable[..., Any],
    decorator_func: Callable[..., Any],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Callable[..., Any]:
    """Makes a wrapper look like what it wraps.

    Args:
      target: what is decorated.
      decorator_func: the wrapper.
      decorator_name, decorator_doc, decorator_argspec: what is known of the decorator; kept as the
        wrapper's attribute ``_decorator``.

    Returns:
      the wrapper.

    >>> def double(x):
    ...     return 2 * x
    >>> make_decorator(double, lambda *args: double(*args) + 1).__name__
    'double'
    """
    functools.update_wrapper(decorator_func, target)
    about = (decorator_name or decorator_func.__name__, decorator_doc, decorator_argspec)
    vars(decorator_func)["_decorator"] = about
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[Any], Any]:
    """The decorators around a function, outermost first, and the function itself."""
    decorators = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        decorators.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return decorators, maybe_tf_decorator
