"""How public functions take ragged tensors: one test of the arguments, and what to call then.

Functions of ``ops`` know tensors alone.  What a program calls is such a function behind a test
whether an argument is ragged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

from penstock.foundation.base.decorators import decorates
from penstock.foundation.graph.build import of_two, one_operation
from penstock.library.ragged_tensors import mapping
from penstock.library.ragged_tensors.tensor import RaggedTensor
from penstock.library.ragged_tensors.value import RaggedTensorValue

Function = TypeVar("Function", bound=Callable[..., Any])
_KINDS = frozenset((RaggedTensor, RaggedTensorValue))
# What may be ragged, or hold what is.
_ASKED = _KINDS | {list, tuple}


def has_ragged(values: Any) -> bool:
    """Whether one of them is ragged, or a list or tuple with one that is."""
    for value in values:
        kind = type(value)
        if kind in _KINDS:
            return True
        if kind is list or kind is tuple:
            for item in value:
                if type(item) in _KINDS:
                    return True
    return False


def _behind(function: Function, handle: Callable[..., Any]) -> Function:
    @decorates(function, "dispatch")
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:  # eager calls count each test
            for value in args:
                if type(value) in _ASKED:
                    break
            else:
                return function(*args)
        if has_ragged(args) or (kwargs and has_ragged(kwargs.values())):
            return handle(*args, **kwargs)
        return function(*args, **kwargs)

    return one_operation(cast(Function, dispatching))


def to(function: Function, module: str, name: str) -> Function:
    """``function``, or ``name`` of a module of this room, with the same arguments.

    Args:
      function: what takes tensors.
      module, name: what takes ragged tensors.
    """

    def handle(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(f"penstock.library.ragged_tensors.{module}"), name)(
            *args, **kwargs
        )

    return _behind(function, handle)


def unary(function: Function) -> Function:
    """A function of each element of its ragged argument."""

    def handle(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **kwargs)
        name = next(key for key, value in bound.arguments.items() if has_ragged([value]))
        given = bound.arguments.pop(name)
        return mapping.map_flat_values(lambda x: function(**{name: x}, **bound.arguments), given)

    return _behind(function, handle)


def binary(function: Function) -> Function:
    """A function of the elements of its first two arguments."""

    def handle(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(function).bind(*args, **kwargs)
        x, y, *rest = bound.arguments.items()
        return mapping.binary(lambda a, b: function(**{x[0]: a, y[0]: b}, **dict(rest)), x[1], y[1])

    if list(inspect.signature(function).parameters) != ["x", "y", "name"]:
        return _behind(function, handle)

    def dispatching(x: Any, y: Any, name: str | None = None) -> Any:
        if type(x) in _ASKED or type(y) in _ASKED:
            return general(x, y, name)
        return function(x, y, name)

    general = _behind(function, handle)
    op_type = getattr(function, "op_type", None)
    made = dispatching if op_type is None else of_two(op_type, dispatching)
    return cast(Function, decorates(function, "dispatch")(made))


def of_list(function: Function) -> Function:
    """A function of a list of operands of the same rows."""

    def handle(*args: Any, **kwargs: Any) -> Any:
        return mapping.map_flat_values(function, *args, **kwargs)

    return _behind(function, handle)
