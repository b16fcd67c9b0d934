"""A reference variable that comes to hold another shape than it was declared with.

The expected values are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


@pytest.fixture(params=["this process", "a server"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    yield "" if request.param == "this process" else tf.train.Server.create_local_server().target


class Program:
    """What is computed of a variable whose declared shape is [1, 4, 4, 1]."""

    def __init__(self, target: str) -> None:
        self.v = tf.get_variable(
            "v", [1, 4, 4, 1], initializer=tf.ones_initializer(), use_resource=False
        )
        doubled = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, x: (i + 1, x * 2.0 + tf.cast(tf.size(self.v), tf.float32)),
            [0, self.v],
        )[1]
        chosen = tf.cond(
            tf.reduce_sum(self.v) > 1.0, lambda: tf.shape(self.v * 2)[1], lambda: tf.size(self.v)
        )
        self.results = [
            tf.nn.conv2d(self.v, tf.ones([3, 3, 1, 1]), [1, 2, 2, 1], "SAME"), tf.shape(self.v),
            tf.reduce_mean(self.v), doubled, chosen,
        ]  # fmt: skip
        self.session = tf.Session(target)
        self.session.run(tf.global_variables_initializer())

    def found(self) -> list[float]:
        one_by_one = [float(np.sum(self.session.run(t))) for t in self.results]
        together = [float(np.sum(value)) for value in self.session.run(self.results)]
        assert one_by_one == together
        return together


@pytest.mark.parametrize("compiled_before", [True, False])
def test_a_step_takes_the_shape_that_the_variable_has(target: str, compiled_before: bool) -> None:
    with tf.Graph().as_default():
        program = Program(target)
        if compiled_before:
            assert program.found() == [25.0, 10.0, 1.0, 832.0, 4.0]
        value = tf.placeholder(tf.float32)
        assign = tf.assign(program.v, value, validate_shape=False)
        assert assign.shape.ndims is None
        assert program.v.shape == [1, 4, 4, 1]
        program.session.run(assign, {value: np.ones([1, 5, 5, 1])})
        assert program.found() == [49.0, 10.0, 1.0, 1300.0, 4.0]
        program.session.run(assign, {value: np.ones([2, 7, 3, 1])})
        assert program.found() == [80.0, 10.0, 1.0, 2184.0, 4.0]
        program.session.close()


def test_a_loop_that_makes_the_variable_longer() -> None:
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer(), use_resource=False)

    def longer(i: Any) -> Any:
        assign = tf.assign(v, tf.ones(tf.stack([i + 4])), validate_shape=False)
        with tf.control_dependencies([assign]):
            return i + 1

    both = tf.concat([v, v], 0)
    size = make("Size", both)  # ``tf.size`` is a constant where the shape is declared
    loop = tf.while_loop(lambda i: i < 3, longer, [0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(both).tolist() == [0.0] * 6
        assert session.run(size) == 6
        session.run(loop)
        assert session.run(both).tolist() == [1.0] * 12
        assert session.run(size) == 12


def test_other_variables_keep_their_programs() -> None:
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.explain(tf.shape(v))
        tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)  # the shape that it has
        tf.assign(
            tf.Variable([1.0], use_resource=False), tf.placeholder(tf.float32), validate_shape=False
        )
        assert session.explain(tf.shape(v)) == before


def test_an_assignment_is_checked_against_what_the_variable_holds() -> None:
    v = tf.Variable([1.0, 2.0], use_resource=False)
    value = tf.placeholder(tf.float32)
    free, checked = tf.assign(v, value, validate_shape=False), tf.assign(v, value)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(free, {value: [1.0, 2.0, 3.0]}).tolist() == [1.0, 2.0, 3.0]
        both = r"both tensors to match. lhs shape= \[3\] rhs shape= \[2\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=both):
            session.run(checked, {value: [5.0, 5.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=both):
            session.run(v.initializer)
        assert session.run(checked, {value: [5.0, 6.0, 7.0]}).tolist() == [5.0, 6.0, 7.0]
