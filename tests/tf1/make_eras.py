"""Writes ``eras.json``: what TensorFlow 1.15 prints for every program of ``eras/``.

Run it from the root of the repository, where ``.venv-tf115`` is::

    python -m tests.tf1.make_eras [program ...]

Named programs are made again, the others kept. Each is run twice, and none is written whose two
runs differ: what two systems are compared by must not depend on the order in which threads ran.

TensorFlow is imported once, by a process that forks for every run; its part of this file keeps to
Python 3.7.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from tests.peers import ROOT, TF115
from tests.tf1.eras import EXPECTED, PROGRAMS, Program, later_spelling

RUNS = 2
# Seconds of one program's run.
LIMIT = 300


def main(chosen: list[str]) -> int:
    programs = [each for each in PROGRAMS if not chosen or each.name in chosen]
    expected = json.loads(EXPECTED.read_text()) if chosen and EXPECTED.exists() else {}
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run_all(folder, programs)
        for program in programs:
            runs = [(folder / f"{program.name}.{run}") for run in range(RUNS)]
            lines = [run.read_text().splitlines() for run in runs]
            errors = [run.with_suffix(f"{run.suffix}.failed") for run in runs]
            if any(error.exists() for error in errors):
                failed += 1
                print(f"{program.name} failed:\n{errors[0].read_text()[-3000:]}", file=sys.stderr)
            elif lines[1:] != lines[:-1]:
                failed += 1
                print(f"{program.name}: its runs differ: {lines}", file=sys.stderr)
            else:
                expected[program.name] = lines[0]
    EXPECTED.write_text(json.dumps(expected, indent=0, sort_keys=True) + "\n")
    return failed


def _run_all(folder: Path, programs: list[Program]) -> None:
    """Has TensorFlow 1.15 run the programs; what they print lies in the folder afterwards."""
    for program in programs:
        text = program.path.read_text()
        (folder / program.path.name).write_text(text if program.in_115 else later_spelling(text))
    # Temporary files of programs go away with the folder.
    quiet = dict(os.environ, TMPDIR=str(folder), TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    command = [str(TF115), "-W", "ignore", "-m", "tests.tf1.make_eras", "--in-tensorflow"]
    scripts = [str(folder / program.path.name) for program in programs]
    subprocess.run(command + scripts, check=True, cwd=ROOT, env=quiet)


# ---- TensorFlow's side ---------------------------------------------------------------------------


def run_in_tensorflow(scripts: list[str]) -> int:
    """Runs every script in forks of this process."""
    import tensorflow

    tensorflow.contrib.layers  # what loads the rest, before the forks
    for script in scripts:
        for run in range(RUNS):
            child = os.fork()
            if child == 0:
                _run(script, Path(script).with_suffix(f".{run}"))
            os.waitpid(child, 0)
        print(Path(script).stem, flush=True)
    return 0


def _run(script: str, target: Path) -> None:
    """Runs a script as the main program, and ends the process."""
    signal.alarm(LIMIT)
    failed = target.with_suffix(f"{target.suffix}.failed")  # until it has ended well
    for number, path in ((1, target), (2, failed)):
        os.dup2(os.open(str(path), os.O_WRONLY | os.O_CREAT), number)
    os.chdir(tempfile.mkdtemp())
    sys.argv = [script]
    code = 1
    try:
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = 0 if not end.code else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if not code:
        failed.unlink()
    os._exit(code)


if __name__ == "__main__":
    words = sys.argv[1:]
    inside = words[:1] == ["--in-tensorflow"]
    sys.exit(run_in_tensorflow(words[1:]) if inside else main(words))
