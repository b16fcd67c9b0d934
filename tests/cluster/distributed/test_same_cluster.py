"""Tasks that were started with different cluster specs refuse each other."""

from __future__ import annotations

import socket
from typing import Any

import pytest

import penstock as tf
from penstock.cluster.distributed.same_cluster import check_same_cluster
from penstock.foundation.formats import cluster_messages as messages

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
_SPEC = {"ps": ["a:1"], "worker": ["b:1", "c:1"]}


def _check(ours: Any, theirs: Any, answers: str = PS) -> None:
    cluster = tf.train.ClusterSpec(theirs).as_cluster_def().SerializeToString()
    answer = messages.GetStatusResponse(task=answers, cluster=cluster)
    check_same_cluster(WORKER, tf.train.ClusterSpec(ours), PS, answer)


@pytest.mark.parametrize(
    "theirs",
    [
        _SPEC,
        {"ps": ["0.0.0.0:1"], "worker": ["b.there:1", "c:1"]},  # hosts by other names
        {"ps": ["a:1"]},  # tasks that it never speaks to are left out
        {"ps": ["a:1"], "worker": {1: "c:1"}},
        {**_SPEC, "evaluator": ["d:1"]},
        {"ps": ["a:0"], "worker": ["b:1", "c:1"]},  # any port, which it knows later
    ],
)
def test_specs_that_agree(theirs: Any) -> None:
    _check(_SPEC, theirs)


@pytest.mark.parametrize(
    ("theirs", "text"),
    [
        ({"ps": ["a:2"], "worker": ["b:1", "c:1"]}, "/job:ps/task:0 is at a:1 or at a:2"),
        ({"ps": ["a:1"], "worker": {1: "c:7"}}, "/job:worker/task:1 is at c:1 or at c:7"),
        ({"ps": ["a:1"], "worker": ["b:1", "c:1", "d:1"]}, "'worker' has 2 or 3 task"),
        ({"ps": ["a:1", "e:1"], "worker": ["b:1", "c:1"]}, "'ps' has 1 or 2 task"),
    ],
)
def test_specs_that_differ(theirs: Any, text: str) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match=text):
        _check(_SPEC, theirs)


def test_another_task_answers() -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="looks for .*ps.* where .*worker"):
        _check(_SPEC, _SPEC, answers="/job:worker/replica:0/task:1")


def _addresses(count: int) -> list[str]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    found = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return found


def test_servers() -> None:
    ps, worker, other = _addresses(3)
    spec, swapped = {"ps": [ps], "worker": [worker]}, {"ps": [ps], "worker": [other]}
    servers = [
        tf.train.Server(spec, job_name="ps", task_index=0),
        tf.train.Server(swapped, job_name="worker", task_index=0),
    ]
    try:
        with tf.device("/job:ps/task:0"):
            x = tf.constant(1.0) + tf.placeholder_with_default(1.0, [])
        with tf.Session(servers[1].target) as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="different cluster specs"):
                session.run(x)
    finally:
        for server in servers:
            server.stop()


@pytest.mark.parametrize("bad", ["/job:", "ps", "/job:ps/task:x", "/cpu:0\n"])
def test_a_malformed_device_filter_is_the_callers_error(bad: str) -> None:
    (address,) = _addresses(1)
    server = tf.train.Server({"a": [address]}, job_name="a", task_index=0)
    config = tf.ConfigProto(device_filters=[bad])
    try:
        for target in (server.target, server.target.replace("localhost", "127.0.0.1")):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid device filter"):
                with tf.Session(target, config=config) as session:
                    session.run(tf.constant(1.0))
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid device filter"):
                tf.Session.reset(target, config=config)
    finally:
        server.stop()
