"""Decisions of the planner, seen in the plan: what dies where, what is overwritten or copied."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.compiler.codegen.lines import Line, Plan
from penstock.compiler.codegen.plan import make_plan
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.build import make


def _plan(fetches: list[Any], feeds: tuple[Any, ...] = (), run: tuple[Any, ...] = ()) -> Plan:
    return make_plan(prune(tf.get_default_graph(), feeds, fetches, run))


def _line(plan: Plan, name: str) -> Line:
    return next(line for line in plan.lines if line.op.name == name)


def _x(shape: Any = (2, 3)) -> Any:
    return tf.placeholder(tf.float32, shape, name="x")


def test_each_temporary_dies_at_its_last_use_and_only_there() -> None:
    x = _x()
    a = tf.exp(x, name="a")
    b = tf.tanh(a, name="b")
    c = tf.add(a, b, name="c")
    plan = _plan([tf.reduce_sum(c), b], (x,))
    released = [[t.op.name for t in line.releases] for line in plan.lines]
    names = [line.op.name for line in plan.lines]
    assert released[names.index("b")] == []
    assert "a" in released[names.index("c")] and "b" not in sum(released, [])
    assert sum(released, []).count("a") == sum(released, []).count("c") == 1


def test_a_dying_temporary_is_overwritten() -> None:
    x = _x()
    plan = _plan([tf.negative(tf.exp(x), name="n")], (x,))
    assert _line(plan, "n").overwrites == "{x}.neg_()"


def test_what_others_hold_is_never_overwritten() -> None:
    x, v = _x(), tf.Variable(np.ones((2, 3), np.float32))
    constant = tf.constant(np.ones((2, 3), np.float32))
    for value in (x, v._ref(), constant, tf.identity(x), tf.reshape(x, [3, 2])):
        node = tf.negative(value)
        assert _line(_plan([node], (x,)), node.op.name).overwrites is None


def test_what_is_needed_later_is_not_overwritten() -> None:
    x = _x()
    a = tf.exp(x)
    view = tf.reshape(a, [6])
    n = tf.negative(a, name="n")
    for later in (a, view, tf.tanh(view)):
        assert _line(_plan([n, later], (x,)), "n").overwrites is None
    assert _line(_plan([n], (x,)), "n").overwrites


def test_views_are_not_written_through() -> None:
    x = _x()
    n = tf.negative(tf.transpose(tf.exp(x)), name="n")
    assert _line(_plan([n], (x,)), "n").overwrites is None


def test_an_operand_that_broadcasts_or_may_is_not_the_result() -> None:
    row, x = tf.placeholder(tf.float32, [3]), _x()
    unknown = tf.placeholder(tf.float32)
    for other in (x, unknown):
        node = tf.add(tf.exp(row), other)
        assert _line(_plan([node], (row, x, unknown)), node.op.name).overwrites is None
    node = tf.add(tf.exp(x), row)
    assert _line(_plan([node], (row, x)), node.op.name).overwrites == "{x}.add_({y})"
    node = tf.add(tf.exp(unknown), tf.constant(1.0))
    assert _line(_plan([node], (unknown,)), node.op.name).overwrites


def test_one_value_on_both_sides_is_not_overwritten() -> None:
    x = _x([2, 2])
    e = tf.exp(x)
    for other in (e, tf.transpose(e)):
        node = tf.multiply(e, other)
        assert _line(_plan([node], (x,)), node.op.name).overwrites is None


def _update(v: Any, after: list[Any]) -> Any:
    with tf.control_dependencies(after):
        return tf.assign_add(v, [1.0, 1.0]).op


def test_a_read_copies_only_if_it_is_used_after_a_write() -> None:
    v = tf.Variable([1.0, 2.0])
    early = tf.exp(v._ref(), name="early")
    write = _update(v, [early])
    plan = _plan([early], run=(write,))
    assert not _line(plan, "early").reads[0].copies
    kept = tf.identity(v._ref(), name="kept")
    later = _update(v, [kept])
    plan = _plan([kept], run=(later,))
    assert _line(plan, "kept").reads[0].copies


def test_a_variable_is_read_again_after_a_write() -> None:
    v = tf.Variable([1.0, 2.0])
    first = tf.exp(v._ref(), name="first")
    second = tf.tanh(v._ref(), name="second")
    write = _update(v, [first, second])
    with tf.control_dependencies([write]):
        third = tf.sin(v._ref(), name="third")
    plan = _plan([first, second, third])
    assert _line(plan, "first").reads and not _line(plan, "second").reads
    assert _line(plan, "third").reads[0] is not _line(plan, "first").reads[0]


def test_fetches_that_share_memory_or_belong_to_others_are_copied() -> None:
    x = _x()
    e = tf.exp(x)
    plan = _plan([e, tf.reshape(e, [6]), x, tf.constant(1.0), tf.sin(x)], (x,))
    assert plan.fetch_copies == [False, True, True, True, False]


def test_what_a_stack_holds_is_not_overwritten() -> None:
    x = _x()
    stack = make("StackV2", tf.constant(-1), elem_type=tf.float32)
    e = tf.exp(x)
    pushed = make("StackPushV2", stack, tf.reshape(e, [6]))
    with tf.control_dependencies([pushed]):
        n = tf.negative(e, name="n")
        popped = make("StackPopV2", stack, elem_type=tf.float32)
    popped.set_shape([6])
    p = tf.negative(popped, name="p")
    plan = _plan([n, p, popped], (x,))
    assert _line(plan, "n").overwrites is None and _line(plan, "p").overwrites is None
    assert plan.fetch_copies == [False, False, True]


def test_a_variable_that_a_stack_holds_is_copied_if_a_write_follows() -> None:
    v = tf.Variable([1.0, 2.0])
    stack = make("StackV2", tf.constant(-1), elem_type=tf.float32)
    pushed = make("StackPushV2", stack, v._ref(), name="push")
    with tf.control_dependencies([pushed]):
        popped = make("StackPopV2", stack, elem_type=tf.float32)
    assert not _line(_plan([popped]), "push").reads[0].copies
    assert _line(_plan([popped], run=(_update(v, [popped]),)), "push").reads[0].copies
