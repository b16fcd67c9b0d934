"""Functions as text and back: how configs of layers carry those of a program.

The text is Python's own code, which only the version that wrote it can read.
"""

from __future__ import annotations

import codecs
import marshal
from types import CellType, CodeType, FunctionType
from typing import Any


def func_dump(func: Any) -> tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """The code of a function as text, its defaults, and the values that it closes over.

    Args:
      func: a function of Python.
    """
    code = codecs.encode(marshal.dumps(func.__code__), "base64").decode("ascii")
    cells = func.__closure__
    return code, func.__defaults__, tuple(c.cell_contents for c in cells) if cells else None


def func_load(
    code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None
) -> FunctionType:
    """The function of what ``func_dump`` gave.

    Args:
      code: its text, or the whole tuple.
      defaults, closure: the rest of the tuple.
      globs: what the function takes for the names of its module; this module's by default.

    Raises:
      TypeError: the text is no code.
    """
    if isinstance(code, tuple | list):
        code, defaults, closure = code
        if isinstance(defaults, list):
            defaults = tuple(defaults)
    raw = marshal.loads(codecs.decode(code.encode("ascii"), "base64"))
    if not isinstance(raw, CodeType):
        raise TypeError(f"the text holds a {type(raw).__name__}, and no code of a function")
    cells = None if closure is None else tuple(map(_cell, closure))
    names = globals() if globs is None else globs
    return FunctionType(raw, names, name=raw.co_name, argdefs=defaults, closure=cells)


def _cell(value: Any) -> CellType:
    return value if isinstance(value, CellType) else CellType(value)
