"""Runs sequences of queue operations: in this process, and as a TensorFlow process.

``python queue_sequences.py`` reads one sequence a line from its input, as JSON, runs it in
TensorFlow and writes the results as one line.  The same ``Runner`` runs it in Penstock, so both
build the same graph.  This file imports neither.

A sequence: {"kind", "capacity", "min_after", "steps": [[operation, argument], ...]}; an element is
[number, [two int32, or any number of them in a padding queue], text].  The result of a step is
["ok", value] or ["error", class].
"""

import json
import sys

import numpy as np

KINDS = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")


class Runner:
    """One queue with every operation on it, in a graph and session of its own."""

    def __init__(self, tf, spec):
        self._scope = tf.Graph().as_default()
        self._scope.__enter__()
        self._queue = _queue(tf, spec)
        self._session = tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=600000))
        self._one = [tf.placeholder(t) for t in (tf.int64, tf.int32, tf.string)]
        self._count = tf.placeholder(tf.int32, [])
        queue = self._queue
        self._nodes = {
            "enqueue": queue.enqueue(self._one),
            "enqueue_many": queue.enqueue_many(self._one),
            "dequeue": queue.dequeue(),
            "dequeue_many": queue.dequeue_many(self._count),
            "dequeue_up_to": queue.dequeue_up_to(self._count),
            "size": queue.size(),
            "is_closed": queue.is_closed(),
            "close": queue.close(),
            "cancel": queue.close(cancel_pending_enqueues=True),
        }

    def step(self, operation, argument):
        """Runs one operation; its result as plain lists."""
        feeds = {}
        if operation == "enqueue":
            feeds = dict(zip(self._one, _arrays(argument)))
        elif operation == "enqueue_many":
            columns = list(zip(*argument)) or [[], np.zeros((0, 2)), []]
            feeds = dict(zip(self._one, _arrays(columns)))
        elif operation in ("dequeue_many", "dequeue_up_to"):
            feeds = {self._count: argument}
        try:
            return ["ok", _plain(self._session.run(self._nodes[operation], feeds))]
        except Exception as error:
            return ["error", type(error).__name__]

    def end(self):
        """Closes the session."""
        self._session.close()
        self._scope.__exit__(None, None, None)


def _arrays(components):
    number, vector, text = components
    return [np.array(number, np.int64), np.array(vector, np.int32), np.array(text, object)]


def _plain(value):
    if value is None:
        return None
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode()
    array = np.asarray(value)
    if array.dtype == object:
        return [_plain(v) for v in array]
    return array.tolist()


def _queue(tf, spec):
    capacity, types = spec["capacity"], [tf.int64, tf.int32, tf.string]
    if spec["kind"] == "RandomShuffleQueue":
        return tf.RandomShuffleQueue(capacity, spec["min_after"], types, [[], [2], []], seed=7)
    if spec["kind"] == "PaddingFIFOQueue":
        return tf.PaddingFIFOQueue(capacity, types, [[], [None], []])
    if spec["kind"] == "PriorityQueue":
        return tf.PriorityQueue(capacity, types[1:], [[2], []])
    return tf.FIFOQueue(capacity, types, [[], [2], []])


def run(tf, spec):
    """The results of a whole sequence."""
    runner = Runner(tf, spec)
    try:
        return [runner.step(*step) for step in spec["steps"]]
    finally:
        runner.end()


def comparable(spec, results):
    """Results without what queues of the kind may do in any order, and all elements taken.

    A random queue may give out any element, a priority queue any of equal priority.
    """
    shown, taken = [], []
    for (operation, _), (outcome, value) in zip(spec["steps"], results):
        if outcome == "ok" and operation.startswith("dequeue"):
            elements = [value] if operation == "dequeue" else [list(e) for e in zip(*value)]
            if spec["kind"] in ("RandomShuffleQueue", "PriorityQueue"):
                taken.extend(elements)
                priority = spec["kind"] == "PriorityQueue"
                value = [e[0] for e in elements] if priority else len(elements)
        shown.append([operation, outcome, value])
    return [shown, sorted(taken)]


def main():
    """Serves sequences until the input ends."""
    import os

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    for line in sys.stdin:
        print("RESULT " + json.dumps(run(tf, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
