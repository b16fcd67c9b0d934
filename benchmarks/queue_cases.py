"""Putting elements into a queue and taking them out: the rate of the steps that do so.

As in `graph_cases.py`, each case is a function of the module that implements the API. A step is two
calls, one that enqueues what is fed and one that dequeues it, through `Session.make_callable`; its
value is a checksum of what came out, so that all implementations can be held to the same numbers.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from benchmarks.program import Program

_CAPACITY = 1024


def _program(
    tf: Any, enqueue: Any, fed: Any, dequeue: Any, value: Any, check: Callable[..., Any]
) -> Program:
    session = tf.Session()
    put = session.make_callable(enqueue, [fed])
    take = session.make_callable(dequeue)

    def step() -> Any:
        put(value)
        return check(take())

    return Program(step, session.close)


def _last(images: Any) -> float:
    return float(images[-1, -1])


def queue_single(tf: Any) -> Program:
    """One float32 scalar at a time."""
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(_CAPACITY, tf.float32, shapes=[[]])
        x = tf.placeholder(tf.float32, [])
        return _program(tf, queue.enqueue(x), x, queue.dequeue(), np.float32(3.0), float)


def queue_batch(tf: Any) -> Program:
    """128 images of 784 float32 with `enqueue_many` and `dequeue_many`."""
    images = np.random.default_rng(0).random((128, 784), np.float32)
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(_CAPACITY, tf.float32, shapes=[[784]])
        x = tf.placeholder(tf.float32, [None, 784])
        return _program(tf, queue.enqueue_many(x), x, queue.dequeue_many(128), images, _last)


def queue_shuffle(tf: Any) -> Program:
    """The same through a RandomShuffleQueue."""
    images = np.full((128, 784), 0.5, np.float32)
    with tf.Graph().as_default():
        queue = tf.RandomShuffleQueue(_CAPACITY, 0, tf.float32, shapes=[[784]])
        x = tf.placeholder(tf.float32, [None, 784])
        return _program(tf, queue.enqueue_many(x), x, queue.dequeue_many(128), images, _last)


def queue_strings(tf: Any) -> Program:
    """128 byte strings of 100 bytes."""
    texts = np.array([b"%100d" % i for i in range(128)], object)
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(_CAPACITY, tf.string, shapes=[[]])
        x = tf.placeholder(tf.string, [None])
        return _program(
            tf, queue.enqueue_many(x), x, queue.dequeue_many(128), texts, lambda v: int(v[-1])
        )


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (queue_single, queue_batch, queue_shuffle, queue_strings)
}
