"""What converted functions call: ``ag__`` in them.

Each operator looks at what it is given. A tensor that has no value yet makes nodes; anything else,
and what runs as it is called, takes Python's way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autograph import functions
from penstock.library.autograph.branches import if_tensor
from penstock.library.autograph.calls import (
    attempt as attempt,
    converted as converted,
    requested as requested,
)
from penstock.library.autograph.loops import (
    for_statement as for_statement,
    while_statement as while_statement,
)
from penstock.library.autograph.undefined import Undefined as Undefined, defined, is_undefined
from penstock.library.control_flow.cond import cond
from penstock.ops.control.debug import Assert
from penstock.ops.math.elementwise import logical_not

Thunk = Callable[[], Any]
functions.use_operators(sys.modules[__name__])


def symbolic(value: Any) -> bool:
    """Whether a value is a tensor, and nodes are being built."""
    return isinstance(value, Tensor) and not get_default_graph().executes


def if_statement(
    test: Any,
    then: Thunk,
    other: Thunk,
    get: Callable[[], tuple[Any, ...]],
    set: Callable[[Sequence[Any]], None],
    names: Sequence[str],
    count: int,
) -> None:
    """``if``: one of two blocks, or both as the branches of a ``tf.cond``.

    Args:
      test: what is tested.
      then, other: the blocks.
      get, set: read and set the state.
      names: of the state.
      count: how many of the state are live after it.
    """
    if symbolic(test):
        if_tensor(test, then, other, get, set, names, count)
    elif defined(test):
        then()
    else:
        other()


def if_expression(test: Any, then: Thunk, other: Thunk) -> Any:
    """``a if test else b``."""
    if symbolic(test):
        return cond(test, then, other, strict=True)
    return then() if test else other()


def and_(first: Thunk, second: Thunk) -> Any:
    """``a and b``: the second is asked for where the first is true."""
    value = first()
    if symbolic(value):
        return cond(value, second, lambda: value)
    return value and second()


def or_(first: Thunk, second: Thunk) -> Any:
    """``a or b``: the second is asked for where the first is false."""
    value = first()
    if symbolic(value):
        return cond(value, lambda: value, second)
    return value or second()


def not_(value: Any) -> Any:
    """``not a``."""
    return logical_not(value) if symbolic(value) else not value


def assert_statement(test: Any, message: Thunk) -> None:
    """``assert``: of a tensor, as the step runs.

    Raises:
      AssertionError: the test is no tensor, and false.
    """
    if not symbolic(test):
        if not test:
            said = message()
            raise AssertionError() if said is None else AssertionError(said)
        return
    said = message()
    Assert(test, ["Assertion error" if said is None else said])


def returned(value: Any) -> Any:
    """What a function returns: None where no ``return`` was reached."""
    if is_undefined(value) and value.name == "return value":
        return None
    return defined(value)


def attribute(read: Thunk, name: str) -> Any:
    """An attribute that may not be there."""
    try:
        return read()
    except AttributeError:
        return Undefined(name)


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute to what it was, which may be nothing."""
    if not is_undefined(value):
        setattr(owner, name, value)
    elif name in getattr(owner, "__dict__", ()):
        delattr(owner, name)
