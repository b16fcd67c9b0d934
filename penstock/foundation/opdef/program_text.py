"""The only way by which what came from outside gets into a program's text.

Names and attrs of a graph may be anybody's: a file's, a client's, a peer's.  What is written into
a program that Python compiles is therefore made here, as one of three things that cannot be more
than they seem: a literal, an identifier, or a comment.  All are ASCII, so that a reader of the text
sees what Python sees.  ``tests/compiler/codegen/test_text_flow.py`` holds that nothing goes around.
"""

from __future__ import annotations

import keyword
import math
import re
from typing import Any

import numpy as np

_NO_WORD = re.compile(r"[^A-Za-z0-9_]")
_NO_PLAIN = re.compile(r"[^\x20-\x7e]")
_NUMPY_SCALARS = (np.bool_, np.integer, np.floating)


def literal(value: Any) -> str:
    """Source of a value: evaluating it gives an equal one, and does nothing else.

    Args:
      value: None, a bool, int, float, str or bytes, a NumPy number, or a list or tuple of these.
        One of a derived class is written as the value it is, whatever its ``repr`` says.

    Raises:
      TypeError: it is of another type.

    >>> literal(["it's", b"\\n", (1, float("inf"))])
    '["it\\'s", b\\'\\\\n\\', (1, float("inf"))]'
    """
    if value is None or value is True or value is False:
        return repr(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else f'float("{float(value)}")'
    if isinstance(value, str):
        return ascii(str.__str__(value))
    if isinstance(value, bytes):
        return bytes.__repr__(value)
    if isinstance(value, _NUMPY_SCALARS):
        return literal(value.item())
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(literal, value))}{comma})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    raise TypeError(f"{type(value).__name__} {value!r} cannot be written into a program")


def identifier(name: str) -> str:
    """A name to be part of an identifier: letters, digits and ``_`` alone, and no keyword.

    >>> identifier("layer/W:0"), identifier("not")
    ('layer_W_0', 'not_')
    """
    text = _NO_WORD.sub("_", name)
    if not text or text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) else text


def comment(text: str) -> str:
    r"""Text that may follow ``# ``: it stays on its line; what is not plain ASCII is escaped.

    >>> comment("x\n    open('y')")
    "x\\n    open('y')"
    """
    return _NO_PLAIN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return ascii(match.group())[1:-1]
