"""What a shape rule says against fed shapes is said when the node runs, and only then."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def test_shapes_that_atens_kernel_would_broadcast_are_refused() -> None:
    with tf.Graph().as_default():
        gradients, features = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        passed = make("ReluGrad", gradients, features, name="passed")
        feeds = {gradients: np.ones((2, 3)), features: np.ones(3)}
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(passed, feeds)
    assert "ReluGrad 'passed' failed" in str(caught.value)
    assert "(2, 3) and (3,)" in str(caught.value)


def test_source_written_for_known_shapes_is_not_asked_about_wrong_ones() -> None:
    with tf.Graph().as_default():
        x, axis = tf.placeholder(tf.float32), tf.constant(1)
        total = tf.reduce_sum(x, axis)
        parts = tf.split(x, 2, axis=3)
        with tf.Session() as session:
            for fetch in (total, parts):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(fetch, {x: np.float32(1)})


def test_a_branch_that_is_not_taken_may_refuse() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32)
        matrix = tf.equal(tf.rank(x), 2)
        either = tf.cond(matrix, lambda: tf.matmul(x, x), lambda: tf.multiply(x, x))
        with tf.Session() as session:
            assert session.run(either, {x: [2.0, 3.0]}).tolist() == [4.0, 9.0]
            assert session.run(either, {x: [[2.0]]}).tolist() == [[4.0]]


def test_a_node_that_refuses_is_not_fused_away() -> None:
    with tf.Graph().as_default():
        x, bias = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, tf.ones([3, 4])), bias))
        with tf.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="BiasAdd"):
                session.run(y, {x: np.ones((2, 3)), bias: np.ones(())})
            assert session.run(y, {x: np.ones((2, 3)), bias: np.ones(4)}).shape == (2, 4)
