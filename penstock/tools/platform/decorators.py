"""Decorators that know what they decorate: ``tensorflow.python.util.tf_decorator``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from penstock.foundation.base.decorators import TFDecorator, mark, mark_of

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Makes a wrapper look like what it wraps.

    Args:
      target: what is decorated.
      decorator_func: the wrapper.
      decorator_name: the decorator's name; that of the function which calls this one if None.
      decorator_doc: what the decorator says of itself.
      decorator_argspec: the arguments that the wrapper takes; the target's if None.

    Returns:
      the wrapper.

    >>> def double(x):
    ...     return 2 * x
    >>> make_decorator(double, lambda *args: double(*args) + 1).__name__
    'double'
    """
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    functools.update_wrapper(decorator_func, target)
    mark(decorator_func, TFDecorator(decorator_name, target, decorator_doc, decorator_argspec))
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """The decorators around a function, outermost first, and the function itself.

    Args:
      maybe_tf_decorator: the function.
    """
    decorators, function = [], maybe_tf_decorator
    while (decorator := mark_of(function)) is not None:
        decorators.append(decorator)
        function = decorator.decorated_target
    return decorators, function


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Puts another function below decorators.

    Args:
      decorator_func: the outermost wrapper.
      previous_target: what it, or a wrapper below it, decorates now.
      new_target: what that one is to decorate.

    Returns:
      the outermost wrapper; the new target if there is no wrapper.
    """
    innermost = None
    function = decorator_func
    while function is not previous_target and (decorator := mark_of(function)) is not None:
        innermost, function = (function, decorator), decorator.decorated_target
    if innermost is None:
        return new_target
    wrapper, decorator = innermost
    decorator.decorated_target = new_target
    wrapper.__wrapped__ = new_target
    return decorator_func
