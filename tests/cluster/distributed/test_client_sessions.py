"""Clients' sessions at a server: what one thread does while another changes the graph."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed import rpc, tensor_codec
from penstock.cluster.distributed.security import Security
from penstock.foundation.formats import cluster_messages as messages
from tests.suite.clock import PATIENCE


def _graph(value: float) -> bytes:
    with tf.Graph().as_default() as graph:
        tf.constant(value, name="c")
    data: bytes = graph.as_graph_def().SerializeToString()
    return data


def _values(response: Any) -> list[float]:
    return [tensor_codec.decode(value).item() for value in response.values]


def test_a_step_that_is_prepared_runs_after_its_graph_was_replaced() -> None:
    server = tf.train.Server.create_local_server()
    stub = rpc.Stub(server.target.partition("://")[2], "Master", "the server", Security())
    session = stub.create_session(
        messages.CreateSessionRequest(graph=_graph(1.0)), timeout=PATIENCE
    ).session
    prepare = messages.PrepareStepRequest(session=session, fetches=["c:0"])
    old = stub.prepare_step(prepare, timeout=PATIENCE).step
    stub.extend_session(
        messages.ExtendSessionRequest(session=session, graph=_graph(2.0)), timeout=PATIENCE
    )
    new = stub.prepare_step(prepare, timeout=PATIENCE).step
    ran = [
        stub.run_step(messages.RunStepRequest(session=session, step=step), timeout=PATIENCE)
        for step in (old, new)
    ]
    assert [_values(each) for each in ran] == [[1.0], [2.0]]
    stub.close()
    server.stop()


def _nodes(*names: str) -> bytes:
    with tf.Graph().as_default() as graph:
        for name in names:
            tf.constant(1.0, name=name)
    data: bytes = graph.as_graph_def().SerializeToString()
    return data


def test_nodes_that_came_by_a_request_without_an_answer_are_taken_once() -> None:
    server = tf.train.Server.create_local_server()
    stub = rpc.Stub(server.target.partition("://")[2], "Master", "the server", Security())
    session = stub.create_session(
        messages.CreateSessionRequest(graph=_nodes("a")), timeout=PATIENCE
    ).session

    def extended(*names: str) -> int:
        request = messages.ExtendSessionRequest(session=session, graph=_nodes(*names), nodes=1)
        nodes: int = stub.extend_session(request, timeout=PATIENCE).nodes
        return nodes

    assert [extended("b"), extended("b"), extended("b", "c"), extended("b")] == [2, 2, 3, 3]
    for names in (("other",), ("b", "other")):
        with pytest.raises(tf.errors.AbortedError, match="3 nodes here and 1 at the client"):
            extended(*names)
    stub.close()
    server.stop()
