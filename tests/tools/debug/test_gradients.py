"""Gradients that a debugger gets at."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.python import debug as tf_debug


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_the_gradient_of_a_tensor_inside_is_found() -> None:
    x = tf.get_variable("x", initializer=[1.0, 2.0])
    debugger = tf_debug.GradientsDebugger()
    y = tf.multiply(x, 3.0, name="y")
    watched = debugger.identify_gradient(y)
    assert watched.op.type == "DebugGradientIdentity"
    (grad,) = tf.gradients(tf.reduce_sum(tf.square(watched)), x)
    with tf.Session() as sess:
        sess.run(x.initializer)
        inner, outer = sess.run([debugger.gradient_tensor(y), grad])
    np.testing.assert_allclose(inner, [6.0, 12.0])
    np.testing.assert_allclose(outer, [18.0, 36.0])
    assert list(debugger.gradient_tensors()) == ["y:0"]


def test_a_reference_is_watched_as_a_reference() -> None:
    x = tf.get_variable("x", initializer=[1.0, 2.0])
    debugger = tf_debug.GradientsDebugger()
    watched = debugger.identify_gradient(x._ref())
    assert watched.op.type == "DebugGradientRefIdentity" and watched.dtype.is_ref
    tf.gradients(tf.reduce_sum(watched * watched), x._ref())
    with tf.Session() as sess:
        sess.run(x.initializer)
        assert sess.run(debugger.gradient_tensor("x:0")).tolist() == [2.0, 4.0]


def test_tensors_that_exist_are_watched_by_name(graph) -> None:
    x = tf.get_variable("x", initializer=2.0)
    y = tf.square(x, name="hidden/y")
    loss = tf.add(y, 1.0)
    with tf_debug.GradientsDebugger(loss).watch_gradients_by_tensor_names(graph, "hidden/") as seen:
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run([seen.gradient_tensor("hidden/y:0"), loss]) == [1.0, 5.0]
    with pytest.raises(LookupError, match="no gradient of 'x:0' was made"):
        seen.gradient_tensor("x:0")
    with pytest.raises(ValueError, match="no floating tensor"):
        seen.watch_gradients_by_tensor_names(graph, "nothing")
