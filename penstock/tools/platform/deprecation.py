"""Decorators that log, once a function, that it or an argument of it is on its way out.

State: whether the block that runs is to hear nothing of that.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from penstock.tools.platform import tf_logging
from penstock.tools.platform.decorators import make_decorator

_silent = ContextVar("silent", default=False)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _check(date: str | None, instructions: str) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be YYYY-MM-DD; found {date!r}")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is said of what is deprecated in a block; at a later use it may be."""
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


class _Warner:
    """Says something at each call, or only at the first."""

    def __init__(self, once: bool) -> None:
        self._once = once
        self._said: set[str] = set()

    def say(self, what: str, text: str) -> None:
        if not (_silent.get() or self._once and what in self._said):
            self._said.add(what)
            tf_logging.warning(text)


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Decorator:
    """Marks a function as deprecated: calls of it are logged.

    Args:
      date: when it is to go, as ``2019-12-31``; None for some time.
      instructions: what to write instead.
      warn_once: whether only the first call is logged.

    Returns:
      A decorator of functions and classes.

    Raises:
      ValueError: a date of another form, or no instructions.
    """
    _check(date, instructions)
    warner = _Warner(warn_once)

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        text = (
            f"{func.__module__}.{func.__qualname__} is deprecated and will be removed"
            f" {_when(date)}. {instructions}"
        )

        def called(*args: Any, **kwargs: Any) -> Any:
            warner.say(func.__qualname__, text)
            return func(*args, **kwargs)

        make_decorator(func, called, "deprecated")
        called.__doc__ = f"{func.__doc__ or func.__name__} (deprecated)\n\n{instructions}"
        return called

    return decorate


def experimental(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as experimental: its calls are logged, and its documentation says so.

    Args:
      func: a function.

    Raises:
      ValueError: it is none.
    """
    if not (inspect.isfunction(func) or inspect.ismethod(func)):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before"
            " @experimental in your source code:\n\n@property\n@experimental\ndef method(...)"
        )
    where = f"{func.__qualname__} (from {func.__module__})"

    def called(*args: Any, **kwargs: Any) -> Any:
        tf_logging.warning(f"{where} is experimental and may change or be removed at any time.")
        return func(*args, **kwargs)

    make_decorator(func, called, "experimental")
    first, _, rest = (inspect.cleandoc(func.__doc__ or "")).partition("\n")
    head = f"{first} (experimental)" if first else "EXPERIMENTAL FUNCTION"
    notice = (
        "Warning: THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and"
        " without warning."
    )
    parts = [head, notice, rest.strip("\n")]
    called.__doc__ = "\n\n".join(part for part in parts if part)
    return called


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Decorator:
    """Marks arguments as deprecated: calls that give them are logged.

    Args:
      date, instructions: as ``deprecated``.
      *deprecated_arg_names_or_tuples: names; or (name, value that is still welcome).
      **kwargs: ``warn_once``.

    Returns:
      A decorator of functions.

    Raises:
      ValueError: no names, or ones that the function lacks.
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    given = [n if isinstance(n, tuple) else (n,) for n in deprecated_arg_names_or_tuples]
    warner = _Warner(kwargs.pop("warn_once", True))
    if kwargs:
        raise TypeError(f"deprecated_args takes warn_once; found {sorted(kwargs)}")

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(func)
        missing = [name for name, *_ in given if name not in signature.parameters]
        if missing:
            raise ValueError(
                "The following deprecated arguments are not present in the function signature:"
                f" {missing}; its arguments are {list(signature.parameters)}"
            )

        def unwelcome(name: str, *welcome: Any) -> Callable[[dict[str, Any]], bool]:
            return lambda bound: name in bound and not any(bound[name] is w for w in welcome)

        tests = {name: unwelcome(name, *welcome) for name, *welcome in given}
        return _watched(func, signature, tests, warner, f"{_when(date)}. {instructions}")

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Decorator:
    """Marks values of arguments as deprecated: calls that give them are logged.

    Args:
      date, instructions, warn_once: as ``deprecated``.
      **deprecated_kwargs: from names of arguments to the deprecated value.

    Returns:
      A decorator of functions.

    Raises:
      ValueError: no values.
    """
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    warner = _Warner(warn_once)

    def is_value(name: str, value: Any) -> Callable[[dict[str, Any]], bool]:
        return lambda bound: name in bound and bound[name] == value

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        tests = {name: is_value(name, value) for name, value in deprecated_kwargs.items()}
        signature = inspect.signature(func)
        return _watched(func, signature, tests, warner, f"{_when(date)}. {instructions}")

    return decorate


def _watched(
    func: Callable[..., Any],
    signature: inspect.Signature,
    tests: dict[str, Callable[[dict[str, Any]], bool]],
    warner: _Warner,
    ending: str,
) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind_partial(*args, **kwargs).arguments
        bound |= bound.get("kwargs", {})  # what a function takes by any name
        for name, test in tests.items():
            if test(bound):
                warner.say(
                    name,
                    f"Calling {func.__qualname__} with {name} is deprecated and will be removed"
                    f" {ending}",
                )
        return func(*args, **kwargs)

    make_decorator(func, called, "deprecated_args")
    return called


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names.

    Args:
      new_name, new_value: the name to use, and what was given under it or None.
      old_name, old_value: the deprecated name, and what was given under it or None.

    Raises:
      ValueError: both were given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


class HiddenTfApiAttribute(property):
    """An attribute that a class hides, though a base class has it.

    Args:
      deprecation_message: what ``AttributeError`` says when it is asked for.
    """

    def __init__(self, deprecation_message: str) -> None:
        def raise_error(unused_self: Any) -> Any:
            raise AttributeError(deprecation_message)

        super().__init__(raise_error)


hide_attribute_from_api = HiddenTfApiAttribute
