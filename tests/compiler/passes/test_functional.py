"""Functional nodes in steps: what stands in their place, effects, order, errors, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.passes.functional import expand_functions
from penstock.foundation.graph.build import make
from penstock.foundation.graph.function import FunctionGraph, trace
from penstock.python.framework import function
from tests.compiler.passes.rewriting import PLAIN


def _body(*types: Any) -> Callable[[Callable[..., Any]], FunctionGraph]:
    """A function to put into an attr."""

    def traced(python: Callable[..., Any]) -> FunctionGraph:
        def body(arguments: list[tf.Tensor]) -> Any:
            given = python(*arguments)
            return given if isinstance(given, tuple) else (given,)

        return trace("body", [(t, None, f"a{i}") for i, t in enumerate(types)], body)

    return traced


def _if(pred: Any, args: list[Any], then: Any, orelse: Any, types: list[Any]) -> list[tf.Tensor]:
    made: list[tf.Tensor] = make("If", pred, args, Tout=types, then_branch=then, else_branch=orelse)
    return made


def _counting(limit: Any, start: Any) -> tf.Tensor:
    condition = _body(tf.int32, tf.int32)(lambda i, n: i < n)
    body = _body(tf.int32, tf.int32)(lambda i, n: (i + 2, n))
    made: tf.Tensor = make("While", [start, limit], cond=condition, body=body)[0]
    return made


def test_what_stands_in_a_steps_place() -> None:
    with tf.Graph().as_default() as graph:
        p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)
        then = _body(tf.float32)(lambda a: tf.exp(a))
        orelse = _body(tf.float32)(lambda a: tf.sin(a))
        (y,) = _if(p, [x], then, orelse, [tf.float32])
        found, feeds, fetches, targets = expand_functions(graph, [p], [y], [])
    types = [op.type for op in found.get_operations()]
    assert types.count("Merge") == 1 and "If" not in types
    assert {"If/then/Exp", "If/else/Sin"} <= {op.name for op in found.get_operations()}
    assert fetches[0].op.type == "Merge"
    assert (len(feeds), targets) == (1, [])


def test_a_step_that_calls_nothing_is_left_alone() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(2.0)
        assert expand_functions(graph, [], [x], [])[0] is graph


def test_generated_programs_have_if_and_while() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        n = tf.placeholder(tf.int32, [])
        total = _counting(n, tf.constant(0))
        then = _body(tf.int32)(lambda a: a * 10)
        orelse = _body(tf.int32)(lambda a: a + 1)
        (y,) = _if(total > 4, [total], then, orelse, [tf.int32])
        assert [sess.run(y, {n: k}) for k in (0, 3, 5)] == [1, 5, 60]
        text = sess.explain(y, {n: 5})
    assert "while" in text and "If/then/mul" in text


def test_only_the_branch_that_is_taken_has_its_effect() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        p = tf.placeholder(tf.bool, [])

        def assign(value: float) -> Any:
            def body() -> tf.Tensor:
                v.assign_add(value)
                return tf.constant(value)

            return _body()(body)

        (y,) = _if(p, [], assign(10.0), assign(-1.0), [tf.float32])
        with tf.control_dependencies([y.op]):
            after = v.read_value()
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, after], {p: True}) == [10.0, 11.0]
        assert sess.run([y, after], {p: False}) == [-1.0, 10.0]
        # Nobody takes a result: running the node is enough.
        sess.run(y.op, {p: True})
        assert sess.run(v) == 20.0


def test_effects_in_each_round() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=0, use_resource=True)
        condition = _body(tf.int32)(lambda i: i < 4)

        def body(i: tf.Tensor) -> tf.Tensor:
            v.assign_add(i)
            return i + 1

        (y,) = make("While", [tf.constant(0)], cond=condition, body=_body(tf.int32)(body))
        with tf.control_dependencies([y]):
            after = v.read_value()
        sess.run(tf.global_variables_initializer())
        assert sess.run(after) == 6


def test_a_call_waits_for_what_it_is_told_to() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        read = _body()(lambda: v.read_value())
        with tf.control_dependencies([v.assign_add(4.0)]):
            (y,) = make("StatefulPartitionedCall", [], Tout=[tf.float32], f=read)
        sess.run(tf.global_variables_initializer())
        assert sess.run(y) == 5.0


def test_results_can_be_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        y = _counting(tf.constant(5), tf.constant(0))
        z = y * 2
        assert sess.run(z) == 12
        assert sess.run(z, {y: 50}) == 100


def test_nodes_inside_are_named_in_errors() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, None)
        broken = _body(tf.float32)(lambda a: tf.matmul(a, a, name="product"))
        same = _body(tf.float32)(lambda a: tf.identity(a))
        (y,) = _if(tf.placeholder_with_default(True, []), [x], broken, same, [tf.float32])
        with pytest.raises(tf.errors.InvalidArgumentError, match="If/then/product"):
            sess.run(y, {x: [[1.0, 2.0, 3.0]]})


def test_a_remote_call_stays_here() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        target = tf.placeholder(tf.string, [])
        body = _body(tf.float32)(lambda a: a * 2.0)
        (y,) = make("RemoteCall", target, [tf.constant(2.0)], Tout=[tf.float32], f=body)
        assert sess.run(y, {target: "/job:localhost/replica:0/task:0/device:CPU:0"}) == 4.0
        with pytest.raises(tf.errors.UnimplementedError, match="/job:worker"):
            sess.run(y, {target: "/job:worker/task:1"})


def test_a_call_with_another_number_of_arguments() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        body = _body(tf.float32)(lambda a: a * 2.0)
        (y,) = make("PartitionedCall", [1.0, 2.0], Tout=[tf.float32], f=body)
        wanted = r"with 2 argument\(s\); it takes 1"
        with pytest.raises(tf.errors.InvalidArgumentError, match=wanted):
            sess.run(y)


def test_two_calls_draw_from_two_streams() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        draw = function.Defun()(lambda: tf.random_uniform([4]))
        first, second = sess.run([draw(), draw()])
        assert first.tolist() != second.tolist()


def test_a_dataset_maps_a_functional_node() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        data = tf.data.Dataset.range(4).map(
            lambda k: _counting(tf.cast(k, tf.int32), tf.constant(0))
        )
        following = tf.data.make_one_shot_iterator(data).get_next()
        assert [sess.run(following) for _ in range(4)] == [0, 2, 2, 4]


def test_steps_after_gradients_use_the_primitives() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=0.0, use_resource=True)
        x = tf.placeholder(tf.float32, [])

        def square(a: tf.Tensor) -> tf.Tensor:
            v.assign_add(1.0)
            return a * a

        orelse = _body(tf.float32)(lambda a: -a)
        (y,) = _if(x > 0.0, [x], _body(tf.float32)(square), orelse, [tf.float32])
        before = y + 1.0
        (grad,) = tf.gradients(before, x)
        later = y + 2.0  # takes the node that has been given its primitives
        sess.run(tf.global_variables_initializer())
        assert sess.run([y, before, later, grad], {x: 3.0}) == [9.0, 10.0, 11.0, 6.0]
        assert sess.run(v) == 1.0  # the body ran once
        assert sess.run([later, grad], {x: -3.0}) == [5.0, -1.0]
        assert sess.run(later, {y: 40.0, x: 0.0}) == 42.0
        sess.run(y.op, {x: 1.0})
        assert sess.run(v) == 2.0


def test_nodes_of_a_body_run_after_its_arguments() -> None:
    """A control input of a body that is an argument is the value that the call passes."""

    @function.Defun(tf.float32, tf.float32)
    def after(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([y]):
            return tf.reshape(x, [-1]) * 2.0

    with tf.Graph().as_default(), tf.Session(config=PLAIN) as sess:
        seen: list[float] = []
        (counted,) = tf.py_func(
            lambda: (seen.append(1.0), np.float32(1.0))[1], [], [tf.float32], stateful=True
        )
        x = tf.constant([1.0, 2.0])
        called = after(x, counted)
        assert sess.run(called).tolist() == [2.0, 4.0]
        assert seen == [1.0]
        assert sess.run(tf.gradients(called, x)[0]).tolist() == [2.0, 2.0]
        either = tf.cond(tf.constant(True), lambda: after(x, 1.0), lambda: x)
        assert sess.run(either).tolist() == [2.0, 4.0]
