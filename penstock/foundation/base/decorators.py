"""Wrappers that say what they wrap, and with which arguments it is called.

Python's ``functools.wraps`` marks any wrapper.  TensorFlow's own decorators leave a mark of their
own beside it, by which ``tf_inspect`` tells the arguments of a public function from those of the
wrapper; a wrapper of a program's own stays what it is.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

Wrapper = TypeVar("Wrapper", bound=Callable[..., Any])
Given = ParamSpec("Given")
Yielded = TypeVar("Yielded")


class TFDecorator:
    """What is known of one decorator around a function.

    Args:
      decorator_name: its name.
      target: what it decorates.
      decorator_doc: what it says of itself.
      decorator_argspec: the arguments that the wrapper takes, where they are not the target's.
    """

    def __init__(
        self,
        decorator_name: str,
        target: Any,
        decorator_doc: str = "",
        decorator_argspec: Any = None,
    ) -> None:
        self.decorator_name = decorator_name
        self.decorated_target = target
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.decorated_target(*args, **kwargs)


def mark(wrapper: Any, decorator: TFDecorator) -> None:
    """Leaves on a wrapper what is known of its decorator."""
    wrapper._tf_decorator = decorator


def mark_of(function: Any) -> TFDecorator | None:
    """What is known of the decorator of a function; None if it has none."""
    found = getattr(function, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


def decorates(target: Callable[..., Any], name: str = "") -> Callable[[Wrapper], Wrapper]:
    """A decorator for the wrapper of a public function, which then shows the function's arguments.

    Args:
      target: what is wrapped.
      name: what the decorator is called.
    """

    def decorate(wrapper: Wrapper) -> Wrapper:
        functools.update_wrapper(wrapper, target)
        mark(wrapper, TFDecorator(name, target))
        return wrapper

    return decorate


def contextmanager(
    function: Callable[Given, Iterator[Yielded]],
) -> Callable[Given, contextlib.AbstractContextManager[Yielded]]:
    """``contextlib.contextmanager`` for a public function."""
    made = contextlib.contextmanager(function)
    mark(made, TFDecorator("contextmanager", function))
    return made
