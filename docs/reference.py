"""The pages of the reference: every public name with its arguments and its docstring, as Markdown.

A page a namespace (``tf.nn``). A name that is another one's alias says so once and leads there.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import penstock as tf

_SECTIONS = ("Args", "Returns", "Raises", "Yields", "Attributes", "Example", "Examples", "Note")
_HEADING = re.compile(rf"^({'|'.join(_SECTIONS)}):\s*$")
_ITEM = re.compile(r"^(\*{0,2}[\w.,/ *]+?): (.*)$")
# Names of TensorFlow's that are there for libraries, not for people.
_LEFT_OUT = {"raw_ops", "user_ops", "compat", "python"}


def write(folder: Path) -> dict[str, str]:
    """Writes the pages; returns their names by title."""
    folder.mkdir(parents=True)
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for name, space in namespaces():
        entries = list(_entries(name, space, first))
        if entries:
            page = f"{name.replace('.', '-')}.md"
            (folder / page).write_text(f"# {name}\n\n" + "\n".join(entries))
            found[name] = page
    return found


def namespaces() -> Iterator[tuple[str, Any]]:
    """``tf`` and what is below it, each once."""
    waiting: list[tuple[str, Any]] = [("tf", tf)]
    seen = set()
    while waiting:
        name, space = waiting.pop(0)
        if id(space) in seen:
            continue
        seen.add(id(space))
        yield name, space
        for each in _public(space):
            inner = getattr(space, each, None)
            if isinstance(inner, types.ModuleType) and _is_named(space, each):
                waiting.append((f"{name}.{each}", inner))


def _is_named(space: Any, name: str) -> bool:
    """Whether a namespace names a module in it; a file of a package's is there without that."""
    inner = getattr(space, name)
    if not inner.__name__.startswith("penstock") or name in _LEFT_OUT:
        return False
    source = Path(space.__file__)
    texts = [each.read_text() for each in (source, source.with_suffix(".pyi")) if each.exists()]
    named = re.compile(rf"\b{name} as {name}\b|^ *import .*\b{name}\b|\"{name}\"", re.M)
    return any(map(named.search, texts))


def _public(space: Any) -> list[str]:
    return sorted(name for name in dir(space) if not name.startswith("_"))


def _entries(name: str, space: Any, first: dict[int, str]) -> Iterator[str]:
    for each in _public(space):
        full = f"{name}.{each}"
        value = getattr(space, each, None)
        if not callable(value) or isinstance(value, types.ModuleType):
            continue
        known = first.setdefault(id(value), full)
        if known != full:
            page = known.rpartition(".")[0].replace(".", "-")
            yield f"## {each}\n\nThe same as [{known}]({page}.md#{_anchor(known)}).\n"
        else:
            yield f"## {each}\n\n{_entry(full, value)}\n"


def _anchor(full: str) -> str:
    return full.rpartition(".")[2].lower()


def _entry(full: str, value: Any) -> str:
    text = f"```python\n{full}{_arguments(value)}\n```\n\n{markdown(inspect.getdoc(value) or '')}"
    if not inspect.isclass(value):
        return text
    for name, member in inspect.getmembers(value):
        own = not name.startswith("_") and any(name in vars(base) for base in _own_bases(value))
        if own and callable(member) and inspect.getdoc(member):
            body = markdown(inspect.getdoc(member) or "").replace("\n", "\n    ")
            line = f"{name}{_arguments(member)}"
            text += f"\n\n- ```python\n    {line}\n    ```\n\n    {body}"
    return text


def _own_bases(value: type) -> list[type]:
    return [base for base in value.__mro__ if (base.__module__ or "").startswith("penstock")]


def _arguments(value: Any) -> str:
    """The arguments as they are written, a line each where they are many; ``Any`` tells nothing."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parts = [_told(str(each)) for each in _starred(signature)]
    result = signature.return_annotation
    ending = f" -> {_told(str(result))}" if isinstance(result, str) and result != "Any" else ""
    flat = f"({', '.join(parts)}){ending}"
    return flat if len(flat) < 70 else "(\n    " + ",\n    ".join(parts) + f",\n){ending}"


def _starred(signature: inspect.Signature) -> Iterator[Any]:
    """The parameters, with the star before those that are given by name only."""
    positional = True
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            positional = False
        elif each.kind is each.KEYWORD_ONLY and positional:
            positional = False
            yield "*"
        yield each


def _told(text: str) -> str:
    text = (
        re.sub(r": '?Any'?(?=$| =)", "", text).replace(" = ", "=")
        if ": Any" in text or (": 'Any'" in text)
        else text
    )
    text = re.sub(r": '([^']*)'", r": \1", text)
    return re.sub(r"<(?:class ')?(?:[\w.]*\.)?(\w+)'?(?: object)?(?: at 0x\w+)?>", r"\1", text)


def markdown(doc: str) -> str:
    """A docstring as Markdown: its sections as lists, its doctests as blocks."""
    lines: list[str] = []
    section = ""
    for line in doc.splitlines():
        heading = _HEADING.match(line)
        if heading:
            section = heading[1]
            lines += ["", f"**{section}**", ""]
        elif section and line.strip() and not line.startswith(" "):
            section = ""
            lines += ["", line]
        elif section in ("Args", "Raises", "Attributes"):
            lines.append(_item(line))
        else:
            lines.append(line[2:] if section and line.startswith("  ") else line)
    return _blocks([_plain(line) for line in lines])


def _item(line: str) -> str:
    inner = line[2:] if line.startswith("  ") else line
    found = _ITEM.match(inner)
    if found and not inner.startswith(" "):
        return f"- `{found[1]}`: {found[2]}"
    return f"    {inner.strip()}" if inner.strip() else ""


def _plain(line: str) -> str:
    """Two backticks mean what one does; stars of arguments are no emphasis."""
    return line.replace("``", "`") if not line.lstrip().startswith((">>>", "...")) else line


def _blocks(lines: list[str]) -> str:
    """Doctests and indented text between fences."""
    made: list[str] = []
    inside = False
    for line in lines:
        starts = line.lstrip().startswith(">>>")
        if starts and not inside:
            made += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            made.append("```")
            inside = False
        made.append(line.strip() if inside and starts else line)
    return "\n".join(made + (["```"] if inside else []))
