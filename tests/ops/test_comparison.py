"""``tf.where`` and ``tf.where_v2``: only the second broadcasts."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


def test_the_second_form_broadcasts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        column = tf.constant([[True], [False], [True]])
        chosen = tf.where_v2(column, tf.ones([3, 4]), tf.zeros([3, 4]))
        assert session.run(chosen).tolist() == [[1] * 4, [0] * 4, [1] * 4]
        assert tf.where_v2(column, 1.0, tf.zeros([4])).shape == (3, 4)
        assert session.run(tf.where_v2([True, False], 1, 2)).tolist() == [1, 2]
        assert session.run(tf.where_v2([False, True])).tolist() == [[1]]


def test_its_gradients_are_of_the_shapes_of_its_operands() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([2.0, 3.0]), tf.constant(5.0)
        chosen = tf.where_v2([[True, False], [False, False]], x, y)
        found = session.run(tf.gradients(chosen * chosen, [x, y]))
    np.testing.assert_array_equal(found[0], [4.0, 0.0])
    assert found[1] == 30.0


def test_the_first_form_does_not() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Select"):
        tf.where(tf.ones([3, 1]) > 0, tf.ones([3, 4]), tf.zeros([3, 4]))
