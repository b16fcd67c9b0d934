"""Eager execution: one source for Penstock and both TensorFlows.

The process has sessions in other cases, so eager execution is switched on for a step at a time; a
step has many calls. ``eager_ops`` calls what programs are mostly made of. ``eager_tape`` and
``eager_defun`` train a small layer by its gradient, call by call and as one traced function.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict

import numpy as np

from benchmarks.program import Program

CALLS, STEPS, SIZE, RATE = 1000, 50, 16, 0.05


def values() -> Any:
    """Inputs, targets and the first weights."""
    rng = np.random.RandomState(7)
    return [rng.standard_normal((SIZE, SIZE)).astype(np.float32) / 4 for _ in range(3)]


def eagerly(tf: Any) -> Callable[[], Any]:
    """Gives contexts in which operations run as they are called."""
    if tf.__name__ == "penstock":
        mode = importlib.import_module("penstock.library.eager.mode")
        importlib.import_module("penstock.library.eager.operators").install()
        scope = importlib.import_module("penstock.foundation.graph.defaults").default_graph_scope
        program = mode.Program()
        return lambda: scope(program)
    context = importlib.import_module("tensorflow.python.eager.context")
    return context.eager_mode  # type: ignore[no-any-return]


def eager_op(tf: Any) -> Program:
    scope = eagerly(tf)
    with scope():
        x, y = (tf.constant(v) for v in values()[:2])

    def step() -> float:
        with scope():
            z = y
            for _ in range(CALLS):
                z = tf.add(x, y)
            return float(z.numpy()[0, 0])

    return Program(step)


def eager_ops(tf: Any) -> Program:
    scope = eagerly(tf)
    with scope():
        x, y = (tf.constant(v) for v in values()[:2])
    calls = (
        lambda: tf.reduce_sum(x, 1), lambda: tf.reduce_mean(x), lambda: tf.nn.relu(x),
        lambda: tf.nn.softmax(x), lambda: tf.concat([x, y], 0), lambda: tf.stack([x, y]),
        lambda: tf.reshape(x, [4, 64]), lambda: tf.transpose(x), lambda: tf.expand_dims(x, 0),
        lambda: x[0], lambda: x[:, 1:], lambda: x < y, lambda: tf.where(x < y, x, y),
        lambda: tf.cast(x, tf.int32), lambda: tf.matmul(x, y), lambda: tf.constant(2.0),
        lambda: x.numpy(),
    )  # fmt: skip

    def step() -> float:
        with scope():
            for call in calls:
                for _ in range(CALLS // 10):
                    call()
            return float(calls[1]().numpy())

    return Program(step)


def _training(tf: Any, wrap: Callable[[Any], Any]) -> Program:
    scope = eagerly(tf)
    with scope():
        x, y = (tf.constant(v) for v in values()[:2])
        w = tf.Variable(values()[2], use_resource=True)

        def train(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) - y))
            w.assign_sub(RATE * tape.gradient(loss, w))
            return loss

        wrapped = wrap(train)

    def step() -> float:
        with scope():
            for _ in range(STEPS):
                loss = wrapped(x, y)
            return float(loss.numpy())

    return Program(step)


def eager_tape(tf: Any) -> Program:
    return _training(tf, lambda function: function)


def eager_defun(tf: Any) -> Program:
    return _training(tf, tf.function)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (eager_op, eager_ops, eager_tape, eager_defun)
}
