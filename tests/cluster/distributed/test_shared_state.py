"""State that several nodes share by a name is one on a server too."""

from __future__ import annotations

import threading

import penstock as tf
from penstock.foundation.graph.build import make


def test_a_staging_area_and_a_map_of_sparse_tensors() -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        stage = make("Stage", [tf.constant([1.0, 2.0])], shared_name="area")
        (unstaged,) = make("Unstage", dtypes=[tf.float32], shared_name="area")
        session.run(stage)
        assert session.run(unstaged).tolist() == [1, 2]
        sparse = [[0, 1], [1, 0]], [5, 6], [2, 2]
        handles = make(
            "AddManySparseToTensorsMap",
            tf.constant(sparse[0], tf.int64), tf.constant(sparse[1]),
            tf.constant(sparse[2], tf.int64), shared_name="map",
        )  # fmt: skip
        taken = make("TakeManySparseFromTensorsMap", handles, dtype=tf.int32, shared_name="map")
        assert [part.tolist() for part in session.run(list(taken))] == [*sparse]


def test_concurrent_steps_count_apart() -> None:
    server = tf.train.Server.create_local_server()
    seen: list[list[int]] = [[] for _ in range(4)]
    with tf.Graph().as_default() as graph:
        counter = tf.Variable(tf.zeros([], tf.int64))
        before = tf.count_up_to(counter, 2**62)
        with tf.Session(server.target) as session:
            session.run(counter.initializer)

        def count(values: list[int]) -> None:
            with tf.Session(server.target, graph=graph) as session:
                values += [int(session.run(before)) for _ in range(200)]

        threads = [threading.Thread(target=count, args=(values,)) for values in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(values == sorted(values) for values in seen)
    assert sorted(sum(seen, [])) == list(range(800))
