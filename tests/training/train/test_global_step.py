"""Finding, making and checking the global step."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_made_once_and_found() -> None:
    assert tf.train.get_global_step() is None
    with tf.name_scope("inner"):
        step = tf.train.get_or_create_global_step()
    assert step.name == "global_step:0"
    assert step.dtype.base_dtype is tf.int64
    assert step not in tf.trainable_variables()
    assert tf.train.get_global_step() is step
    assert tf.train.get_or_create_global_step() is step
    with pytest.raises(ValueError, match="already has a global step, 'global_step:0'"):
        tf.train.create_global_step()


def test_of_another_graph() -> None:
    other = tf.Graph()
    step = tf.train.create_global_step(other)
    assert step.graph is other
    assert tf.train.get_global_step() is None
    assert tf.train.get_global_step(other) is step


def test_found_by_name() -> None:
    made = tf.Variable(7, name="global_step", trainable=False)
    found = tf.train.get_global_step()
    assert found.name == made.name
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tf.train.global_step(session, found) == 7


def test_several_are_none() -> None:
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(0))
    with pytest.warns(UserWarning, match="holds 2 tensors"):
        assert tf.train.get_global_step() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tf.constant(1.0),
            "Existing \"global_step\" does not have integer type: float32; it is 'Const:0'",
        ),
        (lambda: tf.constant([1]), 'Existing "global_step" is not scalar'),
        (lambda: 3, 'Existing "global_step" must be a Variable or Tensor: 3.'),
    ],
)
def test_what_cannot_be_one(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tf.train.assert_global_step(make())


@pytest.mark.parametrize("use_resource", [False, True])
def test_counts_after_the_updates(use_resource: bool) -> None:
    var = tf.Variable(1.0, use_resource=use_resource)
    step = tf.Variable(5, trainable=False, use_resource=use_resource)
    update = tf.train.GradientDescentOptimizer(0.5).minimize(var * var, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        session.run(update)
        assert session.run([step, var]) == [7, 0.0]
