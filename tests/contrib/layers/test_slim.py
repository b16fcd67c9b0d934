"""``tf.contrib.slim`` beyond its layers and networks: training, queues, what a model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

slim = tf.contrib.slim


def _train_op(**arguments: Any) -> Any:
    x = tf.constant(np.random.RandomState(0).rand(8, 4).astype("float32"))
    y = slim.fully_connected(x, 1, activation_fn=None)
    loss = tf.reduce_mean(tf.square(y - 1.0))
    return slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), **arguments)


def test_train_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    losses = []
    for last in (10, 30):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            losses.append(slim.learning.train(_train_op(), str(tmp_path), number_of_steps=last))
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{last}")
    assert losses[1] < losses[0]


def test_clipping_and_multipliers_change_the_step() -> None:
    moved = []
    for arguments in (
        {},
        {"clip_gradient_norm": 1e-3},
        {"gradient_multipliers": {"fully_connected/weights": 2.0}},
    ):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(1)
            step = _train_op(**arguments)
            weights = slim.get_model_variables()[0]
            sess.run(tf.global_variables_initializer())
            before = sess.run(weights)
            sess.run(step)
            moved.append(sess.run(weights) - before)
    assert np.linalg.norm(moved[1]) == pytest.approx(1e-4, rel=1e-3)
    np.testing.assert_allclose(moved[2], 2 * moved[0], rtol=1e-5)


def test_updates_run_before_the_step() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(np.random.RandomState(0).rand(8, 4).astype("float32")) + 3.0
        loss = tf.reduce_mean(slim.batch_norm(slim.fully_connected(x, 2, activation_fn=None)))
        step = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        sess.run(tf.global_variables_initializer())
        mean = slim.get_variables_by_name("moving_mean")[0]
        before = sess.run(mean)
        sess.run(step)
        assert (sess.run(mean) != before).any()


def test_variables_and_operations_are_counted() -> None:
    with tf.Graph().as_default() as graph:
        slim.conv2d(tf.zeros([1, 4, 4, 3]), 2, 3)
        assert slim.model_analyzer.analyze_vars(slim.get_model_variables()) == (56, 224)
        assert slim.model_analyzer.analyze_ops(graph) > 56


def test_queue_runners_run_in_the_block_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        taken = tf.train.input_producer(tf.constant([1, 2, 3]), shuffle=False).dequeue()
        with slim.queues.QueueRunners(sess):
            assert [sess.run(taken) for _ in range(3)] == [1, 2, 3]
            with pytest.raises(slim.queues.NestedQueueRunnerError, match="nested"):
                with slim.queues.QueueRunners(sess):
                    pass


def test_paths_of_programs_lead_to_the_same_functions() -> None:
    assert slim.python.slim.nets.inception_v3.inception_v3 is slim.nets.inception.inception_v3
    assert tf.contrib.layers.python.layers.layer_norm is slim.layer_norm is slim.layers.layer_norm
    assert slim.nets.resnet_v2.resnet_utils is slim.nets.resnet_utils
    assert slim.learning.supervisor.Supervisor is tf.train.Supervisor
