"""Reference variables are read where they are used, as in TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from tests.compiler.passes.rewriting import PLAIN


@pytest.mark.parametrize("config", [None, PLAIN], ids=["optimized", "plain"])
def test_uses_after_an_update_see_it(config) -> None:
    # The values are what TensorFlow 1.15 prints for this program.
    with tf.Graph().as_default():
        v = tf.Variable(np.ones(2, np.float32))
        with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
            added = v * 1.0
        with tf.control_dependencies([tf.assign(v, [10.0, 10.0])]):
            assigned = v * 1.0
        before = v * 1.0
        with tf.control_dependencies([before]):
            update = tf.assign_add(v, [1.0, 1.0])
        with tf.control_dependencies([update]):
            after = v * 1.0
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            assert sess.run(added).tolist() == [2.0, 2.0]
            assert sess.run(assigned).tolist() == [10.0, 10.0]
            first, second = sess.run([before, after])
            assert first.tolist() == [10.0, 10.0] and second.tolist() == [11.0, 11.0]


@pytest.mark.parametrize("config", [None, PLAIN], ids=["optimized", "plain"])
def test_averages_after_a_training_step_see_the_new_weights(config) -> None:
    with tf.Graph().as_default():
        v = tf.Variable([8.0])
        train = tf.train.GradientDescentOptimizer(4.0).minimize(tf.reduce_sum(v))
        average = tf.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([train]):
            step = average.apply([v])
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            assert sess.run([v, average.average(v)]) == [[4.0], [6.0]]


def test_resource_variables_are_read_where_the_read_stands() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0], use_resource=True)
        sess.run(v.initializer)
        old = v.read_value()
        with tf.control_dependencies([old]):
            update = tf.assign_add(v, [1.0])
        with tf.control_dependencies([update]):
            again = old * 1.0
        assert sess.run(again).tolist() == [1.0]
