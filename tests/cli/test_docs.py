"""The examples of docs/command-line.md, run in order: a line of `...` stands for anything."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples() -> list[tuple[str, str]]:
    """Command lines and what follows them."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.long
def test_the_page(model: Any, penstock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.directory)
    done = examples()
    assert {shlex.split(command)[1] for command, _ in done} == {
        "inspect", "convert", "freeze", "export", "transform", "summarize", "explain", "doctor",
    }  # fmt: skip
    for command, expected in done:
        said = penstock(*shlex.split(command)[1:])
        if not doctest.OutputChecker().check_output(expected, said, FLAGS):
            pytest.fail(f"{command}\nexpected:\n{expected}\nfound:\n{said}")
