"""Hostile text in any string of a message, and what programs then consist of."""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.engine.runtime import program as linked

# ``penstock_canary`` is a list in ``builtins``: what runs it, leaves a trace.
_RUN = "penstock_canary.append(1)"
# Python after the end of a comment, of a string, or of an expression.
_ENDINGS = [
    f"\n    {_RUN}\n    #", f"\n{_RUN}\n#", f"\r    {_RUN}\r    #", f"\r\n    {_RUN} #",
    f"\n{_RUN}", f"\n    {_RUN}\n    \\", f":\n  {_RUN}\n  #", f"\n\n\n{_RUN}\n",
    f"'){_RUN}#", f'") or {_RUN} or ("', f"' + str({_RUN}) + '", f'" + str({_RUN}) + "',
    f"\\'+{_RUN}#", f"{{{_RUN}}}", f"]; {_RUN}; [", f"); {_RUN}; (", f"; {_RUN}", f"=0; {_RUN} #",
    *(f"{end}    {_RUN}{end}#" for end in "\u2028\u2029\x85\x0b\x0c"),
]  # fmt: skip
# What readers of a text, of a template or of an identifier may take for something else.
_ODDITIES = [
    "{0.__class__}", "{x}", "{}", "{", "}}", "%s", "%(x)s", "#", "\\", "\\\n", "'", '"', "'''",
    '"""', "\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00", "\t", "é",
    "\\N{DIGIT ONE}", "\uff45", "²", "1", " if ", "lambda: 0", "coding: utf-7",
]  # fmt: skip
PAYLOADS = _ENDINGS + _ODDITIES
# What takes a payload's place where the same graph is made with plain names.
PLAIN = "_plain"
_WORD = r"[A-Za-z0-9_.]"


class Text(NamedTuple):
    """A string of a message: of what field it is, what it says, and how to put another there."""

    field: str
    text: str
    put: Callable[[str], None]


def strings(message: Any) -> Iterator[Text]:
    """Every string in a message and the messages in it, keys of maps and texts in bytes too."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            yield from _of_map(field, value)
        elif field.type == field.TYPE_MESSAGE:
            for one in value if _repeated(field) else (value,):
                yield from strings(one)
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            for index in range(len(value)) if _repeated(field) else (None,):
                yield from _of_field(message, field, index)


def _repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


def _of_field(message: Any, field: Any, index: int | None) -> Iterator[Text]:
    given = getattr(message, field.name)
    value = given if index is None else given[index]
    is_bytes = isinstance(value, bytes)
    if is_bytes and field.name == "tensor_content":
        return
    try:
        text = value.decode() if is_bytes else value
    except UnicodeDecodeError:
        return

    def put(new: str) -> None:
        made = new.encode() if is_bytes else new
        if index is None:
            setattr(message, field.name, made)
        else:
            getattr(message, field.name)[index] = made

    yield Text(field.full_name, text, put)


def _of_map(field: Any, entries: Any) -> Iterator[Text]:
    keyed = field.message_type.fields_by_name["key"]
    holds = field.message_type.fields_by_name["value"].type == field.TYPE_MESSAGE
    for key in sorted(entries):
        if holds:
            yield from strings(entries[key])
        else:

            def put_value(new: str, key: Any = key) -> None:
                entries[key] = new

            if isinstance(entries[key], str):
                yield Text(f"{field.full_name}.value", entries[key], put_value)
        if keyed.type == field.TYPE_STRING:

            def put(new: str, key: Any = key) -> None:
                if new != key and key in entries:
                    if holds:
                        entries[new].CopyFrom(entries[key])
                    else:
                        entries[new] = entries[key]
                    del entries[key]

            yield Text(f"{field.full_name}.key", key, put)


def changed(message: Any, seed: int) -> tuple[Any, Any, str]:
    """Two copies of a message: with a payload in it, and with plain text in its place.

    Most often a name is changed wherever it stands, so that the graph still hangs together.

    Returns:
      Both, and what was done.
    """
    chance = random.Random(seed)
    payload = chance.choice(chance.choice((PAYLOADS, _ENDINGS, PAYLOADS[:1])))
    found = list(strings(message))
    # Each field as often as any other, however many strings are of it.
    field = chance.choice(sorted({text.field for text in found}))
    where = chance.choice([i for i, text in enumerate(found) if text.field == field])
    everywhere = chance.random() < 0.8
    old = found[where].text
    # Of "a/b:out:0", "^a/b" or "loc:@a/b" the name.
    name = re.sub(r":\d+$", "", old.removeprefix("loc:@").lstrip("^"))
    if chance.random() < 0.3:
        name = name.partition(":")[0]
    at = chance.choice((len(name), len(name), 0, len(name) // 2))
    says = f"seed {seed}: {payload!r} in {field} {old!r} at {at}, {everywhere=}"
    results = []
    for added in (payload, PLAIN):
        made = type(message)()
        made.CopyFrom(message)
        new = name[:at] + added + name[at:]
        texts = list(strings(made))
        if everywhere and name:
            renamed(made, name, new)
        else:
            texts[where].put(old.replace(name, new, 1) if name else added)
        results.append(made)
    return results[0], results[1], says


def renamed(message: Any, name: str, new: str) -> None:
    """Puts a name in place of another wherever it stands in a message."""
    pattern = re.compile(rf"(?<!{_WORD}){re.escape(name)}(?!{_WORD})")
    for text in list(strings(message)):
        text.put(pattern.sub(lambda match: new, text.text))


class Watched:
    """State: the texts of the programs that were compiled, and whether a payload has run."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.canary: list[int] = []

    def compile(self, text: str, *rest: Any) -> Any:
        self.texts.append(text)
        return builtins.compile(text, *rest)

    def parts(self) -> list[list[str]]:
        """What the programs are made of: statements, names, calls; not what strings say."""
        return sorted(_parts(text) for text in self.texts)


def _parts(text: str) -> list[str]:
    tree = ast.parse(text)
    found = []
    for node in ast.walk(tree):
        name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
        # Globals that are named after a node or a function of the graph.
        name = re.sub(r"^(r\d*_|g_).*", r"\1", name)
        value = node.value if isinstance(node, ast.Constant) else ""
        kind = type(value).__name__ if isinstance(value, str | bytes) else value
        found.append(f"{type(node).__name__} {name} {kind!r}")
    return [str(len(text.split("\n"))), *sorted(found)]


@contextmanager
def watched() -> Iterator[Watched]:
    """Watches what is compiled, and whether a payload runs."""
    found = Watched()
    before = linked.builtins, linked._compiled
    linked.builtins = found  # type: ignore[attr-defined]
    linked._compiled = found.compile  # type: ignore[assignment]  # texts known already, too
    builtins.penstock_canary = found.canary  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        linked.builtins, linked._compiled = before  # type: ignore[attr-defined]
        del builtins.penstock_canary  # type: ignore[attr-defined]
