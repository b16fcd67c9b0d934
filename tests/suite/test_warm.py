"""Programs forked from a process with torch: what they see is what Python's own would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.suite import warm

_TELLS = """
import json, os, sys
main = sys.modules["__main__"]
print(json.dumps({
    "argv": sys.argv, "first": sys.path[0], "paths": sorted(sys.path[1:]), "cwd": os.getcwd(),
    "name": __name__, "file": globals().get("__file__"), "package": main.__package__,
    "spec": getattr(main.__spec__, "name", None), "main": vars(main) is globals(),
    "mine": os.environ.get("MINE"), "names": sorted(os.environ), "stdin": sys.stdin.read(),
    "penstock": "penstock" in sys.modules, "parent": os.getppid(),
    "buffered": [sys.stdout.line_buffering, sys.stdout.write_through, sys.stderr.line_buffering,
                 type(sys.stdout.buffer).__name__, type(sys.stderr.buffer).__name__],
    "open": sorted(os.listdir("/proc/self/fd"))[:-1], "threads": len(os.listdir("/proc/self/task")),
}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tells.py").write_text(_TELLS)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "__main__.py").write_text(_TELLS)
    return tmp_path


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "words",
    [["tells.py", "a", "-c"], ["-m", "tells", "-m"], ["-m", "package"], ["-c", _TELLS, "b c"]],
    ids=["file", "module", "package", "text"],
)
def test_a_program_sees_what_python_shows(folder: Path, words: list[str], unbuffered: bool) -> None:
    environment = os.environ | {"MINE": "é", "PYTHONPATH": str(warm.ROOT), "PYTHONUNBUFFERED": "1"}
    if not unbuffered:
        del environment["PYTHONUNBUFFERED"]
    found = [
        json.loads(
            run([sys.executable, *words], cwd=folder, env=environment, input="given", text=True,
                capture_output=True, check=True).stdout
        )
        for run in (warm.run, subprocess.run)
    ]  # fmt: skip
    assert found[0] == found[1] and found[0]["parent"] == os.getpid()


def test_torch_is_there_and_penstock_is_not() -> None:
    program = "import sys; sys.exit(7 * ('torch' in sys.modules) + ('penstock' in sys.modules))"
    assert warm.run([sys.executable, "-c", program]).returncode == 7


@pytest.mark.parametrize(
    "program",
    ["raise ValueError('odd')", "def f(): 1 / 0\nf()", "raise SystemExit('said')", "exit(3)", "1 +",
     "import atexit; atexit.register(print, 'late'); print('soon')",
     "import os; os.kill(os.getpid(), 9)", "import os; os.kill(os.getpid(), 2)",
     "import threading, time\n"
     "threading.Thread(target=lambda: (time.sleep(0.1), print('on'))).start()",
     "import multiprocessing as m\n"
     "if __name__ == '__main__':\n    print(m.get_context('spawn').Pool(1).map(abs, [-1]))"],
)  # fmt: skip
def test_a_program_ends_as_it_does_by_itself(tmp_path: Path, program: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(program + "\n")
    given: dict[str, Any] = {"capture_output": True, "text": True, "cwd": tmp_path}
    mine, pythons = (run([sys.executable, path], **given) for run in (warm.run, subprocess.run))
    assert (mine.returncode, mine.stdout) == (pythons.returncode, pythons.stdout)
    if mine.returncode != -signal.SIGINT:  # shows where Python was, with the frames that ran it
        assert mine.stderr == pythons.stderr


def test_a_process_can_be_spoken_to_stopped_and_killed() -> None:
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    with warm.Popen(
        [sys.executable, "-c", echo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("there\n")
        process.stdin.flush()
        assert process.stdout.readline() == "there\n" and process.poll() is None
        process.kill()
        assert process.wait() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@pytest.mark.long
def test_kernels_have_as_many_threads_as_asked_for() -> None:
    program = "import torch; print(torch.get_num_threads(), torch.ones(9, 9).sum())"
    for threads in ("1", "2"):
        done = warm.run(
            [sys.executable, "-c", program], env=os.environ | {"OMP_NUM_THREADS": threads},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.stdout == f"{threads} tensor(81.)\n", done.stderr


def test_orphans_stay_nobodys() -> None:
    """A child that a program leaves behind is not this process's, which would not wait for it."""
    program = (
        "import os, time\nif os.fork(): print(os.getpid(), end=' ', flush=True); os._exit(0)\n"
    )
    program += (
        f"while os.getppid() not in ({os.getpid()}, 1): time.sleep(0.001)\nprint(os.getppid())"
    )
    assert (
        warm.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.split()[1]
        == "1"
    )


def test_only_this_interpreter_is_forked() -> None:
    with pytest.raises(ValueError, match="no program of this interpreter"):
        warm.run(["/bin/true"])
