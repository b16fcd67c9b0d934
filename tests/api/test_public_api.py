"""Public names have TensorFlow 1.15's kind, arguments in its order, defaults, members and values.

`shared/spec/public_api.json` lists them. A name that is absent here is no matter of this test
(`docs/ops.md` says why); of a name that is present everything is compared, except what stands in
`exceptions.py` with its reason. An exception that is not needed any more fails.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from typing import Any

import pytest

import penstock as tf
from tests import spec
from tests.api import signatures
from tests.api.exceptions import DIFFERENT

SPEC = spec.load("public_api.json")
# How much is compared at least, so that nothing vanishes unseen; raise it when names are added.
FLOORS = {
    "functions": 1359,
    "classes": 312,
    "methods": 3384,
    "properties": 3089,
    "values": 123,
    "messages": 43,
}


def _kind_and_text(said: dict[str, Any]) -> tuple[str, str]:
    return next((k, said[k]) for k in ("function", "class", "value", "message") if k in said)


PRESENT = {
    name: found for name in SPEC if (found := signatures.resolve(tf, name)) is not signatures.ABSENT
}
_LITERAL = re.compile(r"-?\d+|'.*'|None|tf\.\w+")


def _value_difference(found: Any, text: str | None) -> str | None:
    shown = f"tf.{found.name}" if isinstance(found, tf.DType) else repr(found)
    if not text or not _LITERAL.fullmatch(text) or shown == text:
        return None
    return f"{shown}; theirs {text}"


def _message_difference(found: Any, text: str) -> str | None:
    full_name = getattr(getattr(found, "DESCRIPTOR", None), "full_name", "no message")
    same = full_name.rpartition(".")[2] == text.rpartition(".")[2]
    return None if same else f"{full_name}; theirs {text}"


def _differences(name: str) -> dict[str, str]:
    """What is wrong about a name and its members."""
    kind, text = _kind_and_text(SPEC[name])
    found = PRESENT[name]
    if kind == "value":
        wrong = _value_difference(found, text)
    elif kind == "message":
        wrong = _message_difference(found, text)
    elif kind == "class" and not inspect.isclass(found):
        wrong = f"no class: {type(found).__name__}"
    else:
        wrong = signatures.difference(found, text)
    rows = {name: wrong} if wrong else {}
    if kind == "class" and inspect.isclass(found):
        said = SPEC[name].get("methods", {})
        rows |= {f"{name}.{each}": why for each, why in signatures.members(found, said)}
    return rows


def _exception(name: str) -> str | None:
    return next((pattern for pattern, _ in DIFFERENT if re.fullmatch(pattern, name)), None)


_PLURALS = {
    "function": "functions",
    "class": "classes",
    "value": "values",
    "message": "messages",
    "property": "properties",
    "method": "methods",
}


def _counted(name: str, kind: str, text: str | None) -> str:
    if _exception(name):
        return "excepted"
    if kind in ("message", "property"):
        return _PLURALS[kind]
    says = _LITERAL.fullmatch(text or "") if kind == "value" else text and signatures.says(text)
    return _PLURALS[kind] if says else f"{_PLURALS[kind]} of which the list says nothing"


def _counts() -> Counter[str]:
    counts: Counter[str] = Counter()
    for name in PRESENT:
        counts[_counted(name, *_kind_and_text(SPEC[name]))] += 1
        for member, text in SPEC[name].get("methods", {}).items():
            kind = "property" if text == "property" else "method"
            counts[_counted(f"{name}.{member}", kind, text)] += 1
    return counts


def test_no_name_vanishes(capsys: pytest.CaptureFixture[str]) -> None:
    counts = _counts()
    with capsys.disabled():
        print("\ncompared:", ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    assert {what: counts[what] for what in FLOORS if counts[what] < FLOORS[what]} == {}


@pytest.mark.parametrize("name", PRESENT)
def test_as_in_tensorflow(name: str) -> None:
    wrong = _differences(name)
    assert {each: why for each, why in wrong.items() if _exception(each) is None} == {}


def test_every_exception_is_needed() -> None:
    wrong = {each for name in PRESENT for each in _differences(name)}
    needed = {_exception(each) for each in wrong}
    assert [pattern for pattern, _ in DIFFERENT if pattern not in needed] == []
