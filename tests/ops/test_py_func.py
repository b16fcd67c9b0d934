"""Python functions without outputs: operations that run for what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf

Made = Callable[[Callable[..., Any], list[Any]], Any]


def _py_func(function: Callable[..., Any], inputs: list[Any]) -> Any:
    return tf.py_func(function, inputs, [])


def _numpy_function(function: Callable[..., Any], inputs: list[Any]) -> Any:
    return tf.numpy_function(function, inputs, [])


@pytest.mark.parametrize("made", [_py_func, _numpy_function])
def test_without_outputs_it_is_an_operation_that_runs(made: Made) -> None:
    seen: list[int] = []
    with tf.Graph().as_default(), tf.Session() as session:
        called = made(lambda x: seen.append(int(x)), [tf.constant(2)])
        assert isinstance(called, tf.Operation)
        assert session.run(called) is None
        session.run([called, called])
    assert seen == [2, 2]


def test_it_can_be_waited_for_in_a_loop_a_branch_and_a_dataset() -> None:
    seen: list[int] = []

    def after(x: Any) -> Any:
        with tf.control_dependencies([_py_func(lambda v: seen.append(int(v)), [x])]):
            return tf.identity(x) + 1

    with tf.Graph().as_default(), tf.Session() as session:
        loop = tf.while_loop(lambda i: i < 3, after, [tf.constant(0)])
        branch = tf.cond(tf.constant(True), lambda: after(tf.constant(7)), lambda: tf.constant(0))
        numbers = tf.data.Dataset.range(10, 12).map(after)
        element = tf.data.make_one_shot_iterator(numbers).get_next()
        assert session.run(loop) == 3
        assert session.run(branch) == 8
        assert [session.run(element), session.run(element)] == [11, 12]
    assert seen == [0, 1, 2, 7, 10, 11]


def test_values_that_nobody_asked_for_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values, but expects"):
            session.run(_py_func(lambda: 3, []))
        session.run(_py_func(list, []))


def test_a_stateless_one_without_outputs_is_nothing() -> None:
    with tf.Graph().as_default():
        assert tf.py_func(lambda: None, [], [], stateful=False) == []


def test_a_list_input_must_have_as_many_tensors_as_its_attr_asks() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="less than minimum 1"):
        tf.identity_n([])
