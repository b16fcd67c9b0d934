"""``tf.autograph``: functions converted on request, and what their conversion looks like."""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from penstock.library.autograph import functions
from penstock.library.autograph.operators import requested
from penstock.library.autograph.sources import SourceError

_UNSET = object()
_log = logging.getLogger("penstock")


class Feature(enum.Enum):
    """Optional conversions of TensorFlow 1.15; those that Penstock has are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """A function whose Python control flow over tensors makes the nodes of a graph.

    Args:
      entity: a function or method; its ``if``, ``while``, ``for``, ``and``, ``or``, ``not`` and
        ``assert`` are converted, as are those of the functions that it calls.
      recursive, experimental_optional_features: accepted for compatibility.

    Returns:
      The converted function.

    Raises:
      ValueError: its source is not to be had.

    Example:
      >>> import penstock as tf
      >>> def size(x):
      ...     if x < 0:
      ...         x = -x
      ...     return x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     converted = tf.autograph.to_graph(size)
      ...     float(sess.run(converted(tf.constant(-2.0))))
      2.0
    """
    if inspect.isclass(entity):
        raise NotImplementedError(f"classes are not converted; found {entity!r}: give its methods")
    plain = inspect.unwrap(entity) if hasattr(entity, "__wrapped__") else entity
    function = getattr(plain, "__func__", plain)
    if not inspect.isfunction(function):
        raise ValueError(f"to_graph takes a function or method; found {entity!r}")
    made = functions.convert(function)
    return made.__get__(plain.__self__) if inspect.ismethod(plain) else made


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source text of what ``to_graph`` makes of a function.

    Args:
      entity, recursive, experimental_optional_features: as of ``to_graph``.

    Returns:
      Python's text, in which ``ag__`` are the operators.

    Raises:
      ValueError: its source is not to be had.
    """
    return ast.unparse(functions.definition(getattr(entity, "__func__", entity)))


def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Any], Any]:
    """A decorator: the function is converted when it is called.

    Args:
      recursive, optional_features, user_requested: accepted for compatibility.

    Returns:
      The decorator.

    Example:
      >>> import penstock as tf
      >>> @tf.contrib.autograph.convert()
      ... def size(x):
      ...     return x if x > 0 else -x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     float(sess.run(size(tf.constant(-2.0))))
      2.0
    """

    def decorator(function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            return requested(function)(*args, **kwargs)

        called.ag__left = True  # type: ignore[attr-defined]
        return called

    return decorator


def converted_call(
    f: Any, options: Any, args: Any, kwargs: Any, caller_fn_scope: Any = None
) -> Any:
    """Calls a function that is converted first."""
    return requested(f)(*args, **(kwargs or {}))


def set_loop_options(
    parallel_iterations: Any = _UNSET,
    back_prop: Any = _UNSET,
    swap_memory: Any = _UNSET,
    maximum_iterations: Any = _UNSET,
) -> None:
    """At the beginning of a loop that is converted: options of its ``tf.while_loop``."""


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Says how much is logged of conversions: nothing at 0.

    Args:
      level: how much.
      alsologtostdout: accepted for compatibility.
    """
    _log.setLevel(logging.DEBUG if level else logging.WARNING)


def trace(*args: Any) -> None:
    """Prints its arguments as a function is traced."""
    print(*args)


AutoGraphError = SourceError
