"""Programs end as Python promises, whatever goes on in their threads."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.resources.exits import ENDS, SCENES, script
from tests.suite import warm
from tests.suite.daily import long_but

ROOT = Path(__file__).resolve().parents[3]
_ALL = [(scene, end) for scene in SCENES for end in ENDS]
# Those that differ most.
_SHORT = [
    ("steps", "last_line"), ("callables", "exit"), ("compiling", "exception"),
    ("closed_loop", "step_at_exit"), ("queue_runners", "terminated"),
    ("users_function", "terminated_handled"), ("servers", "exit_in_hook"),
]  # fmt: skip


def _check(scene: str, end: str, folder: Path, run: Callable[..., Any]) -> None:
    delay = random.Random(f"{scene} {end}").uniform(0.0, 0.3)
    path = folder / "odd.py"
    path.write_text(script(scene, end, round(delay, 3)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = run([sys.executable, path], cwd=folder, env=environment, capture_output=True, text=True)
    expected = ENDS[end]
    assert (ended.returncode, ended.stdout) == (expected.status, expected.out), ended.stderr
    if expected.error:
        assert expected.error in ended.stderr
        # One traceback at the most: the main thread's.
        assert ended.stderr.count("Traceback") <= 2
        assert "Exception in thread" not in ended.stderr
        assert "terminate called" not in ended.stderr
    else:
        assert ended.stderr == ""


@pytest.mark.parametrize(("scene", "end"), long_but(_SHORT[1:4], _SHORT))
def test_odd_moments(scene: str, end: str, tmp_path: Path) -> None:
    _check(scene, end, tmp_path, warm.run)


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES)
def test_all_odd_moments(scene: str, tmp_path: Path) -> None:
    for end in ENDS:
        folder = tmp_path / end
        folder.mkdir()
        _check(scene, end, folder, subprocess.run)


def test_there_are_two_hundred() -> None:
    assert len(_ALL) == 200


_HOLDS = """
import threading, time
from penstock.engine.resources import ending

main = threading.get_ident()

class Tensor:
    def __del__(self):
        if threading.get_ident() != main:  # at the very end the main thread does
            print("freed", flush=True)

inside = threading.Event()

@ending.in_steps
def work():
    held = Tensor()
    inside.set()
    while True:
        time.sleep(0.001)

threading.Thread(target=work, daemon=True).start()
inside.wait()
"""


def test_a_thread_that_is_stopped_frees_nothing(tmp_path: Path) -> None:
    # The end of a tensor lets go of the interpreter inside C++: the process would be aborted.
    ended = subprocess.run(
        [sys.executable, "-c", _HOLDS], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


_RETURNS = """
import threading, time
from penstock.engine.resources import ending

inside, may_return = threading.Event(), threading.Event()

def users():
    try:
        inside.set()
        may_return.wait()
    finally:
        ending.stay()
    print("went on", flush=True)

ending.calls_users_code(users)
threading.Thread(target=ending.in_steps(users), daemon=True).start()
inside.wait()
ending.stop_threads()
may_return.set()
time.sleep(0.2)
"""


def test_a_users_function_that_returns_at_the_end_goes_no_further(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _RETURNS], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


_ESCAPES = """
import threading, time
from penstock.engine.resources import ending

may_leave = threading.Event()

def left_as_the_call_begins():
    may_leave.wait()
    raise ending.ProcessEnds

threading.Thread(target=left_as_the_call_begins, daemon=True).start()
ending.stop_threads()
may_leave.set()
time.sleep(0.2)
"""


def test_nothing_is_said_of_a_thread_that_was_stopped_as_its_call_began(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _ESCAPES], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


_COLLECTS = """
import gc, threading, time
from penstock.engine.resources import ending

class Garbage:
    def __init__(self):
        self.me, self.local = self, threading.local()

inside = threading.Semaphore(0)

def deep(depth):
    if depth:
        deep(depth - 1)
    inside.release()
    time.sleep(60.0)

for _ in range(4):
    threading.Thread(target=deep, args=(10,), daemon=True).start()
    inside.acquire()

def collected(phase, info):
    if phase == "stop":  # more for the next time
        Garbage()

gc.callbacks.append(collected)
gc.set_threshold(1)
assert "MainThread" not in ending._busy({})
gc.callbacks.clear()
assert gc.isenabled()
gc.disable()
ending._busy({})
assert not gc.isenabled()
"""


def test_garbage_with_locals_of_threads_does_not_stop_the_end(tmp_path: Path) -> None:
    # Where frames are made CPython 3.11.7 holds a lock that the end of a local waits for.
    ended = subprocess.run(
        [sys.executable, "-c", _COLLECTS], env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
