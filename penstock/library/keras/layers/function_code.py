"""Functions in configurations: their code as text, which the same Python can read again.

A named function of a module could be found by its name; Keras writes the code of all functions, so
that a model's file is enough.  What the code names besides its arguments is looked up in the
function's module where that is loaded.

Code of a configuration runs when its layer is called, and may be made to break the interpreter:
only what this process has written itself is read, any other where PENSTOCK_KERAS_CODE=1 says so.
"""

from __future__ import annotations

import base64
import marshal
import os
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

VARIABLE = "PENSTOCK_KERAS_CODE"
# The code that this process has written.
_written: set[str] = set()


def described(function: Callable[..., Any] | None) -> tuple[Any, str, str | None]:
    """A function as ``(code, kind, module)``, of values that JSON can hold.

    Args:
      function: None, a Python function, or another object that is called.

    Returns:
      For a Python function its code in base64 with defaults and closure, ``"lambda"``, and the name
      of its module; for another object its name and ``"function"``; else itself and ``"raw"``.
    """
    if isinstance(function, FunctionType):
        code = base64.encodebytes(marshal.dumps(function.__code__)).decode()
        _written.add(code)
        closure = function.__closure__ and tuple(c.cell_contents for c in function.__closure__)
        return (code, function.__defaults__, closure or None), "lambda", function.__module__
    if callable(function):
        named: Any = function
        return named.__name__, "function", named.__module__
    return function, "raw", None


def restored(found: Any, kind: str, module: str | None, known: dict[str, Any] | None = None) -> Any:
    """The function that ``described`` has told of.

    Args:
      found, kind, module: what it gave.
      known: functions by name, for those of kind ``"function"``.

    Raises:
      ValueError: the code is another's or of another Python, or no function has the name.
    """
    outer = vars(sys.modules[module]) if module in sys.modules else {}
    if kind == "raw":
        return found
    if kind == "function":
        if found in (known or {}):
            return (known or {})[found]
        if found in outer:
            return outer[found]
        raise ValueError(f"Unknown layer:{found}")
    code, defaults, closure = found
    cells = None if closure is None else tuple(CellType(value) for value in closure)
    given = None if defaults is None else tuple(defaults)
    return FunctionType(_code(code), dict(outer), "<lambda>", given, cells)


def _code(text: str) -> CodeType:
    if text not in _written and os.environ.get(VARIABLE) != "1":
        raise ValueError(
            "the function of a Lambda layer is Python code of who wrote the configuration, which is"
            f" not run; {VARIABLE}=1 allows it, for files that you trust as you trust a program"
        )
    try:
        found = marshal.loads(base64.b64decode(text))
    except (ValueError, EOFError, TypeError) as error:
        raise ValueError(
            "the function of a Lambda layer was written by another version of Python; this one is"
            f" {sys.version.split()[0]}: {error}"
        ) from None
    if not isinstance(found, CodeType):
        raise ValueError(f"the function of a Lambda layer is no code but {type(found).__name__}")
    return found
