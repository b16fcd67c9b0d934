"""Functions that give the gradients of functions, by a tape around each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.eager.tape import GradientTape


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives the value of ``f`` and its gradients by the variables that it reads.

    Args:
      f: a function that returns a tensor.

    Returns:
      A function of the same arguments that returns ``(value, [(gradient, variable), ...])``.

    Raises:
      ValueError: when called, if ``f`` returns None or reads no trainable variable.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
            if value is None:
                raise ValueError(
                    "Cannot differentiate a function that returns None; did you forget to return a"
                    f" value from {getattr(f, '__name__', f)}?"
                )
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was executed."
            )
        return value, list(zip(tape.gradient(value, variables), variables, strict=True))

    return call


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives the gradients of ``f`` by the variables that it reads.

    Args:
      f: a function that returns a tensor.

    Returns:
      A function of the same arguments that returns ``[(gradient, variable), ...]``.

    Raises:
      ValueError: when called, as of ``implicit_value_and_gradients``.
    """
    both = implicit_value_and_gradients(f)

    def call(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return call


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[Any] | None = None
) -> Callable[..., Any]:
    """A function that gives the value of ``f`` and its gradients by its arguments.

    Args:
      f: a function of tensors that returns a tensor.
      params: numbers or names of the arguments; None: all.

    Returns:
      A function of the same arguments, and ``dy=`` to start from, that returns
      ``(value, [gradient, ...])``.

    Raises:
      ValueError: an argument that there is not, or ``f`` returns None.
    """

    def call(*args: Any, dy: Any = None) -> Any:
        places = _places(f, params, len(args))
        given: list[Any] = [convert_to_tensor(a) if i in places else a for i, a in enumerate(args)]
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([given[i] for i in places])
            value = f(*given)
            if value is None:
                raise ValueError(
                    "Cannot differentiate a function that returns None; did you forget to return a"
                    f" value from {getattr(f, '__name__', f)}?"
                )
        return value, tape.gradient(value, [given[i] for i in places], dy)

    return call


def gradients_function(
    f: Callable[..., Any], params: Sequence[Any] | None = None
) -> Callable[..., Any]:
    """A function that gives the gradients of ``f`` by its arguments.

    Args:
      f: a function of tensors that returns a tensor.
      params: numbers or names of the arguments; None: all.

    Returns:
      A function of the same arguments, and ``dy=`` to start from, that returns a list.

    Raises:
      ValueError: as of ``value_and_gradients_function``.
    """
    both = value_and_gradients_function(f, params)

    def call(*args: Any, dy: Any = None) -> Any:
        return both(*args, dy=dy)[1]

    return call


def _places(f: Callable[..., Any], params: Sequence[Any] | None, count: int) -> list[int]:
    if params is None:
        return list(range(count))
    code = f.__code__
    names = code.co_varnames[: code.co_argcount]
    if not params:
        raise ValueError("params must be None or a non-empty list")
    places = []
    for one in params:
        if isinstance(one, int) and 0 <= one < count:
            places.append(one)
        elif isinstance(one, str) and one in names:
            places.append(names.index(one))
        else:
            raise ValueError(f"params may only contain integers or strings: found {one!r}")
    return places
