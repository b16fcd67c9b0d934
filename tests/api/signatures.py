"""Signatures as TensorFlow 1.15's list writes them, and ours brought to the same form.

A parameter is a pair of its name and its default, `""` without one. The list shows most objects as
`<object>`; enums, functions and classes it names, and they are compared by name.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

from penstock.foundation.base import dtypes

ABSENT = object()
# What a decorated function shows: it says nothing about the parameters.
_NOTHING = {"self", "cls", "*args", "**kwargs", "**kwds"}
_MODULE = re.compile(r"^[a-z_.]*\.")


def resolve(root: Any, name: str) -> Any:
    """What ``root.name`` is, or ``ABSENT``; a value may be None."""
    for part in name.split("."):
        root = getattr(root, part, ABSENT)
        if root is ABSENT:
            return ABSENT
    return root


# ---- theirs ----------------------------------------------------------------------------------


def theirs(text: str) -> list[tuple[str, str]] | None:
    """``(self, a, b=1, *c)`` as ``[("a", ""), ("b", "1"), ("*c", "")]``; None: it says nothing."""
    pairs = [part.partition("=") for part in _split(text.strip()[1:-1])]
    named = [(name.strip(), _said(default.strip())) for name, _, default in pairs]
    if {name for name, _ in named} <= _NOTHING and any("*" in name for name, _ in named):
        return None
    return _without_self(named)


def says(text: str) -> bool:
    """Whether a signature says something of the parameters."""
    return theirs(text) is not None


def _split(text: str) -> list[str]:
    parts, depth, current, quote = [], 0, "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        depth += not quote and (char in "([{<")
        depth -= not quote and (char in ")]}>")
        if char == "," and depth == 0 and not quote:
            parts.append(current)
            current = ""
        else:
            current += char
    return [part.strip() for part in [*parts, current] if part.strip()]


def _said(text: str) -> str:
    if text[:1] in ("'", '"'):
        return text
    if text.startswith("("):
        return f"[{text[1:-1].rstrip(',')}]"
    if not text.startswith("<"):
        return text
    if found := re.match(r"<(\w+\.\w+): ", text):
        return found[1]
    if found := re.match(r"<(?:built-in )?(?:function|class) '?([\w.<>]+)", text):
        # A name that a caller sees; functions inside others and classes of modules show more.
        return "<object>" if "<locals>" in found[1] else _MODULE.sub("", found[1])
    return "<object>"


def _without_self(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return pairs[1:] if pairs and pairs[0][0] in ("self", "cls") else pairs


# ---- ours ------------------------------------------------------------------------------------


def ours(function: Any) -> list[tuple[str, str]]:
    """The parameters of a function or class; one that only goes by keyword is marked.

    Raises:
      ValueError: Python knows none, of a function that is not written in Python.
    """
    if isinstance(function, type) and type(function) is not type:
        # A metaclass, and a named tuple's `__new__`, hide or are what a call takes.
        made = function.__init__ if "__init__" in _own_names(function) else function.__new__
        function = made
    pairs, star = [], False
    for p in inspect.signature(function).parameters.values():
        sign = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        name = sign + p.name
        if p.kind is p.POSITIONAL_ONLY or (p.kind is p.KEYWORD_ONLY and not star):
            name += f" ({p.kind.description})"
        star |= p.kind is p.VAR_POSITIONAL
        pairs.append((name, "" if p.default is p.empty else _shown(p.default)))
    return _without_self(pairs)


def _own_names(kind: type) -> set[str]:
    return {name for each in kind.__mro__ if each is not object for name in vars(each)}


def _shown(value: Any) -> str:
    if isinstance(value, dtypes.DType):
        return f"tf.{value.name}"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if type(value) is tuple:
        # A default that nobody can change is as good as the list that it stands for.
        return repr(list(value))
    if callable(value) and not isinstance(value, type):
        return getattr(value, "__name__", "<object>")
    if isinstance(value, type):
        return value.__name__
    return "<object>" if repr(value).startswith("<") else repr(value)


def same(found: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> bool:
    """Whether the parameters are the same; ``<object>`` fits an object, but no plain value."""
    if [name for name, _ in found] != [name for name, _ in wanted]:
        return False
    return all(_same_default(f, w) for (_, f), (_, w) in zip(found, wanted))


def _same_default(found: str, wanted: str) -> bool:
    if wanted == "<object>":
        return bool(re.fullmatch(r"<object>|[A-Za-z_]\w*(\.\w+)?", found)) and found != "None"
    return found == wanted


# ---- classes ---------------------------------------------------------------------------------


def members(kind: type, said: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """How the public members of a class differ from the list's, by name.

    Args:
      kind: the class.
      said: of each member its signature, "property", or None where there is nothing to compare.

    Yields:
      The member and what is wrong.
    """
    for name, text in said.items():
        found = inspect.getattr_static(kind, name, ABSENT)
        if found is ABSENT and not (text == "property" and name in _attributes(kind)):
            yield name, "absent"
        elif found is ABSENT or text is None:
            continue
        elif text == "property":
            if inspect.isfunction(found):
                yield name, "a method; theirs is a property"
        elif wrong := difference(getattr(kind, name), text, inspect.isfunction(found)):
            yield name, wrong


def difference(found: Any, text: str, is_plain: bool = False) -> str | None:
    """How a function's parameters differ from the list's, or None."""
    if not callable(found) or isinstance(found, property):
        return f"no function: {type(found).__name__}"
    wanted = theirs(text)
    # What is not written in Python, as a tuple's `index`, is Python's own.
    if wanted is None or inspect.ismethoddescriptor(found) or inspect.isbuiltin(found):
        return None
    try:
        mine = ours(found)
    except ValueError:
        return "Python does not tell its parameters"
    return None if same(mine, wanted) else f"{_line(mine)}; theirs {_line(wanted)}"


def _line(pairs: list[tuple[str, str]]) -> str:
    return "(" + ", ".join(f"{n}={d}" if d else n for n, d in pairs) + ")"


@functools.cache
def _attributes(kind: type) -> frozenset[str]:
    """The attributes that objects of a class have without the class having them."""
    names: set[str] = set()
    for each in kind.__mro__:
        names |= set(vars(each).get("__annotations__", ())) | set(vars(each).get("__slots__", ()))
        try:
            tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(each)))
        except (OSError, TypeError, SyntaxError, IndentationError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    names.add(node.attr)
    return frozenset(names)
