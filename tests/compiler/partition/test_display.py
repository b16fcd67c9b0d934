"""Partition graphs: a GraphDef for each device, with what goes between."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.compiler.partition.display import device_graphs

CPU = "/job:localhost/replica:0/task:0/device:CPU"


def _traced(fetches: Any, feed: Any = None) -> list[Any]:
    config = tf.ConfigProto(device_count={"CPU": 2})
    metadata = tf.RunMetadata()
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        asked = tf.RunOptions(output_partition_graphs=True)
        sess.run(fetches, feed, options=asked, run_metadata=metadata)
    return list(metadata.partition_graphs)


def _program() -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        a = tf.exp(x, name="a")
        values, indices = tf.nn.top_k(a, name="top")
    with tf.device("/cpu:1"):
        b = tf.sin(a, name="b") * tf.cos(a, name="c")
        d = tf.gather(b, indices, name="d")
        w = tf.get_variable("w", initializer=np.zeros(2, np.float32), use_resource=False)
        update = tf.assign_add(w, b)
    with tf.device("/cpu:0"), tf.control_dependencies([update]):
        last = tf.tanh(values, name="last")
    return x, [d, last, update], a


def test_a_session_with_several_cpus_shows_a_graph_for_each() -> None:
    with tf.Graph().as_default():
        x, fetches, _ = _program()
        first, second = _traced(fetches, {x: [1.0, 2.0]})
    assert {n.device for n in first.node} == {f"{CPU}:0"}
    assert {n.device for n in second.node} == {f"{CPU}:1"}
    sends = {n.attr["tensor_name"].s: n for n in first.node if n.op == "_Send"}
    receives = {n.attr["tensor_name"].s: n for n in second.node if n.op == "_Recv"}
    assert set(sends) == set(receives)
    kinds = sorted(n.attr["T"].type for n in sends.values())
    assert tf.int32.as_datatype_enum in kinds, "the indices"
    of_a = [n for n in sends.values() if list(n.input) == ["a"]]
    assert len(of_a) == 1, "once for all its consumers there"
    (back,) = [n for n in second.node if n.op == "_Send"]
    (dummy,) = [n for n in second.node if n.name == back.input[0]]
    assert dummy.op == "Const" and dummy.input[0].startswith("^")
    names = [n.name for graph in (first, second) for n in graph.node]
    assert len(names) == len(set(names))
    for graph in (first, second):
        seen = {n.name for n in graph.node}
        for node in graph.node:
            assert {i.lstrip("^").partition(":")[0] for i in node.input} <= seen


def test_one_device_is_shown_as_it_is() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device(f"{CPU}:0"):
            tf.exp(tf.constant([1.0]))
    message = graph.as_graph_def()
    (only,) = device_graphs(message)
    assert only is message


def test_sends_and_receives_come_back_as_a_graph() -> None:
    """What is shown can be read again, as TensorBoard does."""
    with tf.Graph().as_default():
        x, fetches, _ = _program()
        for message in _traced(fetches, {x: [1.0, 2.0]}):
            text = str(message)
            assert 'op: "_Send"' in text and 'op: "_Recv"' in text
            assert type(message).FromString(message.SerializeToString()) == message
