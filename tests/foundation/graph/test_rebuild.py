"""The rebuilder: what it carries from old nodes to new ones."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify


def _step() -> StepGraph:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.device("/cpu:0"):
        y = tf.exp(x, name="y")
    v = tf.Variable(0.0, name="v")
    one = tf.constant(1.0)
    with tf.control_dependencies([y]):
        write = tf.assign(v, one, name="write")
    return prune(tf.get_default_graph(), [x], [y], [write.op])


def test_copies_carry_names_devices_lines_and_controls() -> None:
    old = _step()
    new = verify(Rebuilder(old).run(lambda _, __: None, changes_all=True), "copying")
    assert [op.name for op in new.operations] == [op.name for op in old.operations]
    for before, after in zip(old.operations, new.operations, strict=True):
        assert before is not after
        assert (before.device, before.origin) == (after.device, after.origin)
        assert [c.name for c in before.control_inputs] == [c.name for c in after.control_inputs]
    assert new.feed_names == old.feed_names


def test_a_step_that_no_rule_changes_is_not_copied() -> None:
    old = _step()
    assert Rebuilder(old).run(lambda _, __: None) is old
    assert Rebuilder(old).run(lambda r, op: None if r.inputs(op) else None) is old


def test_nodes_that_stay_as_they_are_are_shared() -> None:
    old = _step()
    new = Rebuilder(old).run(
        lambda r, op: [r.make("Sin", r[op.inputs[0]])] if op.type == "Exp" else None
    )
    changed = {"y"}
    for before in old.operations:
        after = new.graph.get_operation_by_name(before.name)
        needed = [t.op for t in before.inputs] + list(before.control_inputs)
        if before.name in changed or any(n.name in changed for n in needed):
            changed.add(before.name)
            assert after is not before
        else:
            assert after is before
    assert len(changed) > 1  # what needs a node that changed is another, too


def test_a_node_of_steps_belongs_to_no_graph_and_its_users_are_asked_of_the_step() -> None:
    old = _step()
    new = Rebuilder(old).run(lambda r, op: r.inputs(op) if op.type == "Exp" else None)
    feed = old.feeds[0]
    assert new.feeds[0] is feed
    assert [op.type for op in old.uses(feed)] == ["Exp"]
    assert new.uses(feed) == [] and feed.uses == []
    with pytest.raises(RuntimeError, match="finalized"):
        tf.identity(feed)


def test_nodes_before_the_first_that_changes_are_asked_about_once() -> None:
    old = _step()
    last = old.operations[-1].name
    asked = []

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        asked.append(op.name)
        return rebuilder.copy(op).outputs if op.name == last else None

    new = verify(Rebuilder(old).run(rule), "changing the last")
    assert [op.name for op in new.operations] == [op.name for op in old.operations]
    assert [a is b for a, b in zip(old.operations, new.operations, strict=True)][-1] is False
    assert asked == [*(op.name for op in old.operations), last]  # the last again, for new nodes


def test_what_replaces_a_node_takes_its_name_device_line_and_dependents() -> None:
    old = _step()
    new = Rebuilder(old).run(
        lambda r, op: [r.make("Sin", r[op.inputs[0]])] if op.type == "Exp" else None
    )
    sin = new.graph.get_operation_by_name("y")
    assert sin.type == "Sin" and sin.device == "/device:CPU:0"
    assert sin.origin == old.graph.get_operation_by_name("y").origin
    assert new.fetches == [sin.outputs[0]]
    assert sin in new.graph.get_operation_by_name("write").control_inputs


def test_dependents_of_a_bypassed_node_depend_on_what_stands_for_it() -> None:
    old = _step()
    new = Rebuilder(old).run(lambda r, op: r.inputs(op) if op.type == "Exp" else None)
    write = new.graph.get_operation_by_name("write")
    assert [c.type for c in write.control_inputs] == ["_Feed"]


def test_shapes_are_inferred_again_where_more_is_known() -> None:
    old = _step()
    rebuilder = Rebuilder(old)
    for op in old.operations:
        new = rebuilder.copy(op)
        if op.type == "_Feed":
            new.outputs[0].sizes = (7,)
    assert rebuilder.finish().fetches[0].sizes == (7,)


def test_a_rule_may_not_carry_a_read_past_a_write() -> None:
    v = tf.Variable(0.0, name="v")
    old = tf.negative(v._ref(), name="old")
    with tf.control_dependencies([old]):
        write = tf.assign(v, 1.0)
    with tf.control_dependencies([write]):
        zero = tf.constant(0.0)
    total = tf.add(old, zero, name="total")
    step = prune(tf.get_default_graph(), [], [total], [])

    def bypass(rebuilder: Rebuilder, op: tf.Operation) -> list[tf.Tensor] | None:
        return rebuilder.inputs(op) if op.name == "old" else None

    def move(rebuilder: Rebuilder, op: tf.Operation) -> list[tf.Tensor] | None:
        if op.name != "total":
            return None
        moved = rebuilder[old_in_step.inputs[0]]
        return [rebuilder.make("Add", moved, rebuilder[op.inputs[1]])]

    old_in_step = step.graph.get_operation_by_name("old")
    for rule in (bypass, move):
        names = [op.name for op in verify(Rebuilder(step).run(rule), "moving").operations]
        assert names == [op.name for op in step.operations]
