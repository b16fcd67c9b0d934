"""docs/behaviours.md: the tests that it names are there, and are as many as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "behaviours.md"
NAMED = re.compile(r"`tests/([a-z_0-9/]+\.py)`(?: -k `([a-z_0-9 ]+)`)?")
DEFINED = re.compile(r"^ *def (test_\w+)", re.MULTILINE)


class Row(NamedTuple):
    """One group: which tests of which files hold it (all where no words are given), how many."""

    group: str
    tests: tuple[tuple[str, tuple[str, ...]], ...]
    cases: int


def _row(line: str) -> Row:
    group, _, _, tests, cases = (cell.strip() for cell in line.strip("|").split("|"))
    named = ((path, tuple(words.split(" or "))) for path, words in NAMED.findall(tests))
    return Row(group, tuple(named), int(cases))


ROWS = [_row(line) for line in PAGE.read_text().splitlines() if re.match(r"\|.*\| \d+ \|$", line)]


def test_every_group_has_a_row() -> None:
    groups = {name for row in ROWS for name in row.group.split(", ")}
    numbers = {str(number) for number in range(1, 49)}
    # 16 is told below the table; 38 is no group.
    assert groups == numbers - {"16", "38"} | {"E", "F", "G", "found later"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.group)
def test_named_tests_are_defined(row: Row) -> None:
    assert row.tests
    for path, words in row.tests:
        defined = DEFINED.findall((ROOT / "tests" / path).read_text())
        for word in words:
            assert any(word in name for name in defined), f"{path} has no test of {word!r}"


@pytest.mark.long
def test_as_many_cases_are_found_as_the_page_says() -> None:
    paths = sorted({path for row in ROWS for path, _ in row.tests})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=",
         *(f"tests/{path}" for path in paths)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, list[str]] = defaultdict(list)
    for path, name in re.findall(r"^tests/(\S+)::(\w+)", done.stdout, re.MULTILINE):
        found[path].append(name)
    few = {}
    for row in ROWS:
        cases = sum(
            any(word in name for word in words) for path, words in row.tests for name in found[path]
        )
        if cases < row.cases:
            few[row.group] = f"{cases} of {row.cases}"
    assert not few, done.stderr
