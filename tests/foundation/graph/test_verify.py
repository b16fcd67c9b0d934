"""The verifier: each invariant, broken on purpose, is reported with its neighbourhood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.verify import verify


def _step() -> StepGraph:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.add(tf.exp(x, name="e"), v._ref(), name="y")
    write = tf.assign(v, y, name="write")
    return prune(tf.get_default_graph(), [x], [y], [write.op])


def _op(step: StepGraph, name: str) -> tf.Operation:
    return step.graph.get_operation_by_name(name)


def test_a_valid_step_is_returned() -> None:
    step = _step()
    assert verify(step, "prune") is step


def _out_of_order(step: StepGraph) -> StepGraph:
    step.operations.reverse()
    return step


def _too_few_inputs(step: StepGraph) -> StepGraph:
    y = _op(step, "y")
    y.inputs = y.inputs[:-1]
    return step


def _wrong_type(step: StepGraph) -> StepGraph:
    _op(step, "e").outputs[0].dtype = tf.int32
    return step


def _no_reference(step: StepGraph) -> StepGraph:
    write = _op(step, "write")
    write.inputs = (_op(step, "e").outputs[0], *write.inputs[1:])
    return step


def _feed_that_is_none(step: StepGraph) -> StepGraph:
    return replace(step, feeds=[_op(step, "e").outputs[0]])


def _foreign_fetch(step: StepGraph) -> StepGraph:
    return replace(step, fetches=[tf.constant(1.0)])


def _same_name(step: StepGraph) -> StepGraph:
    _op(step, "e").name = "y"
    return step


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_out_of_order, "does not stand before it"),
        (_too_few_inputs, "inputs"),
        (_wrong_type, "must be"),
        (_no_reference, "reference"),
        (_feed_that_is_none, "no _Feed"),
        (_foreign_fetch, "not in the step"),
        (_same_name, "shares its name"),
    ],
)
def test_violations(spoil: Callable[[StepGraph], StepGraph], reason: str) -> None:
    with pytest.raises(tf.errors.InternalError, match=reason) as info:
        verify(spoil(_step()), "a pass")
    assert str(info.value).startswith("after a pass")
