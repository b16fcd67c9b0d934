"""What is printed where an error ends a program: the user's own lines, then the error.

Between a user's line and an error lie a dozen calls of Penstock's, which tell nothing to who wrote
the line.  They are left out, and the last line says so.  ``PENSTOCK_TRACEBACK=full`` shows all.

This is about what Python prints at last (``sys.excepthook``); the error itself, what ``except``
catches and what ``logging`` or a notebook shows, has all its frames.  A hook that somebody else has
set is left alone.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import traceback
from types import TracebackType

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)).rsplit("penstock", 1)[0], "penstock")
# Programs of their own: whoever runs one wrote the line that started it.
_PROGRAMS = os.path.join(_OWN, "models")
# What Penstock calls: hidden where no line of the user's stands between.
_STDLIB = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
_PACKAGE = re.compile(r"-packages[/\\](?!(torch|numpy|google|grpc|tensorboard)[/\\])")


def install() -> None:
    """Has Python print errors so, unless something else does it already."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = show


def show(
    kind: type[BaseException], error: BaseException, frames: TracebackType | None = None
) -> None:
    """Prints an error with the user's lines; takes what ``sys.excepthook`` does."""
    if os.environ.get("PENSTOCK_TRACEBACK") == "full" or not isinstance(error, Exception):
        sys.__excepthook__(kind, error, frames)
        return
    print("".join(lines(error)), end="", file=sys.stderr)


def lines(error: BaseException) -> list[str]:
    """The lines of an error's traceback, without Penstock's own frames.

    Args:
      error: what was raised.

    Returns:
      What ``traceback.format_exception`` gives, less what is hidden, and a line that tells of that.

    Example:
      >>> import penstock as tf
      >>> try:
      ...     tf.ones([2, 3]) + tf.ones([4])
      ... except ValueError as error:
      ...     shown = "".join(lines(error))
      >>> "infer.py" in shown, shown.splitlines()[-1]
      (False, '(... frames of Penstock are hidden: PENSTOCK_TRACEBACK=full shows them)')
    """
    told = traceback.TracebackException.from_exception(error)
    hidden = _trim(told)
    shown = list(told.format())
    if hidden:
        shown.append(
            f"({hidden} frames of Penstock are hidden: PENSTOCK_TRACEBACK=full shows them)\n"
        )
    return shown


def _trim(told: traceback.TracebackException) -> int:
    """Takes the hidden frames of an error, and of those that led to it, away; how many."""
    kept = [frame for frame, shown in zip(told.stack, _shown(told.stack)) if shown]
    hidden = len(told.stack) - len(kept)
    if not kept or not hidden:  # nothing of the user's, or nothing else
        hidden = 0
    else:
        told.stack[:] = kept
    for name in ("__cause__", "__context__"):
        before = getattr(told, name)
        if before is None:
            continue
        if any(_shown(before.stack)):
            hidden += _trim(before)
        elif hidden and str(before) in str(told):  # the error says it again, and more
            hidden += len(before.stack)
            setattr(told, name, None)
    return hidden


def _shown(stack: traceback.StackSummary) -> list[bool]:
    """Of each frame whether it is to be seen."""
    shown = []
    inside = False
    for frame in stack:
        name = frame.filename
        own = name.startswith(_OWN + os.sep) and not name.startswith(_PROGRAMS + os.sep)
        beneath = name.startswith("<penstock") or _is_beneath(name)
        inside = own or (inside and beneath)
        shown.append(not inside)
    return shown


def _is_beneath(name: str) -> bool:
    """Whether a file is of Python itself, or of a package that Penstock is built on."""
    package = "-packages" in name
    return name.startswith(_STDLIB) if not package else _PACKAGE.search(name) is None
