"""Python functions of input pipelines in worker processes (``Options.python_workers``)."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import Clock, wait_until
from tests.training.data import worker_functions as functions

ROOT = Path(__file__).parents[3]
Dataset = tf.data.Dataset


def options(workers: int) -> Any:
    made = tf.data.Options()
    made.python_workers = workers
    return made


def mapped(function: Any, count: int, workers: int = 2) -> Any:
    numbers = Dataset.range(count)
    made = numbers.map(lambda x: tf.py_func(function, [x], tf.int64), num_parallel_calls=workers)
    return made.with_options(options(workers))


def taken(session: Any, element: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            found.append(int(session.run(element)))
        except tf.errors.OutOfRangeError:
            return found
        except tf.errors.OpError as error:
            found.append(error)


def gone(process: int, seconds: float = 10) -> bool:
    clock = Clock()
    while clock.seconds() < seconds:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.long
def test_elements_come_in_order_from_other_processes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        doubled = mapped(functions.doubled, 12).make_initializable_iterator()
        scaled = mapped(functools.partial(functions.scaled, 3), 4).make_one_shot_iterator()
        where = mapped(functions.process, 6).make_one_shot_iterator().get_next()
        element, other = doubled.get_next(), scaled.get_next()
        for _ in range(2):
            session.run(doubled.initializer)
            assert taken(session, element) == list(range(0, 24, 2))
        assert taken(session, other) == [0, 3, 6, 9]
        processes = set(taken(session, where))
        assert os.getpid() not in processes and len(processes) == 2
        # One pool a session: the processes are those that ran the other functions.
        assert processes == {p.pid for p in multiprocessing.active_children()}
    assert all(gone(p) for p in processes)


@pytest.mark.long
def test_errors_are_in_their_place_and_tell_where() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = taken(session, mapped(functions.failing, 4).make_one_shot_iterator().get_next())
        assert [f for f in found if isinstance(f, int)] == [0, 1, 3]
        assert type(found[2]) is tf.errors.InvalidArgumentError
        for text in ("ValueError: two is bad", "worker_functions.py", "in failing"):
            assert text in found[2].message
        bad = mapped(functions.unpicklable, 1).make_one_shot_iterator().get_next()
        with pytest.raises(tf.errors.OpError, match="pickle"):
            session.run(bad)


@pytest.mark.long
def test_a_killed_process_fails_its_call_and_is_replaced() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = taken(session, mapped(functions.dying, 6).make_one_shot_iterator().get_next())
        assert [f for f in found if isinstance(f, int)] == [0, 1, 3, 4, 5]
        assert type(found[2]) is tf.errors.UnavailableError
        assert "SIGKILL" in found[2].message and "dying" in found[2].message


def test_functions_must_have_a_name() -> None:
    before = set(multiprocessing.active_children())
    with tf.Graph().as_default(), tf.Session() as session:
        element = mapped(lambda x: x, 1).make_one_shot_iterator().get_next()
        with pytest.raises(tf.errors.InvalidArgumentError, match="top level of a module"):
            session.run(element)
        none = Dataset.range(2).with_options(options(0)).make_initializable_iterator()
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1"):
            session.run(none.initializer)
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.long
def test_generators_live_in_processes(tmp_path: Path) -> None:
    end = str(tmp_path / "end")
    with tf.Graph().as_default(), tf.Session() as session:

        def inner(count: Any) -> Any:
            return Dataset.from_generator(functions.counting, tf.int64, [], args=(count,))

        counted = Dataset.range(4).interleave(inner, 4, num_parallel_calls=2)
        element = counted.with_options(options(2)).make_one_shot_iterator().get_next()
        assert taken(session, element) == [0, 0, 0, 10, 10, 20]
        ending = Dataset.from_generator(functools.partial(functions.ending, end), tf.int64, [])
        total = ending.with_options(options(1)).reduce(np.int64(0), lambda s, x: x)
        assert session.run(total) == 2 and Path(end).exists()
        # What Penstock itself iterates over, of no picklable form, stays in this process.
        loaded = Dataset.from_torch([np.int64(1)]).with_options(options(1))
        assert taken(session, loaded.make_one_shot_iterator().get_next()) == [1]


@pytest.mark.long
def test_closing_the_session_ends_a_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOW_HAS_BEGUN", str(tmp_path / "begun"))
    with tf.Graph().as_default():
        session = tf.Session()
        element = mapped(functions.slow, 1, 1).make_one_shot_iterator().get_next()
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.extend(_failure(session, element)))
        thread.start()
        wait_until((tmp_path / "begun").exists)
        processes = [p.pid for p in multiprocessing.active_children()]
        assert processes
        session.close()
        thread.join()
        assert [type(f) for f in found] == [tf.errors.CancelledError]
        assert all(gone(p) for p in processes if p is not None)


def _failure(session: Any, element: Any) -> list[Any]:
    try:
        return [session.run(element)]
    except tf.errors.OpError as error:
        return [error]


SCRIPT = """
import multiprocessing, os, time
import penstock as tf
from tests.training.data import test_dataset_workers as here
from tests.training.data import worker_functions as functions

if __name__ == "__main__":
    session = tf.Session()
    where = here.mapped(functions.process, 2, 1).make_one_shot_iterator().get_next()
    print(session.run(where), flush=True)
    slow = here.mapped(functions.slow, 1, 1).make_one_shot_iterator().get_next()
    session.run(slow)
"""


@pytest.mark.long
def test_processes_die_with_their_parent(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.3)
        assert not gone(worker, 0.1)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert gone(worker)
