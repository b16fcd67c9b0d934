"""Control flow made structured: regions recovered from primitives, and what does not nest."""

from __future__ import annotations

import math
from typing import Any

import pytest

import penstock as tf
from penstock.compiler.passes.frames import Unstructured
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.text import step_text
from penstock.ops.control import control_flow as primitives
from tests.compiler.passes.rewriting import rewritten


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as one:
        yield one


def _pruned(*fetches: Any, feeds: Any = (), run: Any = ()) -> StepGraph:
    return prune(tf.get_default_graph(), list(feeds), list(fetches), list(run))


def _regions(step: StepGraph) -> list[Operation]:
    return [op for op in step.operations if blocks_of(op)]


def _types(step: StepGraph) -> list[str]:
    return [op.type for op in step.operations if op.type not in ("_Feed", "Const")]


def test_a_conditional_becomes_one_region() -> None:
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.sin(x), lambda: x * x)
    step = rewritten([y], [x, p])
    (region,) = _regions(step)
    then, orelse = blocks_of(region)
    assert (region.type, _types(then), _types(orelse)) == ("_If", ["Sin"], ["Mul"])
    assert y.name not in [op.name for op in step.operations]


def test_conditions_on_one_predicate_share_a_region() -> None:
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.sin(x), lambda: x * x)
    z = tf.cond(p, lambda: tf.cos(x), lambda: x + x)
    step = rewritten([y, z], [x, p])
    assert [len(op.outputs) for op in _regions(step)] == [2]


def test_a_conditions_gradient_uses_what_its_branch_made() -> None:
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.exp(x), lambda: x * x)
    (grad,) = tf.gradients(tf.reduce_sum(y * y), x)
    step = rewritten([grad], [x, p])
    first, second = _regions(step)
    assert "Exp" in _types(blocks_of(first)[0])
    assert "Exp" not in _types(blocks_of(second)[0])
    # The side that does not make it has a dead value in its place.
    assert "_Dead" in _types(blocks_of(first)[1])


def test_a_loop_becomes_one_region_with_its_test_apart() -> None:
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2.0), [0, 1.0])
    step = rewritten([y], [n])
    (region,) = _regions(step)
    condition, body = blocks_of(region)
    assert (region.type, _types(condition), _types(body)) == ("_While", ["Less"], ["AddV2", "Mul"])


def test_the_gradient_of_a_trained_first_state_is_a_loop() -> None:
    """It leaves the loop and goes on in it: between Switch and Exit stands an Identity."""
    n, first = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y)), [0, first])
    # As an optimizer asks: the gradients of a node's inputs wait for each other.
    (grad,) = tf.gradients(y, first, gate_gradients=True)
    step = rewritten([grad], [n, first])
    assert [region.type for region in _regions(step)] == ["_While", "_While"]
    with tf.Session() as session:
        found = session.run(grad, {n: 2, first: 0.5})
    assert found == pytest.approx(math.cos(0.5) * math.cos(math.sin(0.5)), rel=1e-6)


def test_regions_nest_as_the_program_does() -> None:
    x = tf.placeholder(tf.float32, [])

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(y > 3.0, lambda: y - 1.0, lambda: y + x)

    _, y = tf.while_loop(lambda i, y: i < 5, body, [0, x])
    (loop,) = _regions(rewritten([y], [x]))
    (branch,) = _regions(blocks_of(loop)[1])
    assert branch.type == "_If"
    assert _regions(blocks_of(branch)[0]) == []


def test_a_variable_is_named_in_the_region_that_writes_it() -> None:
    v = tf.Variable(1.0, name="v")
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.assign_add(v, 1.0), lambda: tf.identity(v) * 2.0)
    (region,) = _regions(_pruned(y, feeds=[p]))
    assert region.op_def.effect
    assert [t.op.name for t in region.inputs_by_name()["writes"]] == ["v"]


def test_constants_move_into_blocks_and_unused_values_stay_out() -> None:
    p = tf.placeholder(tf.bool, [])
    c = tf.constant([1.0, 2.0])
    y = tf.cond(p, lambda: c * 2.0, lambda: c + c)
    (region,) = _regions(rewritten([y], [p]))
    assert region.inputs_by_name()["args"] == []
    # The whole of both sides folds.
    assert [_types(block) for block in blocks_of(region)] == [[], []]


def test_shapes_that_are_fed_are_known_inside() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.nn.relu(y)), [0, x])
    (loop,) = _regions(rewritten([y], [x], shapes=[(5, 3)]))
    assert blocks_of(loop)[1].fetches[1].sizes == (5, 3)
    assert loop.outputs[1].sizes == (5, 3)


def test_a_shape_that_changes_from_round_to_round_stays_open() -> None:
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    (loop,) = _regions(rewritten([y], [x], shapes=[(5,)]))
    assert blocks_of(loop)[1].fetches[1].sizes == (None,)


def test_what_is_popped_has_the_shape_of_what_was_pushed() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.exp(y) * x), [0, x])
    (grad,) = tf.gradients(y, x)
    backward = _regions(rewritten([grad], [x], shapes=[(4, 2)]))[-1]
    pops = [op for op in blocks_of(backward)[1].operations if op.type == "StackPopV2"]
    # One for the values; shapes, which are known, are on no stack.
    assert [op.outputs[0].sizes for op in pops] == [(4, 2)]


def test_a_stack_that_the_user_reads_stays() -> None:
    handle = make("StackV2", 5, elem_type=tf.float32)
    pushed = make("StackPushV2", handle, [1.0, 2.0])
    with tf.control_dependencies([pushed]):
        popped = make("StackPopV2", handle, elem_type=tf.float32)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: popped, lambda: popped * 2.0)
    assert "StackPopV2" in _types(rewritten([y], [p]))


def test_the_text_of_a_step_shows_blocks() -> None:
    p = tf.placeholder(tf.bool, [], "p")
    x = tf.placeholder(tf.float32, [], "x")
    text = step_text(_pruned(tf.cond(p, lambda: tf.sin(x), lambda: x, name="choice"), feeds=[p, x]))
    assert "  then\n" in text
    assert "Sin(" in text.split("  then\n")[1].split("  else\n")[0]


# ---- what does not nest --------------------------------------------------------------------------


def test_a_merge_of_two_living_values_does_not_nest() -> None:
    merged, _ = primitives.merge([tf.placeholder(tf.float32, []), tf.constant(2.0)])
    with pytest.raises(Unstructured, match="not two sides of one condition"):
        _pruned(merged, feeds=[merged.op.inputs[0]])


def test_sides_of_different_conditions_do_not_nest() -> None:
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    _, yes = primitives.switch(tf.constant(1.0), p)
    no, _ = primitives.switch(tf.constant(2.0), q)
    merged, _ = primitives.merge([no, yes])
    with pytest.raises(Unstructured, match="not two sides of one condition"):
        _pruned(merged, feeds=[p, q])


def test_what_waits_in_a_loop_for_what_leaves_it_does_not_nest() -> None:
    first = primitives.enter(tf.constant(0), "loop")
    merged, _ = primitives.merge([first, first])
    one, limit = (primitives.enter(tf.constant(v), "loop", is_constant=True) for v in (1, 3))
    test = primitives.loop_cond(merged < limit)
    done, more = primitives.switch(merged, test)
    leaving = tf.identity(done)
    following = more + one
    following.op._add_control_input(leaving.op)
    merged.op._update_input(1, primitives.next_iteration(following))
    with pytest.raises(Unstructured, match="what leaves loop 'loop' is used in it"):
        rewritten([primitives.exit_(leaving)])


def test_a_value_of_another_frame_is_refused() -> None:
    inside = primitives.enter(tf.constant(1.0), "loop")
    mixed = tf.add(inside, tf.constant(2.0), name="mixed")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'mixed' are in different loops"):
        _pruned(mixed)


def test_a_fetch_inside_a_loop_is_refused_with_its_loop(graph: Any) -> None:
    inner: list[Any] = []

    def body(i: Any) -> Any:
        inner.append(tf.add(i, 1, name="step"))
        return inner[0]

    tf.while_loop(lambda i: i < 3, body, [0], name="count")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"inside loop 'count/.*fetch what"):
        _pruned(inner[0])


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_is_fed_before_a_conditional_decides_it(use_resource: bool) -> None:
    """Also where the fed node is an identity, which a predicate is seen through else."""
    with tf.Graph().as_default():
        training = tf.identity(tf.Variable(True, use_resource=use_resource))
        chosen = tf.cond(training, lambda: tf.constant(1), lambda: tf.constant(2))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(chosen) == 1
            assert session.run(chosen, {training: False}) == 2
            assert session.run(chosen, {training: True}) == 1


def test_strings_of_variables_leave_a_branch() -> None:
    with tf.Graph().as_default():
        first, second = (tf.Variable(text, use_resource=True) for text in ("a", "b"))
        taken = tf.placeholder(tf.bool, [])
        chosen = tf.cond(taken, first.read_value, second.read_value)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(chosen, {taken: True}) == b"a"
            assert session.run(chosen, {taken: False}) == b"b"
