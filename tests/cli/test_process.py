"""The command as a process: exit status, pipes, stderr, and how fast it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.foundation.formats.bundle import BundleWriter

ROOT = Path(__file__).resolve().parents[2]
# What the console script runs.
COMMAND = [sys.executable, "-m", "penstock"]


def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*COMMAND, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.long
def test_help_lists_the_commands() -> None:
    said = run("--help").stdout
    for name in ("inspect", "convert", "freeze", "summarize", "explain", "train", "doctor"):
        assert f"  {name} " in said
        assert "Usage: penstock" in run(name, "--help").stdout


@pytest.mark.long
def test_no_words_are_a_question_for_help() -> None:
    asked = run("--help").stdout
    assert run().stdout == asked == run("-h").stdout
    assert run("inspect", "-h").stdout == run("inspect", "--help").stdout


def test_completion_of_a_shell() -> None:
    asked = {"_PENSTOCK_COMPLETE": "complete_bash", "COMP_WORDS": "penstock ins", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['penstock']; from penstock.cli.start import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | asked,
    )  # fmt: skip
    assert (done.stdout.split(), done.returncode) == (["inspect"], 0), done.stderr


@pytest.mark.long
def test_help_and_checkpoints_need_no_torch(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "c")) as writer:
        writer.add("w", np.ones(3, np.float32))
    code = (
        "import sys\n"
        "from penstock.cli.main import app\n"
        "try: app()\n"
        "except SystemExit as e: assert not e.code, e\n"
        "assert 'torch' not in sys.modules and 'penstock.ops' not in sys.modules\n"
    )
    looks = ["--help"], ["train"], ["inspect", "--help"], ["inspect", str(tmp_path / "c")]
    for words in looks:
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_the_module_runs_as_well() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "--version"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip()[0].isdigit()


def test_errors_are_one_line_and_debug_shows_where(tmp_path: Path) -> None:
    done = run("inspect", str(tmp_path / "nope"), code=1)
    assert done.stderr.startswith("penstock: ") and len(done.stderr.splitlines()) == 1
    assert "Traceback" in run("inspect", str(tmp_path / "nope"), "--debug", code=1).stderr
    done = run("inspec", code=2)
    assert len(done.stderr.splitlines()) == 1 and "No such command" in done.stderr


@pytest.mark.long
def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "c")) as writer:
        for number in range(20_000):
            writer.add(f"a/long/enough/name/{number}", np.zeros((), np.float32))
    process: Any = subprocess.Popen(
        [*COMMAND, "inspect", str(tmp_path / "c")], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() in (0, 1)
