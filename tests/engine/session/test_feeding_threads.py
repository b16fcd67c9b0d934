"""Steps that feed others from threads of their own compute on one thread; all others on all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.runtime import program
from penstock.engine.runtime.shared_cores import SharedCores


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Two free cores, whatever else this machine does; a program's first run has the whole team.
    monkeypatch.setattr(program, "CORES", SharedCores(2, 2))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def _count() -> np.int64:
    return np.int64(torch.get_num_threads())


def _in_thread(call: Callable[[], Any]) -> list[Any]:
    results: list[Any] = []

    def run() -> None:
        results.extend([call(), torch.get_num_threads()])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results


def test_a_step_that_only_feeds_a_queue_computes_alone_beside_the_main_thread() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, tf.int64, [[]])
        put = queue.enqueue(tf.py_func(_count, [], tf.int64))
        session.run(put)
        assert _in_thread(lambda: session.run(put)) == [None, 2]
        assert [session.run(queue.dequeue()) for _ in range(2)] == [2, 1]


def test_queue_runners_compute_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(2, tf.int64, [[]])
        put = queue.enqueue(tf.py_func(_count, [], tf.int64))
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
        taken = queue.dequeue()
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert [session.run(taken) for _ in range(3)] == [1, 1, 1]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)


def test_the_number_of_threads_is_set_back_when_a_feeding_step_fails() -> None:
    def fail() -> np.int64:
        raise ValueError("no element")

    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, tf.int64, [[]])
        put = queue.enqueue(tf.py_func(fail, [], tf.int64))

        def run() -> str:
            with pytest.raises(tf.errors.OpError):
                session.run(put)
            return "failed"

        assert _in_thread(run) == ["failed", 2]


@pytest.mark.parametrize("kind", ["fetches", "takes", "updates"])
def test_other_steps_compute_on_all_threads_wherever_they_run(kind: str) -> None:
    seen: list[int] = []

    def count() -> np.int64:
        seen.append(torch.get_num_threads())
        return np.int64(1)

    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, tf.int64, [[]])
        state = tf.Variable(np.int64(0))
        counted = tf.py_func(count, [], tf.int64)
        put = queue.enqueue(counted)
        step = {
            "fetches": [counted, put],
            "takes": tf.group(queue.dequeue(), counted.op),
            "updates": tf.group(put, state.assign(counted).op),
        }[kind]
        session.run([state.initializer, queue.enqueue(np.int64(5))])
        _in_thread(lambda: session.run(step))
    assert seen == [2]
