"""What users complained of in TensorFlow's runtime, and is otherwise here.

The rows of docs/differences.md name a test each; those that stood nowhere else are here.
"""

from __future__ import annotations

import re
import socket
import warnings
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import Clock

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "differences.md"
# How many complaints there are rows for.
COMPLAINTS = 25


def _rows() -> list[tuple[str, str]]:
    """The complaint of each row, and the cell that names its tests."""
    text = PAGE.read_text().partition("## What users complained of")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [(cells[0].strip(), cells[-1]) for cells in rows[1:]]


def test_every_complaint_has_a_row() -> None:
    assert len(_rows()) == COMPLAINTS


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_the_tests_of_a_row_are_there(row: tuple[str, str]) -> None:
    named = re.findall(r"`tests/([\w/]+\.py)::(\w+)`", row[1])
    assert named
    for path, name in named:
        source = (ROOT / "tests" / path).read_text()
        assert re.search(rf"^ *(?:def|class) {name}\b", source, re.M), f"{path} has no {name}"


def test_a_graph_that_grows_in_a_loop_is_told_with_the_line() -> None:
    x = tf.Variable(1.0)
    with tf.Session() as sess, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sess.run(x.initializer)
        for _ in range(120):
            sess.run(x + 1)
    assert len(caught) == 1 and caught[0].filename == __file__
    said = str(caught[0].message)
    assert re.match(r"this session has compiled 100 different steps; a graph that grows", said)
    assert re.search(r"'add_\d+', was made at .*test_complaints\.py:\d+, in test_a_graph_th", said)


def test_batches_of_many_sizes_make_few_programs() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_sum(x, 0)
    with tf.Session() as sess:
        for size in range(1, 30):
            np.testing.assert_array_equal(sess.run(y, {x: np.ones([size, 3])}), [size] * 3)
        # Four for the first sizes, then one for all.
        assert repr(sess).endswith("5 programs>")


def test_a_small_step_over_two_tasks_takes_milliseconds() -> None:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(2)]
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
    servers = [tf.train.Server(cluster, job_name=job) for job in ("ps", "worker")]
    with tf.device("/job:ps/task:0"):
        total = tf.Variable(0.0)
    with tf.device("/job:worker/task:0"):
        one = tf.identity(tf.ones([]))
    add = total.assign_add(one)
    with tf.Session(servers[1].target) as sess:
        sess.run(total.initializer)
        sess.run(add)
        clock = Clock()
        for _ in range(100):
            sess.run(add.op)
        assert clock.seconds() < 1.0
        assert sess.run(total) == 101.0
    for server in servers:
        server.stop()
