"""A regression that every strategy must train as one device does on the whole batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import penstock as tf
from penstock.training.distribute import ReduceOp
from tests.suite.clock import PATIENCE_MS

STEPS, BATCH = 8, 12


class Trained(NamedTuple):
    """What training gave: the loss of each step, and each variable on each local device."""

    losses: list[float]
    variables: dict[str, list[np.ndarray]]
    step: int


OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.05),
    "momentum": lambda: tf.train.MomentumOptimizer(0.02, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.05),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.02, momentum=0.5),
}


def examples() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of five numbers, a word each, and what to predict."""
    random = np.random.RandomState(0)
    x = random.randn(96, 5).astype(np.float32)
    words = random.randint(0, 7, 96).astype(np.int64)
    y = x @ random.randn(5, 1) + words[:, None] * 0.1
    return x, words, y.astype(np.float32)


def loss_of(x: Any, words: Any, y: Any) -> Any:
    """Squares summed over the rows and divided by the batch of all replicas."""
    table = tf.get_variable("table", [7, 3], initializer=tf.random_uniform_initializer(seed=2))
    w = tf.get_variable("w", [8, 1], initializer=tf.random_normal_initializer(seed=1))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    seen = tf.concat([x, tf.nn.embedding_lookup(table, words)], 1)
    return tf.reduce_sum(tf.square(tf.matmul(seen, w) + b - y)) / BATCH


def train(strategy: Any, optimizer: str = "sgd", steps: int = STEPS) -> Trained:
    """Trains ``steps`` steps of the regression under a strategy."""
    with tf.Graph().as_default(), strategy.scope():
        tf.set_random_seed(3)
        dataset = tf.data.Dataset.from_tensor_slices(examples()).repeat().batch(BATCH)
        batches = strategy.make_dataset_iterator(dataset)
        step = tf.train.get_or_create_global_step()
        opt = OPTIMIZERS[optimizer]()

        def replica(batch: Any) -> Any:
            loss = loss_of(*batch)
            with tf.control_dependencies([opt.minimize(loss, global_step=step)]):
                return tf.identity(loss)

        losses = strategy.experimental_run(replica, batches)
        total = strategy.reduce(ReduceOp.SUM, losses)
        config = strategy.update_config_proto(
            tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS, intra_op_parallelism_threads=1)
        )
        with tf.Session(config=config) as session:
            session.run([batches.initialize(), tf.global_variables_initializer()])
            values = [float(session.run(total)) for _ in range(steps)]
            held = {
                v.op.name: list(session.run(strategy.experimental_local_results(v)))
                for v in tf.global_variables()
            }
            return Trained(values, held, int(session.run(step)))


def check(found: Trained, expected: Trained) -> None:
    """Equal up to the rounding of float32 sums taken in another order."""
    np.testing.assert_allclose(found.losses, expected.losses, rtol=2e-5)
    assert found.step == expected.step
    assert found.variables.keys() == expected.variables.keys()
    for name, copies in found.variables.items():
        for copy in copies:
            np.testing.assert_array_equal(copy, copies[0], err_msg=name)
            np.testing.assert_allclose(
                copy, expected.variables[name][0], rtol=1e-4, atol=2e-6, err_msg=name
            )
