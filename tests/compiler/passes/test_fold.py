"""Constant folding: what is known before the step, and what must be left to it."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from tests.compiler.passes.rewriting import agree, rewritten, types


def test_pure_nodes_of_constants_become_constants() -> None:
    y = tf.reduce_sum(tf.exp(tf.constant([0.0, 0.0])))
    step = rewritten([y])
    assert [op.type for op in step.operations] == ["Const"]
    assert step.operations[0].attrs["value"] == np.float32(2.0)
    assert step.operations[0].name == y.op.name
    agree([y])


def test_several_outputs_fold_together() -> None:
    first, second = tf.split(tf.constant([1, 2, 3, 4]), 2)
    assert types(rewritten([first, second])) == []
    agree([first, second])


def test_random_and_stateful_nodes_are_left() -> None:
    v = tf.Variable(1.0)
    assert types(rewritten([tf.random_uniform([2])])) != []
    assert types(rewritten([tf.add(v._ref(), 1.0)])) == ["Add"]


def test_large_results_are_left() -> None:
    y = tf.fill([3 << 20], 1.0)
    assert types(rewritten([y])) == ["Fill"]


def test_a_node_that_fails_is_left_to_say_so_itself() -> None:
    y = tf.floordiv(tf.constant([1]), tf.constant([0]), name="quotient")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="quotient"):
        sess.run(y)


def test_what_waits_for_an_update_still_makes_it_run() -> None:
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign(v, 5.0).op]):
        c = tf.constant(1.0)
    x = tf.placeholder_with_default(3.0, [])
    for y in (tf.add(c, 2.0), tf.multiply(x, c), tf.multiply(c, x), tf.expand_dims(c, 0)):
        assert "Assign" in types(rewritten([y]))
        assert agree([y], variables=[v])[-1] == 5.0
