"""Nodes of one shared name share state, if they ask for the same; TensorFlow says what that is."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.training.data.barriers import Barrier
from tests.peers import PEERS, needs
from tests.training.data import shared_names


class _Tf:
    """Penstock, with what this package does not have in public."""

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    @staticmethod
    def raw_barrier(types: Any, shapes: Any) -> Any:
        return Barrier(types, shapes, shared_name="x").ready_size()


def _one() -> Any:
    session = tf.Session()
    return session, session


def _two() -> Any:
    first, second = tf.Session(), tf.Session()
    second._engine._resources = first._engine._resources  # as the sessions of one server
    return first, second


@pytest.fixture(scope="module")
def tensorflow() -> dict[str, list[str]]:
    needs(PEERS)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PEERS), shared_names.__file__],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(shared_names.CASES))
def test_ends_as_in_tensorflow(name: str, tensorflow: dict[str, list[str]]) -> None:
    assert shared_names.outcome(_Tf(), name, _one) == tensorflow[name]


@pytest.mark.parametrize("name", sorted(shared_names.CASES))
def test_another_session_of_the_same_resources_ends_alike(name: str) -> None:
    one = shared_names.outcome(_Tf(), name, _one)
    assert shared_names.outcome(_Tf(), name, _two) == one
    if name in ("capacity", "types", "shapes", "barrier, types"):
        assert one[0] == "InvalidArgumentError" and "Shared" in one[1]


def test_both_in_one_step_are_compared() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.FIFOQueue(3, tf.int32, shared_name="x", name="first")
        second = tf.FIFOQueue(4, tf.int32, shared_name="x", name="second")
        says = "has capacity 3 but requested capacity was 4; node 'first' made it"
        with pytest.raises(tf.errors.InvalidArgumentError, match=says):
            session.run([first.size(), second.size()])


def test_kinds_of_state_never_meet_under_a_name() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(3, tf.int32, shared_name="x")
        area = make("StageSize", dtypes=[tf.int32], shared_name="x")
        areas = make("MapSize", dtypes=[tf.int32], shared_name="x")
        lock = make("ConsumeMutexLock", make("MutexLock", make("MutexV2", shared_name="x")))
        reader = make("ReaderNumRecordsProducedV2", make("TextLineReaderV2", shared_name="x"))
        barrier = _Tf.raw_barrier([tf.int32], [[]])
        fill = [queue.enqueue(1), make("Stage", [tf.constant(1)], shared_name="x")]
        session.run([*fill, lock])
        assert session.run([queue.size(), area, areas, reader, barrier]) == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("timeout", [0, 5])
def test_a_time_limit_is_refused_before_anything_runs(timeout: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.Variable(0)
        session.run(counter.initializer)
        count = tf.assign_add(counter, 1)
        barrier = Barrier([tf.int32], [[]])
        queue = tf.FIFOQueue(3, tf.int32)
        session.run([barrier.insert_many(0, ["a"], [1]), queue.enqueue(1)])
        number = tf.constant(1)
        with tf.control_dependencies([count]):
            taken = make(
                "BarrierTakeMany", barrier.barrier_ref, number, component_types=[tf.int32],
                timeout_ms=timeout,
            )  # fmt: skip
            dequeued = make(
                "QueueDequeueV2", queue.queue_ref, component_types=[tf.int32], timeout_ms=timeout
            )
        for fetch in (taken[0], dequeued):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Timeout not supported yet"):
                session.run(fetch)
        assert session.run([counter, barrier.ready_size(), queue.size()]) == [0, 1, 1]
