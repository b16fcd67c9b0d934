"""Nodes of steps on the way are freed by reference counts, and none that a program has."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.passes.inside import sink_constants
from penstock.compiler.passes.prune import drop_dead, prune
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph, intermediate_steps


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _pruned() -> StepGraph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        factor = tf.constant(2.0)
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.exp(x) * factor, lambda: x - factor)
        z = tf.tanh(y, name="z")
    return prune(graph, [x], [z], [])


def _copied(step: StepGraph) -> StepGraph:
    return Rebuilder(step).run(lambda _, __: None, changes_all=True)


def test_nodes_on_the_way_are_freed_without_the_collector() -> None:
    with intermediate_steps() as made:
        first = _pruned()
        second = _copied(first)
        last = sink_constants(_copied(second))
        refs = [weakref.ref(op) for step in (first, second) for op in step.every_operation()]
        own = [weakref.ref(op) for op in last.every_operation()]
        made.let_go(last.operations)
    del first, second
    kept = {ref() for ref in own}
    assert None not in kept
    assert [op for ref in refs if (op := ref()) is not None and op not in kept] == []


def test_nodes_that_are_kept_and_those_behind_them_stay_whole() -> None:
    with intermediate_steps() as made:
        last = drop_dead(sink_constants(_copied(_pruned())))
        before = {op: list(op.outputs) for op in last.every_operation()}
        made.let_go([last.fetches[0].op])
    assert any(blocks_of(op) for op in before)
    assert all(op.outputs == outputs for op, outputs in before.items())


def test_others_steps_are_left_alone() -> None:
    earlier = _pruned()
    there: list[StepGraph] = []
    with intermediate_steps() as made:
        with intermediate_steps():
            inner = _pruned()
        thread = threading.Thread(target=lambda: there.append(_pruned()))
        thread.start()
        thread.join()
        made.let_go([])
    for step in (earlier, inner, *there):
        assert all(op.outputs for op in step.operations)


@pytest.mark.long
def test_compiling_leaves_no_nodes_to_the_collector() -> None:
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.BasicLSTMCell(3)
        inputs = [tf.placeholder(tf.float32, [2, 3]) for _ in range(4)]
        lengths = tf.placeholder(tf.int32, [2])
        outputs, _ = tf.nn.static_rnn(cell, inputs, dtype=tf.float32, sequence_length=lengths)
        loss = tf.add_n([tf.reduce_sum(output) for output in outputs])
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            gc.collect()
            feed = {**dict.fromkeys(inputs, np.ones((2, 3))), lengths: [4, 2]}
            gc.set_debug(gc.DEBUG_SAVEALL)
            try:
                session.run([loss, train], feed)
                gc.collect()
                found = [each for each in gc.garbage if isinstance(each, Operation)]
            finally:
                gc.set_debug(0)
                gc.garbage.clear()
    assert found == []
