"""Scopes that say the defaults of arguments: ``with arg_scope([conv2d], padding="SAME"):``.

A scope is a dictionary from the key of a function to the arguments that it gives it; ``_STACK``
has the open ones.  A function's key is its ``str`` when it was decorated, so that scopes of TF 1.x
programs (and what they look up in them) have the same form.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from penstock.foundation.base.decorators import contextmanager, decorates

_Function = TypeVar("_Function", bound=Callable[..., Any])

Scope = dict[str, dict[str, Any]]

_STACK: list[Scope] = [{}]
_SETTABLE: dict[str, tuple[str, ...]] = {}


def current_arg_scope() -> Scope:
    """The innermost scope: from keys of functions to arguments."""
    return _STACK[-1]


def arg_scope_func_key(op: Callable[..., Any]) -> str:
    """The key of a function in a scope."""
    key: str = getattr(op, "_key_op", str(op))
    return key


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether ``func`` was decorated with ``add_arg_scope``."""
    return arg_scope_func_key(func) in _SETTABLE


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arguments of ``func`` that a scope can set: those with a default.

    Args:
      func: a function decorated with ``add_arg_scope``.

    Raises:
      AssertionError: it is not decorated.
    """
    if not has_arg_scope(func):
        raise AssertionError(f"{func} is not decorated with @add_arg_scope")
    return _SETTABLE[arg_scope_func_key(func)]


def add_arg_scope(func: _Function) -> _Function:
    """Lets ``arg_scope`` set arguments of the function that it decorates.

    Args:
      func: a function.

    Returns:
      The function, with the arguments of the scope that it is called in where the call gives none.

    Example:
      >>> @tf.contrib.framework.add_arg_scope
      ... def scaled(x, by=2):
      ...     return x * by
      >>> with tf.contrib.framework.arg_scope([scaled], by=10):
      ...     scaled(4), scaled(4, by=3)
      (40, 12)
    """
    key = arg_scope_func_key(func)

    @decorates(func, "add_arg_scope")
    def scoped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    parameters = inspect.signature(func).parameters.values()
    _SETTABLE[key] = tuple(
        p.name for p in parameters if p.default is not p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    )
    scoped._key_op = key  # type: ignore[attr-defined]
    return cast(_Function, scoped)


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Gives functions other defaults in a ``with`` block.

    Args:
      list_ops_or_scope: list of functions decorated with ``add_arg_scope``; or a scope to use again
        (what ``as`` gave, or ``current_arg_scope()``).
      **kwargs: the arguments that they get; none with a scope.

    Yields:
      The scope.

    Raises:
      TypeError: neither list, tuple nor scope.
      ValueError: a scope and arguments, or a function that is not decorated.

    Example:
      >>> import penstock as tf
      >>> from penstock.contrib import slim
      >>> images = tf.zeros([1, 28, 28, 1])
      >>> with slim.arg_scope([slim.conv2d], padding="VALID", activation_fn=None):
      ...     net = slim.conv2d(images, 8, [5, 5])  # both arguments are given by the scope
      ...     net = slim.conv2d(net, 8, [5, 5], padding="SAME")
      >>> net.shape.as_list(), net.op.type
      ([1, 24, 24, 8], 'BiasAdd')
    """
    scope = _scope_of(list_ops_or_scope, kwargs)
    _STACK.append(scope)
    try:
        yield scope
    finally:
        _STACK.pop()


def _scope_of(given: Any, kwargs: dict[str, Any]) -> Scope:
    if isinstance(given, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by supplying a dictionary, kwargs must be"
                f" empty; found {sorted(kwargs)}"
            )
        return given.copy()
    if not isinstance(given, list | tuple):
        raise TypeError(
            "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict); found"
            f" {given!r}"
        )
    scope = current_arg_scope().copy()
    for func in given:
        if not has_arg_scope(func):
            name = (getattr(func, "__module__", None), getattr(func, "__name__", func))
            raise ValueError(f"{name} is not decorated with @add_arg_scope")
        key = arg_scope_func_key(func)
        scope[key] = {**scope.get(key, {}), **kwargs}
    return scope
