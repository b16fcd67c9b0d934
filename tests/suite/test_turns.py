"""Long tests by turns: all turns together run every long test once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from tests.suite.turns import PLACED, TURNS, parse, turn_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("text", ["", "3", "0/5", "6/5", "1/0", "-1/5", "a/b", "1/5/2"])
def test_what_is_no_turn_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no turn"):
        parse(text)


def test_every_name_has_one_turn() -> None:
    assert parse("3/5") == (3, 5)
    names = [f"tests/room/test_file.py::test_it[{n}]" for n in range(1000)]
    counts = Counter(map(turn_of, names))
    assert set(counts) == set(range(1, TURNS + 1)) and min(counts.values()) > 150
    assert {turn_of(name, 1) for name in names} == {1}


def test_what_is_placed_by_hand_is_there() -> None:
    assert set(PLACED.values()) <= set(range(1, TURNS + 1))
    for name in PLACED:
        file, _, test = name.partition("::")
        text = (ROOT / file).read_text()
        assert "mark.long" in text, f"{file} has no long tests any more"
        assert f"def {test.partition('[')[0]}" in text, f"{name} is gone"


FILE = """
    import pytest

    @pytest.fixture(scope="module")
    def slow():
        pass

    @pytest.mark.long
    @pytest.mark.parametrize("value", range(5))
    def test_shares(slow, value):
        pass

    @pytest.mark.long
    @pytest.mark.parametrize("value", ["a", "b::c"])
    def test_long(value):
        pass

    def test_short():
        pass
"""


KEEPING = """
    from functools import cache

    import pytest

    @cache
    def slow():
        pass

    @pytest.mark.long
    @pytest.mark.parametrize("value", range(9))
    def test_shares(value):
        slow()
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


@pytest.mark.long
def test_the_turns_together_are_all_long_tests(tmp_path: Path) -> None:
    """Each comes once; those that share a fixture of their file come in the same turn."""
    for number in range(6):
        (tmp_path / f"test_{number}.py").write_text(textwrap.dedent(FILE))
    parts = [_collected(tmp_path, "--turn", f"{turn}/{TURNS}") for turn in range(1, TURNS + 1)]
    found = [test for part in parts for test in part]
    assert sorted(found) == sorted(_collected(tmp_path))
    assert len(found) == len(set(found)) == 6 * 7 and sum(map(bool, parts)) >= 3
    sharing = [
        (n, part) for part in parts for n in range(6) if f"test_{n}.py::test_shares[0]" in part
    ]
    assert len(sharing) == 6
    for number, part in sharing:
        assert sum(f"test_{number}.py::test_shares" in test for test in part) == 5


@pytest.mark.long
def test_tests_that_share_what_a_module_keeps_come_together(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"test_{number}.py").write_text(textwrap.dedent(KEEPING))
    parts = [_collected(tmp_path, "--turn", f"{turn}/{TURNS}") for turn in range(1, TURNS + 1)]
    assert sum(map(len, parts)) == 3 * 9
    for number in range(3):
        of_one = [sum(f"test_{number}.py" in test for test in part) for part in parts]
        assert sorted(of_one) == [0, 0, 0, 0, 9]
