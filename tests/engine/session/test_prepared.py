"""What one session compiled, the next one of the same graph only links."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime.program import Program
from penstock.engine.session import prepared
from penstock.engine.session.build import build_program
from penstock.engine.session.options import Options, options_of


def _program(graph: Any, fetch: Any, options: Options | None = None) -> Program:
    return build_program(graph, [], [fetch], [], ResourceManager(), options or Options())


def test_sessions_share_sources_and_no_state() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0)
        step = tf.assign_add(v, 1.0)
        one, other = _program(graph, step), _program(graph, step)
        assert one.source is other.source and one.filename != other.filename
        with tf.Session() as first, tf.Session() as second:
            for session in (first, second):
                session.run(v.initializer)
            first.run(step)
            assert (first.run(step), second.run(step)) == (3.0, 2.0)


def test_a_changed_node_is_compiled_anew() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0]) * 2.0
        before = _program(graph, x)
        graph.note_mutation()
        after = _program(graph, x)
    assert before.source is not after.source


@pytest.mark.parametrize(
    "config",
    [
        tf.ConfigProto(
            graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
        ),
        tf.ConfigProto(device_count={"CPU": 2}),
        tf.ConfigProto(log_device_placement=True),
    ],
)
def test_other_options_are_another_matter(config: Any) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0]) * 2.0
        assert _program(graph, x).source is not _program(graph, x, options_of(config)).source


def test_the_dataflow_executor_is_asked_for() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        dataflow = dataclasses.replace(Options(), dataflow=True)
        _program(graph, x)
        assert "PENSTOCK_DATAFLOW=1" in _program(graph, x, dataflow).explain()


def test_errors_of_a_shared_source_name_the_node() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        y = tf.reshape(x, [2, 2], name="square")
        for _ in range(2):
            with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as found:
                session.run(y, {x: np.zeros(3, np.float32)})
            assert found.value.op is y.op


def test_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_MOST_NODES", 8)
    with tf.Graph().as_default() as graph:
        x = tf.random_uniform([2])
        steps = [tf.exp(x), tf.sin(x), tf.cos(x), tf.tanh(x)]
        made = [_program(graph, step).source for step in steps]
        again = [_program(graph, step).source for step in reversed(steps)]
    kept = [one is other for one, other in zip(reversed(made), again, strict=True)]
    assert kept[0] and not kept[-1]
