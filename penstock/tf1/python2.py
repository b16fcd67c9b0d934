"""Sources of Python 2: told from the error that Python 3 ends with, and how to convert them."""

from __future__ import annotations

import importlib.util
import re
import traceback

# What Python 3 says of Python 2's syntax, and lines that only Python 2 takes.
_MESSAGES = (
    "Missing parentheses in call to", "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals", "inconsistent use of tabs",
)  # fmt: skip
_LINES = re.compile(
    r"^\s*print\b(?!\s*[(=.,])|^\s*exec\s+[^(=]|^\s*except\s+[\w.()]+\s*,\s*\w+\s*:"
    r"|^\s*raise\s+[\w.]+\s*,|<>|`|\b0[0-7]+\b|\bur['\"]|\b\d+L\b|\blambda\s*\("
)
_NAMES = {
    "basestring", "cmp", "execfile", "file", "long", "raw_input", "reduce", "reload", "unichr",
    "unicode", "xrange",
}  # fmt: skip
_MODULES = {
    "ConfigParser", "HTMLParser", "Queue", "SocketServer", "StringIO", "Tkinter", "__builtin__",
    "cPickle", "cStringIO", "commands", "httplib", "urllib2", "urlparse",
}  # fmt: skip
_METHODS = {"iteritems", "iterkeys", "itervalues", "has_key"}


def advice(error: BaseException) -> str | None:
    """One line about an error that comes of Python 2; None of any other error."""
    if isinstance(error, SyntaxError):
        if not _is_syntax(error):
            return None
        path, line, what = str(error.filename), error.lineno, (error.text or "").strip()
    else:
        name = _name(error)
        last = traceback.extract_tb(error.__traceback__)[-1:]
        if name is None or not last:
            return None
        path, line, what = last[0].filename, last[0].lineno, name
    return (
        f"{path}:{line} is Python 2 ({what}): convert it with {command()} {path}"
        " (and look at each / between integers, which is // now)"
    )


def _is_syntax(error: SyntaxError) -> bool:
    said, line = str(error.msg), error.text or ""
    return said.startswith(_MESSAGES) or _LINES.search(line) is not None


def _name(error: BaseException) -> str | None:
    known = {NameError: _NAMES, ModuleNotFoundError: _MODULES, AttributeError: _METHODS}
    name = getattr(error, "name", None)
    return name if name in known.get(type(error), ()) else None


def command() -> str:
    """What converts a file with the Python that runs."""
    if importlib.util.find_spec("lib2to3") is not None:
        return "python -m lib2to3 -w -n"
    return "pip install fissix && python -m fissix -w -n"
