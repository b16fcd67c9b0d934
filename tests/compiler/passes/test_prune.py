"""Pruning: only what is needed, fed tensors cut off, an order that always holds."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.compiler.passes.prune import drop_dead, prune
from penstock.foundation.graph.text import step_text


def test_a_step_holds_only_what_it_needs() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.exp(x, name="y")
    tf.sin(y, name="unused")
    assert step_text(prune(tf.get_default_graph(), [x], [y], [])) == (
        "_feed/x: float32(?,) = _Feed() {dtype=float32, shape=(?,), index=0}\n"
        "y: float32(?,) = Exp(_feed/x)\n"
        "fetch y\n"
    )


def test_what_makes_a_fed_tensor_is_cut_off() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.exp(x, name="y")
    z = tf.sin(y, name="z")
    step = prune(tf.get_default_graph(), [y], [z], [])
    assert [op.name for op in step.operations] == ["_feed/y", "z"]
    assert step.feed_names == ["y:0"]


def test_one_fed_output_leaves_the_others_computed() -> None:
    first, second = tf.split(tf.placeholder(tf.float32, [4], name="x"), 2, name="s")
    step = prune(tf.get_default_graph(), [first], [tf.add(first, second, name="sum")], [])
    assert [t.op.type for t in step.graph.get_operation_by_name("sum").inputs] == [
        "_Feed", "Split"
    ]  # fmt: skip


def test_control_inputs_are_needed_too() -> None:
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([tf.assign(v, 2.0, name="set").op]):
        y = tf.constant(3.0, name="y")
    names = [op.name for op in prune(tf.get_default_graph(), [], [y], []).operations]
    assert names.index("set") < names.index("y")


def test_fetching_a_fed_tensor_needs_nothing() -> None:
    y = tf.exp(tf.placeholder(tf.float32, [], name="x"), name="y")
    step = prune(tf.get_default_graph(), [y], [y], [])
    assert [op.type for op in step.operations] == ["_Feed"]


def test_the_order_is_mended_where_a_control_edge_was_added_later() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.constant(2.0, name="b")
    a.op._add_control_inputs([b.op])
    names = [op.name for op in prune(tf.get_default_graph(), [], [a], []).operations]
    assert names == ["b", "a"]


def test_cycles_are_refused() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.negative(a, name="b")
    a.op._add_control_inputs([b.op])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
        prune(tf.get_default_graph(), [], [b], [])


def test_drop_dead_keeps_feeds_and_nothing_else_unneeded() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.exp(x, name="y")
    step = prune(tf.get_default_graph(), [x], [y], [])
    assert drop_dead(step) is step
