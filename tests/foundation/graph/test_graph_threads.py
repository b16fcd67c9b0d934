"""A graph that some threads build while others write it out or run it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import penstock as tf
from penstock.library.control_flow.context import CondContext

_BUILDERS = 4
_LOOPS = 6


def _missing(message: Any) -> list[str]:
    """What nodes of a GraphDef take that it does not have."""
    names = {node.name for node in message.node}
    taken = {text.lstrip("^").partition(":")[0] for node in message.node for text in node.input}
    return sorted(taken - names)


def _loop_and_gradient(start: Any) -> Any:
    _, result = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x * start), [tf.constant(0), start]
    )
    return tf.gradients(result, start)[0]


class _Pausing(CondContext):
    """A branch that lets another thread write the graph out between a node and its Switch."""

    def __init__(self, graph: Any, *args: Any) -> None:
        super().__init__(*args)
        self.graph = graph
        self.messages: list[Any] = []
        self.thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        self.messages.append(self.graph.as_graph_def())

    def AddOp(self, op: Any) -> None:
        if op.name == "half":
            self.thread.start()
            self.thread.join(0.2)  # it must still wait, for this node to be whole
        super().AddOp(op)


def test_a_half_made_node_is_not_written() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x, pred = tf.constant(1.0), tf.constant(True)
        pivot = tf.identity(pred)
        branch = _Pausing(graph, pred, pivot, 1)
        branch.Enter()
        tf.negative(x, name="half")
        branch.Exit()
    branch.thread.join()
    (message,) = branch.messages
    node = next(node for node in message.node if node.name == "half")
    assert node.input[0] != x.op.name  # the branch's Switch stands between them
    assert _missing(message) == []


def test_graphs_written_beside_builders_are_whole() -> None:
    graph = tf.Graph()
    with graph.as_default():
        start = tf.placeholder(tf.float32, [])
    failed: list[BaseException] = []

    def build() -> None:
        try:
            with graph.as_default():
                for _ in range(_LOOPS):
                    _loop_and_gradient(start)
        except BaseException as error:
            failed.append(error)

    builders = [threading.Thread(target=build) for _ in range(_BUILDERS)]
    for thread in builders:
        thread.start()
    missing: list[str] = []
    while any(thread.is_alive() for thread in builders):
        missing += _missing(graph.as_graph_def())
    for thread in builders:
        thread.join()
    assert not failed
    assert missing == []
    assert _missing(graph.as_graph_def()) == []


@pytest.mark.parametrize("remote", [False, True])
def test_steps_run_while_others_build(remote: bool) -> None:
    graph = tf.Graph()
    with graph.as_default():
        start = tf.placeholder(tf.float32, [])
        ready = _loop_and_gradient(start)
    failed: list[BaseException] = []
    target = tf.train.Server({"alone": ["localhost:0"]}).target if remote else ""
    with tf.Session(target, graph=graph) as session:

        def build() -> None:
            try:
                with graph.as_default():
                    for _ in range(_LOOPS):
                        made = _loop_and_gradient(start)
                        assert session.run(made, {start: 2.0}) == 32.0
            except BaseException as error:
                failed.append(error)

        builders = [threading.Thread(target=build) for _ in range(_BUILDERS)]
        for thread in builders:
            thread.start()
        while any(thread.is_alive() for thread in builders):
            assert session.run(ready, {start: 2.0}) == 32.0
        for thread in builders:
            thread.join()
    assert not failed
