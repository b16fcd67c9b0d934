"""Programs of 2015-2019 under ``penstock run``: they print what TensorFlow 1.15 printed.

Each is a process of its own, as a user starts it, on the text as it was written then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tf1.eras import (
    BY_NAME,
    EXPECTED,
    FOLDER,
    PROGRAMS,
    UNFINISHED,
    Program,
    differences,
    later_spelling,
)

ROOT = Path(__file__).resolve().parents[2]
PRINTED: dict[str, list[str]] = json.loads(EXPECTED.read_text())
# A few of several families and eras, which take seconds.
QUICK = ["mlp_dictionaries", "old_names", "regression_logistic", "saver_restore"]


def run(program: Program, folder: Path) -> list[str]:
    """The lines that a program prints under ``penstock run``, from a folder of its own."""
    version = [] if program.in_115 else ["--tf-version", f"{program.era}.0"]
    command = [sys.executable, "-m", "penstock", "run", *version, str(program.path)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def check(program: Program, folder: Path) -> None:
    found = differences(run(program, folder), PRINTED[program.name], program.tolerance)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_a_program_prints_what_tensorflow_printed(name: str, tmp_path: Path) -> None:
    check(BY_NAME[name], tmp_path)


def _case(program: Program) -> object:
    lacking = UNFINISHED.get(program.name)
    marks = [pytest.mark.xfail(reason=lacking, raises=AssertionError)] if lacking else []
    return pytest.param(program, id=program.name, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize("program", [_case(p) for p in PROGRAMS if p.name not in QUICK])
def test_every_program_prints_what_tensorflow_printed(program: Program, tmp_path: Path) -> None:
    check(program, tmp_path)


def test_the_table_names_the_files_that_are_there() -> None:
    assert sorted(BY_NAME) == sorted(path.stem for path in FOLDER.glob("*.py"))
    assert sorted(PRINTED) == sorted(BY_NAME)
    assert set(UNFINISHED) <= set(BY_NAME) - set(QUICK)


def test_the_table_says_what_is_written_for_another_spelling() -> None:
    for program in PROGRAMS:
        text = program.path.read_text()
        assert (later_spelling(text) == text) == program.in_115, program.name
        said = text.partition('"""')[2].partition('"""')[0]
        assert f"TensorFlow {program.era}." in " ".join(said.split()), program.name


def test_programs_say_tensorflow_only() -> None:
    for program in PROGRAMS:
        assert "penstock" not in program.path.read_text().lower(), program.name


def test_a_number_that_is_off_is_a_difference() -> None:
    printed = ["step 3 loss 0.25 of [1, 2]"]
    assert not differences(printed, ["step 3  loss 0.250001 of [1,  2]"], 1e-4)
    for other in ("step 3 loss 0.25003 of [1, 2]", "step 3 cost 0.25 of [1, 2]", "step 3 loss"):
        assert differences(printed, [other], 1e-4) == [f"- {other}\n+ {printed[0]}"]
    assert differences(printed, [], 1e-4) == ["1 lines, not 0"]
    assert not differences(["nan 0"], ["nan 1e-07"], 1e-4)
    assert differences(["nan 0"], ["0 0"], 1e-4)
