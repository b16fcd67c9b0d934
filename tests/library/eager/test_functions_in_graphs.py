"""Functions that are traced while a graph is built: what leaves them, what they stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf


def test_init_scope_leaves_functions() -> None:
    found: list[Any] = []

    @tf.function(autograph=False)
    def inner(x: Any) -> Any:
        with tf.init_scope():
            found.append((tf.get_default_graph(), tf.constant(1.0).graph))
        return x

    @tf.function(autograph=False)
    def outer(x: Any) -> Any:
        with tf.name_scope("a"), tf.control_dependencies([x]), tf.init_scope():
            made = tf.constant(1.0)
            found.append((tf.get_default_graph(), made.graph))
            assert made.name == "a/Const_1:0" and not made.op.control_inputs
        return inner(x) + 1.0

    with tf.Graph().as_default() as graph:
        tf.constant(0.0, name="a/Const")
        outer.get_concrete_function(tf.TensorSpec([]))
        assert found == [(graph, graph), (graph, graph)]


def test_an_optimizer_keeps_its_slots_outside_of_a_function() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
        optimizer = tf.train.AdamOptimizer(0.1)

        @tf.function(autograph=False)
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            with tf.control_dependencies(
                [optimizer.apply_gradients([(tape.gradient(loss, v), v)])]
            ):
                return tf.identity(loss)

        loss = step.get_concrete_function()()
        names = [each.name for each in tf.global_variables()]
        assert names == ["v:0", "beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
        session.run(tf.global_variables_initializer())
        assert session.run(loss) == 5.0
        np.testing.assert_allclose(session.run(v), [0.9, 1.9], rtol=1e-6)


def test_nodes_of_a_function_stand_beside_what_is_outside() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
        c = tf.constant(1.0)

        @tf.function(autograph=False)
        def beside() -> Any:
            with tf.colocate_with(v), tf.colocate_with(c):
                return tf.constant(2.0) + 1.0

        assert session.run(beside.get_concrete_function()()) == 3.0
