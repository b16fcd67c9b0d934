"""Steps of several threads on shared variables: with locking no update is lost."""

from __future__ import annotations

import threading

import pytest

import penstock as tf


def _hammer(steps: int, resource: bool) -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable([0.0] * 100, use_resource=resource)
        w = tf.Variable([[0] * 3] * 4, use_resource=resource)
        add = tf.assign_add(v, [1.0] * 100, use_locking=True)
        rows = tf.scatter_add(w, [0, 1, 1], [[1, 1, 1]] * 3, use_locking=True)
        both = tf.group(add, rows)
        init = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(init)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(steps):
                session.run(both)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert session.run(v).tolist() == [8.0 * steps] * 100
    assert session.run(w)[:, 0].tolist() == [8 * steps, 16 * steps, 0, 0]
    session.close()


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_no_update_is_lost(resource: bool) -> None:
    _hammer(1000, resource)


@pytest.mark.long
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_no_update_is_lost_in_many_steps(resource: bool) -> None:
    _hammer(10_000, resource)
