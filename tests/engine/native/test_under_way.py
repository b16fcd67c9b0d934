"""What may happen while a step is compiled by the C++ compiler: to the process, to the folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.native import process, tier, trial
from penstock.engine.native.process import without_compiler
from penstock.foundation.machine import spare
from tests.benchmarks.processes import wait_until_ended
from tests.engine.native import programs
from tests.suite import warm
from tests.suite.clock import wait_until

ROOT = Path(__file__).resolve().parents[3]
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(without_compiler()), reason="there is no C++ compiler that works"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc"),
]

# One program: it says when its step is native, and how many programs it compiled itself.
_PROGRAM = """
import sys
import penstock as tf
from penstock.engine.native import tier, trial
from tests.engine.native import programs
trial._WORTH = 1e9
built = []
run_worker = tier.run_worker
def counted(request, folder):
    built.append(folder)
    print("asks", flush=True)
    run_worker(request, folder)
tier.Tier.__init__.__defaults__ = (counted, *tier.Tier.__init__.__defaults__[1:])
program = programs.softmax()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    text = programs.settled(sess, program) if sys.argv[1] == "wait" else sess.explain(*program)
    print("native" if "# native: native" in text else text, len(built), flush=True)
    print(*(sess.run(*program)[0] for _ in range(3)))
"""


def start(cache: Path, what: str = "wait") -> subprocess.Popen[str]:
    env = {**os.environ, "PENSTOCK_NATIVE": "on", "PENSTOCK_CACHE": str(cache)}
    command = [sys.executable, "-c", _PROGRAM, what]
    return warm.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def said(program: subprocess.Popen[str]) -> list[str]:
    out, _ = program.communicate()
    assert program.returncode == 0, out
    return [line for line in out.splitlines() if line != "asks"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that two processes have filled, which asked for the same at the same time."""
    cache = tmp_path_factory.mktemp("cache")
    both = [start(cache), start(cache)]
    first = [said(program)[0] for program in both]
    assert sorted(first) == ["native 0", "native 1"]
    return cache


def test_two_processes_that_ask_for_the_same_compile_it_once(compiled: Path) -> None:
    [place] = [each for each in (compiled / "native").iterdir() if each.is_dir()]
    assert (place / "manifest.json").exists() and (place / "0.so").exists()


def test_what_was_cut_short_is_not_loaded(compiled: Path, tmp_path: Path) -> None:
    whole = said(start(compiled, "first"))
    assert whole[0] == "native 0"
    for size in (0, 64, 4096, -1):
        cache = tmp_path / f"{size}"
        shutil.copytree(compiled, cache)
        [library] = (cache / "native").glob("*/0.so")
        os.truncate(library, size if size >= 0 else library.stat().st_size - 1)
        found = said(start(cache, "first"))
        assert "native 0" not in found
        np.testing.assert_allclose(
            np.array(found[-1].split(), float), np.array(whole[-1].split(), float), rtol=1e-5
        )


def _group(leader: int) -> list[int]:
    """The processes of a group."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[2]) == leader:
            found.append(int(place.name))
    return found


def _workers_of(parent: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if int(words[1]) == parent and b"penstock.engine.native.worker" in command:
            found.append(int(place.name))
    return found


def _compiling(parent: int) -> list[int]:
    """The compiling process and the C++ compiler that it runs, once both are there."""
    for worker in _workers_of(parent):
        group = _group(worker)
        if len(group) > 1 and worker in group:
            return group
    return []


def test_all_of_it_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    program = start(tmp_path)
    group = wait_until(lambda: _compiling(program.pid), 300.0)
    for pid in group:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        assert int(fields[16]) == 19  # nice
        assert os.sched_getscheduler(pid) == os.SCHED_IDLE
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert str(spare.MEMORY) in limits
    program.kill()
    program.wait()
    for pid in group:
        wait_until_ended(pid)
    # What it leaves is in no one's way: the next process compiles.
    assert said(start(tmp_path))[0] == "native 1"


def test_a_compiling_process_that_is_killed_leaves_the_lines(tmp_path: Path) -> None:
    program = start(tmp_path)
    [worker, *_] = wait_until(lambda: _workers_of(program.pid), 300.0)
    os.kill(worker, signal.SIGKILL)
    text = "\n".join(said(program))
    assert "# native: not compiled: the compiling process was ended by signal 9" in text
    assert not list((tmp_path / "native").glob("new-*"))


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_NATIVE", "on")
    monkeypatch.setattr(trial, "_WORTH", 1e9)
    yield
    for thread in threading.enumerate():
        if thread.name == "penstock-native":
            thread.join()


def _program() -> Any:
    """A step of a millisecond, of many lines, that counts its runs."""
    x = tf.placeholder(tf.float32, [64, 256], name="x")
    count = tf.Variable(0, name="count")
    hidden = x
    for layer in range(4):
        value = np.random.RandomState(layer).randn(256, 256).astype("f") / 16
        hidden = tf.tanh(tf.matmul(hidden, tf.Variable(value, name=f"w{layer}")) * 1.1)
    total = tf.reduce_sum(tf.square(hidden), 1)
    return x, total, count, tf.assign_add(count, 1, use_locking=True)


def test_threads_lose_nothing_while_the_form_changes(on: None) -> None:
    x, total, count, counted = _program()
    fed = [np.random.RandomState(i).randn(64, 256).astype("f") for i in range(5)]
    wrong: list[Any] = []
    runs = [0] * 20
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        wanted = [sess.run(total, {x: each}) for each in fed]
        native = threading.Event()

        def work(number: int) -> None:
            after = 0
            while after < 20:
                which = (number + runs[number]) % 5
                found = sess.run([total, counted.op], {x: fed[which]})[0]
                runs[number] += 1
                time.sleep(0.05)  # the compiler gets what is left of the cores
                after += native.is_set()
                if not np.allclose(found, wanted[which], rtol=1e-4, atol=1e-5):
                    wrong.append((number, runs[number], found, wanted[which]))

        workers = [threading.Thread(target=work, args=(n,)) for n in range(20)]
        for worker in workers:
            worker.start()
        fetches = [total, counted.op], {x: fed[0]}
        text = programs.settled(sess, fetches, lambda: time.sleep(0.01))
        native.set()
        for worker in workers:
            worker.join()
        assert not wrong
        assert "\n  | " in text and sess.run(count) == sum(runs) >= 400


def test_a_step_takes_hardly_longer_while_it_is_compiled(
    on: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiling process is stopped and goes on by turns, so that other work counts for both."""
    x, total, _, _ = _program()
    fed = {x: np.ones((64, 256), "f")}
    times: dict[str, list[float]] = {"alone": [], "beside": []}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def turn() -> float:
            begin, runs = time.perf_counter(), 0
            while time.perf_counter() - begin < 0.25:
                sess.run(total, fed)
                runs += 1
            return (time.perf_counter() - begin) / runs

        while "# native: compiling" not in sess.explain(total, fed):
            sess.run(total, fed)
        [child] = wait_until(lambda: list(process._children), 300.0)
        while child.poll() is None and len(times["beside"]) < 60:
            times["beside"].append(turn())
            os.killpg(child.pid, signal.SIGSTOP)
            times["alone"].append(turn())
            os.killpg(child.pid, signal.SIGCONT)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)  # what it was to make is of no interest
    assert len(times["beside"]) > 10
    ratio = median(times["beside"]) / median(times["alone"])
    print(f"a step takes {ratio:.2f} while it is compiled")
    assert ratio <= 1.3, times


assert tier  # its default for ``build`` is what _PROGRAM replaces
