"""A server that stops: what it has done for others is answered, what waits there is ended."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import penstock as tf
from tests.cluster.distributed.server_process import free_addresses

_PS = "/job:ps/task:0"


def _servers() -> tuple[Any, Any]:
    ps, worker = free_addresses(2)
    cluster = {"ps": [ps], "worker": [worker]}
    return tf.train.Server(cluster, "ps", 0), tf.train.Server(cluster, "worker", 0)


def _in_thread(run: Any, found: list[Any]) -> threading.Thread:
    def work() -> None:
        try:
            found.append(run())
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def _enqueue_and_compute() -> tuple[Any, Any]:
    """A queue at the ps, and a step there that has something to do after its enqueue."""
    with tf.device(_PS):
        queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], shared_name="done")
        with tf.control_dependencies([queue.enqueue(1.0)]):
            x = tf.random.uniform([300, 300])
            _, x = tf.while_loop(
                lambda i, _: i < 60, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, x))), [0, x]
            )
            return queue, tf.reduce_max(x)


@pytest.mark.parametrize("where", ["worker", "client of the ps"])
def test_a_step_that_was_done_is_answered(where: str) -> None:
    """A parameter server that waits for its workers' last words ends when it has them."""
    ps, worker = _servers()
    with tf.Graph().as_default():
        queue, enqueued = _enqueue_and_compute()
        taken = queue.dequeue()
        found: list[Any] = []
        with tf.Session(ps.target) as here:
            session = tf.Session(worker.target) if where == "worker" else _client(ps.target)
            thread = _in_thread(lambda: session.run(enqueued), found)
            assert here.run(taken) == 1.0
            ps.stop()
            thread.join()
        assert [str(each) for each in found] == ["1.0"] or 0.0 <= found[0] <= 1.0, found
        worker.stop()


def _client(target: str) -> Any:
    """A session as a process without the server has it."""
    from penstock.cluster.distributed import in_process

    master = in_process.master_of(target)
    assert master is not None
    in_process.remove_master(target)
    session = tf.Session(target)
    in_process.add_master(target, master)
    return session


def test_what_waits_is_ended() -> None:
    ps, worker = _servers()
    with tf.Graph().as_default():
        with tf.device(_PS):
            taken = tf.FIFOQueue(3, tf.float32).dequeue()
        found: list[Any] = []
        session = tf.Session(worker.target)
        thread = _in_thread(lambda: session.run(taken), found)
        while ps._worker.counts()["open"] == 0:
            threading.Event().wait(0.01)
        ps.stop()
        thread.join()
        assert isinstance(found[0], tf.errors.CancelledError | tf.errors.UnavailableError)
        assert "/job:ps/replica:0/task:0 was stopped" in str(found[0])
        session.close()
        worker.stop()
