"""What the pages tell people to type is there: commands and their options, targets, modules."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from penstock.cli.main import app
from penstock.models.workshop.catalogue import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FIRST = r"(?:make|penstock|python -m)"
# In a block of its own line, or between backticks; what is continued is one line.
TYPED = re.compile(rf"^(?:    |\$ |    \$ )?({FIRST} [^\n]+)$|`({FIRST} [^`\n]+)`", re.MULTILINE)
# Words of which what follows is another program's.
HANDS_ON = {"run", "launch", "k8s", "hold"}


def typed(text: str) -> Iterator[str]:
    """The commands of a page, without prose that only looks like one."""
    for block, quoted in TYPED.findall(text.replace("\\\n", " ")):
        line = re.split(r"\s+#\s|\s+[|>&;]+(?:\s|$)", block or quoted)[0]
        said = re.match(r"\S+ \w+:", line)  # by the command
        if quoted or not (said or re.search(r"[.,:;]$", line)):
            yield line


COMMANDS = [(page.name, line) for page in PAGES for line in typed(page.read_text())]


def _group() -> Any:
    return typer.main.get_command(app)


def _known(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts} | {
        option for parameter in command.params for option in parameter.secondary_opts
    }


def _program(name: str) -> Any:
    (found,) = [program for program in PROGRAMS if program.name == name]
    return typer.main.get_command(importlib.import_module(found.module).app)


def check_penstock(words: list[str]) -> None:
    """That the command is there, and takes the options."""
    group = _group()
    while words and words[0].startswith("-"):
        assert words.pop(0) in _known(group) | {"-h", "--help", "--install-completion"}
    if not words:
        return
    name, *rest = words
    assert name in group.commands, name
    command, allowed = group.commands[name], {"-h", "--help"}
    if name == "train" and rest and rest[0].islower() and not rest[0].startswith("-"):
        command, allowed = _program(rest.pop(0)), allowed | {"--ps", "--workers"}
    for word in rest:
        if word == "--" or (name in HANDS_ON and re.search(r"\.py$|^-m$", word)):
            break
        if word.startswith("-") and not re.match(r"-\d", word):
            assert word.split("=")[0] in _known(command) | allowed, word


def check_make(words: list[str]) -> None:
    """That the targets are there."""
    makefile = (ROOT / "Makefile").read_text()
    for word in words:
        name, given, _ = word.partition("=")
        # A variable is set somewhere, or only read.
        wanted = rf"^{name} *\??=|\$\({name}[):]" if given else rf"^{name}:"
        assert re.search(wanted, makefile, re.M), word


def check_module(words: list[str]) -> None:
    """That the module is there."""
    name = words[0]
    if name not in ("venv", "pytest") and not re.search(r"[A-Z]", name):
        assert importlib.util.find_spec(name), name


CHECKS = {"penstock": check_penstock, "make": check_make, "python": check_module}


def test_pages_name_commands() -> None:
    lines = [line for page, line in COMMANDS if page == "README.md"]
    assert {"make demo", "penstock train", "penstock run train.py"} <= set(lines)
    assert len(COMMANDS) > 120


@pytest.mark.parametrize(("page", "line"), sorted(set(COMMANDS)))
def test_what_is_to_be_typed_is_there(page: str, line: str) -> None:
    first, *words = shlex.split(line)
    CHECKS[first](words[1:] if first == "python" else words)


@pytest.mark.parametrize(
    "line", ["penstock trian", "penstock train word2vec --thread 2", "penstock serve --port 1"]
)
def test_what_is_not_there_is_found(line: str) -> None:
    with pytest.raises(AssertionError):
        check_penstock(shlex.split(line)[1:])
