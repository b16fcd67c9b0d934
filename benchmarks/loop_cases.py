"""Loops in the graph as TF1 programs: one source for Penstock and both TensorFlows.

As in ``graph_cases.py``, each case is a function of the module that implements the API.

* ``dynamic_rnn``: sentences of 5 to 40 words, padded to 40, of which an LSTM keeps the state after
  the last word; that is classified. A step trains all of it.
* ``loop_empty``: the loop itself; its body adds one to a counter. The limit is fed, so that no
  implementation can know the answer beforehand.
* ``loop_gradient``: a recurrence of 1,000 rounds and its gradient, which needs what every round
  computed. The value is the derivative of the loss with respect to the scale of the weights.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from benchmarks import data
from benchmarks.program import Program


def dynamic_rnn(tf: Any) -> Program:
    parameters, batches = data.dynamic_rnn()
    units, shape = data.RNN_UNITS, [data.RNN_BATCH, data.RNN_STEPS]
    initial: Dict[Any, np.ndarray] = {}
    with tf.Graph().as_default():

        def variable(name: str) -> Any:
            fed = tf.placeholder(tf.float32, parameters[name].shape)
            initial[fed] = parameters[name]
            return tf.Variable(fed, name=name)

        words = tf.placeholder(tf.int32, shape)
        lengths = tf.placeholder(tf.int32, shape[:1])
        classes = tf.placeholder(tf.int32, shape[:1])
        embedding, out_w, out_b = (variable(name) for name in ("embedding", "out_w", "out_b"))
        _, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(units),
            tf.nn.embedding_lookup(embedding, words),
            lengths,
            dtype=tf.float32,
        )
        entropies = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=classes, logits=tf.matmul(state.h, out_w) + out_b
        )
        loss = tf.reduce_mean(entropies)
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), data.RNN_CLIP_NORM)
        optimizer = tf.train.GradientDescentOptimizer(data.RNN_RATE)
        train = optimizer.apply_gradients(list(zip(gradients, variables)))
        # The cell makes its own variables.
        cells = [v for v in variables if v.op.name.endswith(("kernel", "bias"))]
        setting = []
        for cell, name in zip(cells, ("w", "b")):
            fed = tf.placeholder(tf.float32, parameters[name].shape)
            initial[fed] = parameters[name]
            setting.append(tf.assign(cell, fed).op)
        session = tf.Session()
        session.run(tf.global_variables_initializer(), initial)
        session.run(setting, initial)
    initial.clear()
    cycle = data.Cycle(batches)
    fetches, feeds = [loss, train], [words, lengths, classes]

    def step() -> Any:
        return session.run(fetches, dict(zip(feeds, cycle())))[0]

    return Program(step, session.close)


def loop_empty(tf: Any) -> Program:
    with tf.Graph().as_default():
        limit = tf.placeholder(tf.int32, [])
        count = tf.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0)])
        session = tf.Session()

    def step() -> Any:
        return session.run(count, {limit: data.EMPTY_ROUNDS})

    return Program(step, session.close)


def loop_gradient(tf: Any) -> Program:
    parameters, batches = data.loop_gradient()
    weights = parameters["w"]
    with tf.Graph().as_default():
        w = tf.placeholder(tf.float32, weights.shape)
        start = tf.placeholder(tf.float32, batches[0][0].shape)
        _, last = tf.while_loop(
            lambda i, y: i < data.GRADIENT_ROUNDS,
            lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))),
            [tf.constant(0), start],
        )
        loss = tf.reduce_sum(tf.square(last))
        fetches = [loss, *tf.gradients(loss, [w, start])]
        session = tf.Session()
    cycle = data.Cycle(batches)

    def step() -> float:
        _, gradient, _ = session.run(fetches, {w: weights, start: cycle()[0]})
        return data.along(gradient, weights)

    return Program(step, session.close)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (dynamic_rnn, loop_empty, loop_gradient)
}
