"""What a step costs before it runs for the first time: a step is a new session's first run.

* ``first_rnn``: 60 steps of an LSTM with sequence lengths (a conditional each) and their gradient.
* ``first_large``: a chain of some 84,000 small nodes.

The graph is built once.  A new session initializes the variables and runs the step once, which no
session has run before.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import numpy as np

from benchmarks.program import Program

STEPS, BATCH, INPUTS, UNITS = 60, 4, 32, 48
LINKS = 21000


class _Cell:
    """An LSTM, as ``static_rnn`` takes it: not every API under test has cells of its own."""

    output_size = UNITS
    state_size = (UNITS, UNITS)

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        draw = np.random.RandomState(1).uniform(-0.1, 0.1, [INPUTS + UNITS, 4 * UNITS])
        self._kernel = tf.get_variable("kernel", initializer=draw.astype(np.float32))
        self._bias = tf.get_variable("bias", initializer=np.zeros(4 * UNITS, np.float32))

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """What the first step is given."""
        zeros = self._tf.zeros(self._tf.stack([batch_size, UNITS]), dtype)
        return zeros, zeros

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf, (memory, hidden) = self._tf, state
        gates = tf.matmul(tf.concat([inputs, hidden], 1), self._kernel) + self._bias
        i, j, f, o = tf.split(gates, 4, 1)
        memory = memory * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(memory) * tf.sigmoid(o)
        return hidden, (memory, hidden)


def _first_runs(tf: Any, graph: Any, fetches: List[Any], feed: Dict[Any, Any]) -> Program:
    with graph.as_default():
        initialize = tf.global_variables_initializer()

    def step() -> Any:
        with graph.as_default():  # a node more to run: what was compiled before is of no use
            also = tf.no_op()
        with tf.Session(graph=graph) as session:
            session.run(initialize)
            return session.run([*fetches, also], feed)[0]

    return Program(step)


def first_rnn(tf: Any) -> Program:
    graph = tf.Graph()
    with graph.as_default():
        inputs = [tf.placeholder(tf.float32, [None, INPUTS]) for _ in range(STEPS)]
        lengths = tf.placeholder(tf.int32, [None])
        outputs, _ = tf.nn.static_rnn(_Cell(tf), inputs, dtype=tf.float32, sequence_length=lengths)
        loss = tf.add_n([tf.reduce_sum(tf.square(o)) for o in outputs])
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    values = np.random.RandomState(2).rand(STEPS, BATCH, INPUTS).astype(np.float32)
    feed = dict(zip(inputs, values))
    feed[lengths] = np.array([STEPS, 3, 40, 2], np.int32)
    return _first_runs(tf, graph, [loss, train], feed)


def first_large(tf: Any) -> Program:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [8])
        y = tf.placeholder(tf.float32, [8])
        total = x
        for _ in range(LINKS):
            total = tf.tanh(total * y + x) - y
    feed = {x: np.linspace(-1, 1, 8, dtype=np.float32), y: np.full(8, 0.5, np.float32)}
    return _first_runs(tf, graph, [total], feed)


CASES: Dict[str, Callable[[Any], Program]] = {
    "first_rnn": first_rnn,
    "first_large": first_large,
}
