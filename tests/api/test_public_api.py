"""Public functions and classes take TensorFlow 1.15's arguments, in its order and defaults."""

from __future__ import annotations

import enum
import inspect
from typing import Any

import pytest

import penstock as tf
from penstock.base import dtypes
from tests import spec

SPEC = spec.load("public_api.json")
# Names whose signature differs on purpose.
DIFFERENT = {
    "Variable": "a metaclass makes reference and resource variables; see variables.variable",
    "convert_to_tensor": "one more argument by keyword, as_ref",
    "shape": "one more argument, last: optimize",
    "train.Saver": "one more argument, last: format",
    "size": "one more argument, last: optimize",
    "Operation": "made by Graph.create_op and never by users; there is no NodeDef behind it",
}
# How many names are compared at least, so that none vanishes unseen; raise it when names are added.
FLOOR = 1392


def _resolve(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _signature(text: str) -> list[tuple[str, str]]:
    """``(a, b=1, *c)`` as ``[("a", ""), ("b", "1"), ("*c", "")]``."""
    parts, depth, current, quote = [], 0, "", ""
    for char in text.strip()[1:-1]:
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
    pairs = [p.strip().partition("=") for p in [*parts, current] if p.strip()]
    return [(name.strip(), default.strip()) for name, _, default in pairs]


def _default(value: Any) -> str:
    if isinstance(value, dtypes.DType):
        return f"tf.{value.name}"
    if isinstance(value, enum.Enum) or callable(value):
        return "<object>"
    # A default that nobody can change is as good as the list that it stands for.
    return repr(list(value)) if type(value) is tuple else repr(value)


def _ours(function: Any) -> list[tuple[str, str]]:
    if isinstance(function, type) and type(function) is not type:
        function = function.__init__  # type: ignore[misc]  # a metaclass hides the arguments
    pairs = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        pairs.append((star + p.name, "" if p.default is p.empty else _default(p.default)))
    return pairs


def _theirs(text: str) -> list[tuple[str, str]]:
    return [(name, _said_default(value)) for name, value in _signature(text)]


def _said_default(text: str) -> str:
    if "<" in text:
        return "<object>"
    return f"[{text[1:-1]}]" if text.startswith("(") else text


def _comparable() -> list[str]:
    names = []
    for name, said in SPEC.items():
        text = said.get("function") or said.get("class")
        # "(*args, **kwargs)" is what a decorated function or an enum shows: it says nothing.
        if not text or {n for n, _ in _signature(text)} <= {"self", "*args", "**kwargs"}:
            continue
        if callable(_resolve(name)):
            names.append(name)
    return names


CHECKED = _comparable()


def test_no_name_vanishes() -> None:
    assert len(CHECKED) >= FLOOR


@pytest.mark.parametrize("name", CHECKED)
def test_signature(name: str) -> None:
    said = SPEC[name].get("function") or SPEC[name]["class"]
    theirs = [pair for pair in _theirs(said) if pair[0] != "self"]
    ours = [pair for pair in _ours(_resolve(name)) if pair[0] != "self"]
    if name in DIFFERENT:
        assert ours != theirs, "the exception is not needed any more"
    else:
        assert ours == theirs
