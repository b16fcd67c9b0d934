"""Where the user made a node: the first stack frame outside Penstock's own package.

Captured for every node, so it must be cheap: a walk over frames that compares file names, no
traceback objects, no source lines read until somebody asks for them.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_PACKAGE = str(Path(__file__).resolve().parents[2]) + os.sep


class Origin(NamedTuple):
    """One line of the user's program."""

    filename: str
    lineno: int
    function: str

    @property
    def line(self) -> str:
        """The text of the line, or an empty string where the source cannot be read."""
        return linecache.getline(self.filename, self.lineno).strip()

    @property
    def function_line(self) -> int:
        """Where the function begins; 1 for a module, and where the source cannot be read."""
        try:
            tree = ast.parse("".join(linecache.getlines(self.filename)))
        except (SyntaxError, ValueError):
            return 1
        starts = [
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name == self.function
            and node.lineno <= self.lineno <= (node.end_lineno or 0)
        ]
        return max(starts, default=1)

    def __str__(self) -> str:
        text = f"{self.filename}:{self.lineno}, in {self.function}"
        return f"{text}\n    {self.line}" if self.line else text


def capture() -> Origin | None:
    """The user's line that is running now, or None when no frame lies outside the package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(_PACKAGE) and not name.startswith("<") and "contextlib" not in name:
            return Origin(name, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return None


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warns of something at the user's line, however deep in the package it is found.

    Example:
      >>> import warnings
      >>> with warnings.catch_warnings(record=True) as caught:
      ...     warnings.simplefilter("always")
      ...     warn("this graph grows")
      >>> str(caught[0].message)
      'this graph grows'
    """
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level += 1
        frame = frame.f_back
    warnings.warn(message, kind, stacklevel=level if frame is not None else 2)
