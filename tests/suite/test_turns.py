"""Long tests by turns: all turns together run every long test once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from tests.suite.turns import PLACED, SPLIT, TURNS, parse, turn_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("text", ["", "3", "0/5", "6/5", "1/0", "-1/5", "a/b", "1/5/2"])
def test_what_is_no_turn_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no turn"):
        parse(text)


def test_every_test_has_one_turn() -> None:
    assert parse("3/5") == (3, 5)
    names = [f"tests/room/test_{n}.py::test_it" for n in range(1000)]
    counts = Counter(map(turn_of, names))
    assert set(counts) == set(range(1, TURNS + 1)) and min(counts.values()) > 150
    # A file's tests stay together, whatever their names.
    assert turn_of("tests/a/test_b.py::test_c") == turn_of("tests/a/test_b.py::test_d[x::y]")
    assert {turn_of(name, 1) for name in names} == {1}


def test_what_is_placed_by_hand_is_there() -> None:
    assert set(PLACED.values()) <= set(range(1, TURNS + 1))
    for file in {*PLACED, *SPLIT}:
        text = (ROOT / file).read_text()
        assert "mark.long" in text, f"{file} has no long tests any more"
    assert not set(PLACED) & SPLIT


FILE = """
    import pytest

    @pytest.mark.long
    @pytest.mark.parametrize("value", ["a", "b::c"])
    def test_long(value):
        pass

    def test_short():
        pass
"""


def _collected(folder: Path, *options: str) -> list[str]:
    """The long tests of a folder that pytest would run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tests.conftest",
         "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder),
         "-m", "long", *options, str(folder)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_the_turns_together_are_all_long_tests(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"test_{number}.py").write_text(textwrap.dedent(FILE))
    parts = [_collected(tmp_path, "--turn", f"{turn}/{TURNS}") for turn in range(1, TURNS + 1)]
    found = [test for part in parts for test in part]
    assert sorted(found) == sorted(_collected(tmp_path))
    assert len(found) == len(set(found)) == 24 and sum(map(bool, parts)) >= 3
