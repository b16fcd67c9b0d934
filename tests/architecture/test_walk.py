"""How much of the code one meets who follows the README's program; see ``walk``."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.architecture import walk

# What it is today, to be made less: 45 files of 9,000 lines fit in one's head.
FILES, LINES = 87, 17206


@pytest.fixture(scope="module")
def said() -> str:
    """What the walk prints, on one thread: with more, teams are tried, and two files more met."""
    return subprocess.run(
        [sys.executable, "-m", "tests.architecture.walk"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=walk.ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_the_way_of_the_readmes_program_gets_no_longer(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    last = said.splitlines()[-1]
    with capsys.disabled():
        print(f"\nthe README's program: {last}")
    found = re.match(r"(\d+) files of (\d+) lines; (\d+) lines in", last)
    assert found is not None
    files, lines, entered = map(int, found.groups())
    assert files <= FILES and lines <= LINES and 3000 < entered < lines


def test_the_walkthrough_names_the_files_in_order(said: str) -> None:
    page = (walk.ROOT / "docs" / "walkthrough.md").read_text()
    named = re.findall(r"\S+\.py", page.split("## The files in order", 1)[1].split("\n\n    ")[1])
    assert named == re.findall(r"^(\S+\.py) ", said, re.MULTILINE)
