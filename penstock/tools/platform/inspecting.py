"""``tensorflow.python.util.tf_inspect``: Python's ``inspect`` that sees through decorators.

A function below decorators of ``tf_decorator``, as public functions are, is asked instead of its
wrappers.  Names that are not here are those of ``inspect``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.foundation.base.decorators import TFDecorator
from penstock.tools.platform.decorators import unwrap

_inspect = inspect
FullArgSpec = inspect.FullArgSpec


class ArgSpec(NamedTuple):
    """The positional arguments of a function, as Python 3.10 and before gave them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _target(decorators: list[TFDecorator], function: Any) -> Any:
    """The arguments that the outermost decorator states, or else the function to ask."""
    stated = (each.decorator_argspec for each in decorators)
    return next((spec for spec in stated if spec is not None), function)


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function, of what it decorates if it is a decorator's.

    Args:
      obj: a function, a class, or what can be called.

    >>> import penstock as tf
    >>> getfullargspec(tf.abs).args
    ['x', 'name']
    """
    found = _target(*unwrap(obj))
    if isinstance(found, inspect.FullArgSpec):
        return found
    if isinstance(found, ArgSpec):
        return inspect.FullArgSpec(*found, [], None, {})
    spec = inspect.getfullargspec(found)
    if (getattr(found, "__module__", None) or "").partition(".")[0] == __name__.partition(".")[0]:
        # TensorFlow's functions have no annotations, and programs compare these with ``==``.
        return spec._replace(annotations={})
    return spec


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """The positional arguments of a function; Python has dropped its own ``inspect.getargspec``.

    Args:
      func: the function.

    Raises:
      ValueError: if it has arguments by keyword only, which this form cannot say.

    >>> getargspec(lambda a, b=2, *rest: None)
    ArgSpec(args=['a', 'b'], varargs='rest', keywords=None, defaults=(2,))
    """
    full = getfullargspec(func)
    if full.kwonlyargs and isinstance(func, functools.partial):
        return _of_partial(func, full)
    if full.kwonlyargs:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which"
            f" can support them: {', '.join(full.kwonlyargs)}"
        )
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _of_partial(func: functools.partial[Any], full: inspect.FullArgSpec) -> ArgSpec:
    """What a partial function sets by name is a default, where none before it has to be given."""
    whole = getargspec(func.func)
    args = whole.args[len(func.args) :]
    defaults = dict(zip(reversed(whole.args), reversed(whole.defaults or ()))) | func.keywords
    first = next((i for i, name in enumerate(args) if name in defaults), len(args))
    lacking = [name for name in args[first:] if name not in defaults]
    if lacking:
        raise ValueError(
            f"Some arguments {lacking} do not have default value, but they are positioned after"
            f" those with default values; the call sets {sorted(full.kwonlyargs)}"
        )
    given = tuple(defaults[name] for name in args[first:])
    return ArgSpec(args, whole.varargs, whole.keywords, given or None)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Which argument gets which value in a call, defaults included.

    Args:
      *func_and_positional: the function, then the arguments that are given by place.
      **named: those that are given by name.
    """
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    args = spec.args
    bound = getattr(func, "__self__", None)
    if inspect.ismethod(func) or (bound is not None and args and args[0] == "self"):
        positional = [bound, *positional]
    defaults = dict(zip(reversed(args), reversed(spec.defaults or ())))
    return {**defaults, **named, **dict(zip(args, positional))}


def _through(ask: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(ask)
    def asked(object: Any) -> Any:
        return ask(unwrap(object)[1])

    return asked


getdoc = inspect.getdoc
getfile = _through(inspect.getfile)
getsource = _through(inspect.getsource)
getsourcefile = _through(inspect.getsourcefile)
getsourcelines = _through(inspect.getsourcelines)
isbuiltin = _through(inspect.isbuiltin)
isclass = _through(inspect.isclass)
isfunction = _through(inspect.isfunction)
isgenerator = _through(inspect.isgenerator)
isgeneratorfunction = _through(inspect.isgeneratorfunction)
ismethod = _through(inspect.ismethod)
isroutine = _through(inspect.isroutine)


def getmembers(object: Any, predicate: Callable[[Any], bool] | None = None) -> list[Any]:
    """Names and values of an object's attributes."""
    return inspect.getmembers(object, predicate)
