"""Reference variables are read where they are used, as in TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.ops.array.shape import shape_internal
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


# ---- variables that get other memory: values of TensorFlow 1.15 ----------------------------------


def _assigned_over(new: list[float], config: tf.ConfigProto | None) -> list[list[float]]:
    """The value read before an assignment, used after it; and what is read after it."""
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], validate_shape=False)
        given = tf.placeholder(tf.float32, None)
        old = v.value()
        with tf.control_dependencies([old]):
            assigned = tf.assign(v, given, validate_shape=False)
        with tf.control_dependencies([assigned]):
            values = [old + 0.0, v.read_value()]
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            return [each.tolist() for each in sess.run(values, {given: new})]


@pytest.mark.parametrize("config", [None, PLAIN], ids=["optimized", "plain"])
def test_a_value_of_another_shape_leaves_the_old_one_to_who_has_read_it(config) -> None:
    assert _assigned_over([5.0, 6.0], config) == [[5.0, 6.0], [5.0, 6.0]]
    assert _assigned_over([5.0, 6.0, 7.0], config) == [[1.0, 2.0], [5.0, 6.0, 7.0]]


@pytest.mark.parametrize("config", [None, PLAIN], ids=["optimized", "plain"])
@pytest.mark.parametrize("new", [[[5.0, 6.0], [7.0, 8.0]], [[9.0]]])
def test_what_was_made_of_the_old_value_stays(new: list[list[float]], config) -> None:
    """Also where it is a view here: a transposed value is a copy in TensorFlow."""
    with tf.Graph().as_default():
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], validate_shape=False)
        given = tf.placeholder(tf.float32, None)
        turned = tf.transpose(v)
        with tf.control_dependencies([turned]):
            assigned = tf.assign(v, given, validate_shape=False)
        with tf.control_dependencies([assigned]):
            used = turned + 0.0
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            assert sess.run(used, {given: new}).tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("config", [None, PLAIN], ids=["optimized", "plain"])
def test_an_array_that_grows_in_a_branch_keeps_what_it_held(config) -> None:
    with tf.Graph().as_default():
        array = tf.Variable(tf.zeros([0]), validate_shape=False)
        size = tf.Variable(0)
        given = tf.placeholder(tf.float32, [3])

        def grow() -> tf.Tensor:
            old = array.value()
            with tf.control_dependencies([old]):
                longer = tf.assign(array, tf.zeros([size + 4]), validate_shape=False)
            with tf.control_dependencies([longer]):
                return tf.group(array[:size].assign(old[:size]))

        grown = tf.cond(size + 3 > shape_internal(array, optimize=False)[0], grow, tf.no_op)
        with tf.control_dependencies([grown]):
            put = array[size : size + 3].assign(given)
        with tf.control_dependencies([put]):
            update = size.assign(size + 3)
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for batch in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]):
                sess.run(update, {given: batch})
            assert sess.run(array[:size]).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
