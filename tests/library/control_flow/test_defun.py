"""Functions made by ``Defun``: nodes, captures, gradients, names, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.python.framework import function


def _types(graph: tf.Graph) -> list[str]:
    return [op.type for op in graph.get_operations()]


def test_a_call_is_a_node_of_the_functions_type() -> None:
    @function.Defun(tf.float32, tf.float32, func_name="Both", out_names=["s", "p"], noinline=True)
    def both(x: tf.Tensor, y: tf.Tensor) -> Any:
        return x + y, x * y

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        total, product = both(tf.constant(2.0), tf.constant(3.0), name="call")
        assert (total.name, product.name, total.shape.ndims) == ("call:0", "call:1", None)
        assert sess.run([total, product]) == [5.0, 6.0]
        assert _types(graph) == ["Const", "Const", "Both"]
        (made,) = graph.as_graph_def().library.function
    assert made.signature.name == both.name == "Both"
    assert [a.name for a in made.signature.output_arg] == ["s", "p"]
    assert made.attr["_noinline"].b


def test_captures_become_inputs() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=2.0, use_resource=True)
        r = tf.get_variable("r", initializer=5.0, use_resource=False)

        @function.Defun(tf.float32)
        def line(x: tf.Tensor) -> tf.Tensor:
            return x * w + v + r

        y = line(tf.constant(3.0))
        assert [t.name for t in line.captured_inputs] == [w.name, "v:0", "r/read:0"]
        assert len(y.op.inputs) == 4
        grads = tf.gradients(y, [w, v])
        assert grads[0].op.type == "SymbolicGradient"
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, *grads], {w: 10.0}) == [37.0, 3.0, 1.0]


def test_variables_made_inside_belong_outside() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:

        @function.Defun(tf.float32)
        def layer(x: tf.Tensor) -> tf.Tensor:
            w = tf.get_variable("w", initializer=4.0)
            assert function.get_extra_vars() == [w]
            return x * w

        y = layer(tf.constant(2.0))
        (w,) = tf.trainable_variables()
        assert w.op.graph is graph
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, tf.gradients(y, w)[0]]) == [8.0, 2.0]


def test_functions_call_functions() -> None:
    @function.Defun(tf.float32)
    def square(x: tf.Tensor) -> tf.Tensor:
        return x * x

    @function.Defun(tf.float32)
    def sums(x: tf.Tensor) -> tf.Tensor:
        return square(x) + square(x + 1.0)

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(2.0)
        y = sums(x)
        assert sess.run([y, tf.gradients(y, x)[0]]) == [13.0, 10.0]
        library = graph.as_graph_def().library
        assert {f.signature.name for f in library.function} == {square.name, sums.name}


def test_types_that_are_not_given() -> None:
    @function.Defun()
    def twice(x: tf.Tensor) -> tf.Tensor:
        return x * 2

    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = twice(tf.constant(1.5)), twice(tf.constant(4))
        assert (a.dtype, b.dtype) == (tf.float32, tf.int32)
        assert a.op.type != b.op.type
        assert sess.run([a, b]) == [3.0, 8]


def test_gradients_that_the_user_gives() -> None:
    @function.Defun(tf.float32, tf.float32)
    def slope(x: tf.Tensor, grad: tf.Tensor) -> tf.Tensor:
        return 7.0 * grad

    @function.Defun(tf.float32, grad_func=slope)
    def by_function(x: tf.Tensor) -> tf.Tensor:
        return x * x

    @function.Defun(tf.float32, python_grad_func=lambda op, grad: grad * op.inputs[0] * 100.0)
    def by_python(x: tf.Tensor) -> tf.Tensor:
        return x * x

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(2.0)
        first, second = by_function(x), by_python(x)
        grads = [tf.gradients(y, x)[0] for y in (first, second)]
        assert sess.run(grads) == [7.0, 200.0]
        (gradient,) = graph.as_graph_def().library.gradient
        assert (gradient.function_name, gradient.gradient_func) == (by_function.name, slope.name)


def test_gradients_through_control_flow_inside() -> None:
    @function.Defun(tf.float32)
    def doubled(x: tf.Tensor) -> tf.Tensor:
        y = tf.while_loop(lambda a: a < 100.0, lambda a: a * 2.0, [x])
        return tf.cond(y > 128.0, lambda: y * 3.0, lambda: y)

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        y = doubled(x)
        grad = tf.gradients(y, x)[0]
        assert sess.run([y, grad], {x: 3.0}) == [192.0 * 3, 64.0 * 3]
        assert sess.run([y, grad], {x: 50.0}) == [100.0, 2.0]


def test_a_shape_function() -> None:
    @function.Defun(tf.float32, shape_func=lambda op: [op.inputs[0].get_shape()])
    def same(x: tf.Tensor) -> tf.Tensor:
        return x + 1.0

    with tf.Graph().as_default():
        assert same(tf.zeros([2, 3])).shape == [2, 3]


def test_effects_of_a_call_that_returns_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)

        @function.Defun(tf.float32)
        def add(x: tf.Tensor) -> None:
            v.assign_add(x)

        op = add(tf.constant(2.0))
        assert isinstance(op, tf.Operation)
        with tf.control_dependencies([op]):
            after = v.read_value()
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        assert sess.run(after) == 5.0


def test_functions_that_are_declared_first() -> None:
    later = function.Declare("Later", [("x", tf.float32)], [("y", tf.float32)])
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        y = later(tf.constant(2.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'Later', which is declared"):
            sess.run(y)

        @function.Defun(tf.float32, func_name="Later", out_names=["y"])
        def defined(x: tf.Tensor) -> tf.Tensor:
            return x + 10.0

        defined.add_to_graph(graph)
        assert sess.run(y + 0.0) == 12.0


def test_functions_that_call_themselves() -> None:
    again = function.Declare("Again", [("x", tf.float32)], [("y", tf.float32)])

    @function.Defun(tf.float32, func_name="Again", out_names=["y"])
    def defined(x: tf.Tensor) -> tf.Tensor:
        return again(x) + 1.0

    with tf.Graph().as_default(), tf.Session() as sess:
        y = defined(tf.constant(2.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="'Again' calls itself"):
            sess.run(y)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="callable"):
        function.Defun(tf.float32)(3)
    with pytest.raises(ValueError, match="argument defaults"):
        function.Defun(tf.float32)(lambda x=1: x)
    with pytest.raises(ValueError, match=r"2 argument\(s\)"):
        function.Defun(tf.float32)(lambda x, y: x)
    with tf.Graph().as_default() as graph:
        made = function.Defun(tf.float32, func_name="One")(lambda x: x + 1.0)
        with pytest.raises(ValueError, match="Expected number of arguments: 1, received: 2"):
            made(1.0, 2.0)
        with pytest.raises(ValueError, match="float32"):
            made(tf.constant(1))
        made.add_to_graph(graph)
        other = function.Defun(tf.float32, func_name="One")(lambda x: x + 2.0)
        with pytest.raises(ValueError, match="different function with the same name"):
            other.add_to_graph(graph)
        wrong = function.Defun(tf.float32, out_names=["a", "b"])(lambda x: x)
        with pytest.raises(ValueError, match="out_names"):
            wrong(1.0)


def test_names_follow_the_body() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        return x * 2.0

    def other(x: tf.Tensor) -> tf.Tensor:
        return x * 3.0

    other.__name__ = "body"
    with tf.Graph().as_default():
        first, same, different = (function.Defun(tf.float32)(f).name for f in (body, body, other))
    assert first == same != different
    assert first.startswith("body_")


def test_calls_inside_conditionals_and_loops() -> None:
    @function.Defun(tf.float32)
    def step(x: tf.Tensor) -> tf.Tensor:
        return x * 2.0 + 1.0

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        shape = [tf.TensorShape([]), tf.TensorShape(None)]
        looped = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, step(a)), [0, x], shape_invariants=shape
        )[1]
        chosen = tf.cond(x > 0.0, lambda: step(x), lambda: x)
        grads = [tf.gradients(y, x)[0] for y in (looped, chosen)]
        np.testing.assert_array_equal(
            sess.run([looped, chosen, *grads], {x: 1.0}), [15.0, 3.0, 8.0, 2.0]
        )
        np.testing.assert_array_equal(
            sess.run([looped, chosen, *grads], {x: -1.0}), [-1.0, -1.0, 8.0, 1.0]
        )


def test_custom_gradients_inside_conditionals_and_loops() -> None:
    @tf.custom_gradient
    def tripled(x: tf.Tensor) -> Any:
        return tf.identity(x), lambda grad: 3.0 * grad

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        chosen = tf.cond(x > 0.0, lambda: tripled(x) * x, lambda: x)
        looped = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tripled(a)), [0, x])[1]
        grads = [tf.gradients(y, x)[0] for y in (chosen, looped)]
        assert sess.run(grads, {x: 2.0}) == [3.0 * 2.0 + 2.0, 9.0]
        assert sess.run(grads, {x: -2.0}) == [1.0, 9.0]
