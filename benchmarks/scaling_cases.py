"""Steps of growing size as TF1 programs, for Penstock and TensorFlow 2.21.

* ``nodes``: a chain of so many small operations, run to its end;
* ``vocabulary``: 128 rows of a table of so many looked up, and updated by their gradient;
* ``width``, ``batch``: a step of a network of two hidden layers.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict

from benchmarks import scaling_data
from benchmarks.graph_cases import Model, digit_loss, mlp_logits
from benchmarks.program import Program


def _nodes(tf: Any, size: int) -> Program:
    with tf.Graph().as_default():
        model = Model(tf, {})
        x = y = tf.placeholder(tf.float32, [scaling_data.NODE_VALUES])
        shift = tf.constant(scaling_data.NODE_SHIFT)
        for _ in range(size // 2):
            y = tf.tanh(tf.add(y, shift))
        return model.program(tf.reduce_sum(y), [x], scaling_data.nodes())


def _vocabulary(tf: Any, size: int) -> Program:
    parameters, batches = scaling_data.table(size)
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        ids = tf.placeholder(tf.int32, [None])
        rows = tf.nn.embedding_lookup(model.variables["table"], ids)
        loss = tf.reduce_sum(tf.square(rows))
        train = tf.train.GradientDescentOptimizer(scaling_data.TABLE_RATE).minimize(loss)
        return model.program([loss, train], [ids], batches)


def _network(tf: Any, width: int, batch: int) -> Program:
    parameters, batches = scaling_data.mlp(width, batch)
    with tf.Graph().as_default():
        model = Model(tf, parameters)
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        loss = digit_loss(tf, y, mlp_logits(tf, model.variables, x))
        train = tf.train.GradientDescentOptimizer(scaling_data.MLP_RATE).minimize(loss)
        return model.program([loss, train], [x, y], batches)


def _width(tf: Any, size: int) -> Program:
    return _network(tf, size, scaling_data.MLP_BATCH)


def _batch(tf: Any, size: int) -> Program:
    return _network(tf, scaling_data.MLP_WIDTH, size)


CASES: Dict[str, Callable[[Any], Program]] = {
    scaling_data.name_of(what, size): functools.partial(case, size=size)
    for what, case in (
        ("nodes", _nodes),
        ("vocabulary", _vocabulary),
        ("width", _width),
        ("batch", _batch),
    )
    for size in scaling_data.SIZES[what]
}
