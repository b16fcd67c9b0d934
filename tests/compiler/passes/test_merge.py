"""Common subexpressions."""

from __future__ import annotations

import numpy as np

import penstock as tf
from tests.compiler.passes.rewriting import agree, rewritten, types


def _x() -> tf.Tensor:
    return tf.placeholder(tf.float32, [2], name="x")


def test_equal_nodes_are_computed_once() -> None:
    x = _x()
    y = tf.add(tf.exp(tf.sin(x)), tf.exp(tf.sin(x)))
    assert types(rewritten([y], [x])) == ["Sin", "Exp", "Add"]
    agree([y], {x: [1, 2]})


def test_operands_of_commutative_nodes_may_be_swapped() -> None:
    x = _x()
    e = tf.exp(x)
    both = [tf.multiply(x, e), tf.multiply(e, x)]
    assert types(rewritten(both, [x])).count("Mul") == 1
    other = [tf.subtract(x, e), tf.subtract(e, x)]
    assert types(rewritten(other, [x])).count("Sub") == 2
    agree(both + other, {x: [1, 2]})


def test_other_attrs_and_constants_are_other_nodes() -> None:
    x = _x()
    rows = tf.stack([x, x])
    sums = [tf.reduce_sum(rows, 0), tf.reduce_sum(rows, 1), tf.reduce_sum(rows, 0, keepdims=True)]
    assert types(rewritten(sums, [x])).count("Sum") == 3
    signs = [tf.realdiv(x, tf.constant(0.0)), tf.realdiv(x, tf.constant(-0.0))]
    assert types(rewritten(signs, [x])).count("RealDiv") == 2
    assert agree(signs, {x: [1, 1]})[1].tolist() == [-np.inf, -np.inf]


def test_random_nodes_and_updates_are_not_merged() -> None:
    v = tf.Variable([0.0, 0.0])
    draws = [tf.random_uniform([2]), tf.random_uniform([2])]
    assert types(rewritten(draws)).count("RandomUniform") == 2
    adds = [tf.assign_add(v, [1.0, 1.0]).op for _ in range(2)]
    assert types(rewritten([], run=adds)) == ["AssignAdd", "AssignAdd"]
    assert agree(adds, variables=[v])[-1].tolist() == [2.0, 2.0]


def test_control_inputs_keep_nodes_apart() -> None:
    v = tf.Variable([1.0, 1.0])
    before = tf.exp(v._ref())
    with tf.control_dependencies([before]):
        write = tf.assign(v, [0.0, 0.0])
    with tf.control_dependencies([write]):
        after = tf.exp(v._ref())
    values = agree([before, after])
    assert values[1].tolist() == [1.0, 1.0] and values[0][0] > 2
