"""A client with many sessions at a time on one server, whose steps overlap.

Each thread opens a session, runs steps in it from two threads (one waits in a queue for what the
other puts there), checks all values, closes it, and opens the next, until the time is up.
"""

from __future__ import annotations

import argparse
import threading
import time

import numpy as np

import penstock as tf

SIZE, ROUNDS = 1000, 10


class Model:
    """A graph over both tasks; its state is shared with nobody, by its name."""

    def __init__(self, name: str) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [SIZE])
            with tf.device("/job:ps/task:0"):
                self.total = tf.Variable(tf.zeros([SIZE]), name=f"{name}_total")
                queue = tf.FIFOQueue(4, [tf.float32], [[SIZE]], shared_name=f"{name}_queue")
            with tf.device("/job:worker/task:0"):
                doubled = self.x * 2.0
            self.add = tf.assign_add(self.total, doubled)
            self.put = queue.enqueue([doubled])
            self.take = queue.dequeue()
            self.start = tf.global_variables_initializer()


class Worker(threading.Thread):
    """One session after the other."""

    def __init__(self, model: Model, target: str, end: float) -> None:
        super().__init__()
        self._model, self._target, self._end = model, target, end
        self.sessions = self.steps = 0
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            while time.monotonic() < self._end:
                self._one_session()
        except Exception as error:
            self.error = error

    def _one_session(self) -> None:
        model = self._model
        found: list[np.ndarray] = []
        given = np.arange(SIZE, dtype=np.float32)
        with tf.Session(self._target, graph=model.graph) as session:
            session.run(model.start)
            taker = threading.Thread(
                target=lambda: found.extend(session.run(model.take) for _ in range(ROUNDS))
            )
            taker.start()
            for number in range(ROUNDS):
                total = session.run(model.add, {model.x: given})
                np.testing.assert_array_equal(total, 2 * (number + 1) * given)
                session.run(model.put, {model.x: given + number})
            taker.join()
        for number, value in enumerate(found):
            np.testing.assert_array_equal(value, 2 * (given + number))
        assert len(found) == ROUNDS
        self.sessions += 1
        self.steps += 1 + 3 * ROUNDS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True)
    parser.add_argument("--name", required=True, help="tells this client's state from others'")
    parser.add_argument("--sessions", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    models = [Model(f"{arguments.name}_{i}") for i in range(arguments.sessions)]
    end = time.monotonic() + arguments.seconds
    workers = [Worker(model, arguments.target, end) for model in models]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for worker in workers:
        if worker.error is not None:
            raise worker.error
    print(f"{sum(w.sessions for w in workers)} sessions {sum(w.steps for w in workers)} steps")


if __name__ == "__main__":
    main()
