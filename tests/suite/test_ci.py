"""What CI runs: its limits, what it makes of a stage that has no time, the turn that it draws."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "run"
COMMITTER = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER")
             for what in ("NAME", "EMAIL")}  # fmt: skip


class Clone:
    """A directory with the script and a `make` that only says what it was asked for."""

    def __init__(self, root: Path, make: str = 'echo "made: $*"') -> None:
        self.root = root
        (root / ".ci").mkdir(parents=True)
        shutil.copy(SCRIPT, root / ".ci" / "run")
        (root / "bin").mkdir()
        (root / "bin" / "make").write_text(f"#!/bin/sh\n{make}\n")
        (root / "bin" / "make").chmod(0o755)

    def git(self, *words: str) -> None:
        subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True,
            env={**os.environ, **COMMITTER},
        )  # fmt: skip

    def run(self, **environment: str) -> tuple[int, str]:
        """The exit status, and all that it said."""
        unset = ("TURN", "GITHUB_RUN_NUMBER", "CI_PIPELINE_IID", "BUDGET_S")
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        kept["PATH"] = f"{self.root / 'bin'}{os.pathsep}{kept['PATH']}"
        # Above the directory lies perhaps another repository.
        kept["GIT_CEILING_DIRECTORIES"] = str(self.root.parent)
        done = subprocess.run(
            [str(self.root / ".ci" / "run")], env={**kept, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout


def test_the_limits_add_up_to_less_than_eighty_minutes() -> None:
    text = SCRIPT.read_text()
    (budget,) = re.findall(r"BUDGET_S:-(\d+)", text)
    *limits, last = re.findall(r"^stage \S+ (\S+) ", text, re.MULTILINE)
    # The last stage, the long tests, has what the others leave: twenty minutes at least.
    assert len(limits) == 5 and last == '"$budget_s"'
    assert sum(map(int, limits)) + 20 * 60 <= int(budget) < 80 * 60


def test_all_stages_pass(tmp_path: Path) -> None:
    code, said = Clone(tmp_path / "clone").run(TURN="2/5")
    assert code == 0 and said.splitlines()[-1] == "stages: 6 passed, 0 failed"
    assert "made: test-long TURN=2/5" in said


def test_a_stage_that_fails_is_told_and_the_others_run(tmp_path: Path) -> None:
    code, said = Clone(tmp_path / "clone", 'test "$1" != lint').run()
    assert code == 1 and "failed stages: lint\n" in said
    assert said.splitlines()[-1] == "stages: 5 passed, 1 failed"


@pytest.mark.long
def test_a_stage_without_time_is_not_passed(tmp_path: Path) -> None:
    """One is stopped when it runs past its limit, the others find that no time is left."""
    clone = Clone(tmp_path / "clone", 'if test "$1" = test; then exec sleep 600; fi')
    code, said = clone.run(BUDGET_S="3")
    assert code == 1 and re.search(r"stopped: it ran past [123] s", said)
    assert "the time for all stages (3 s) is used up" in said
    assert "failed stages: test lint types conformance test-long" in said
    assert said.splitlines()[-1] == "stages: 1 passed, 5 failed"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_five_commits_draw_five_turns(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    clone.git("init", "--quiet")
    drawn = []
    for _ in range(5):
        clone.git("commit", "--quiet", "--allow-empty", "--message", "one more")
        _, said = clone.run()
        drawn += re.findall(r"made: test-long TURN=(\d)/5", said)
        assert "by the number of commits" in said
    assert drawn == ["2", "3", "4", "5", "1"]
    shallow = Clone(tmp_path / "shallow")
    shallow.git("init", "--quiet")
    shallow.git("fetch", "--quiet", "--depth", "1", f"file://{clone.root}", "HEAD")
    shallow.git("reset", "--quiet", "FETCH_HEAD")
    code, said = shallow.run()
    assert code == 0 and "by the day" in said


def test_a_turn_is_drawn_without_git_and_by_the_number_of_a_run(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "clone")
    code, said = clone.run()
    assert code == 0 and "by the day" in said and re.search(r"TURN=[1-5]/5", said)
    assert "TURN=4/5" in clone.run(GITHUB_RUN_NUMBER="138")[1]
