"""The text of programs: golden files, constants, names, comments, line maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.linalg import product_forms
from tests import golden

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def one_kernel_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice between matrix libraries depends on the machine; here it is always the same."""
    monkeypatch.setenv("PENSTOCK_PRODUCTS", "mm")
    monkeypatch.setattr(product_forms, "onednn_runs", lambda: False)


def _dense(x: Any, rows: int, columns: int, name: str) -> Any:
    with tf.name_scope(name):
        w = tf.Variable(tf.zeros([rows, columns]), name="w")
        b = tf.Variable(tf.zeros([columns]), name="b")
        return tf.nn.bias_add(tf.matmul(x, w), b)


def _loss(logits: Any, labels: Any) -> Any:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses, name="loss")


def _softmax(x: Any, labels: Any) -> Any:
    loss = _loss(_dense(x, 64, 10, "logits"), labels)
    return loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss, name="train")


def _mlp_adam(x: Any, labels: Any) -> Any:
    hidden = tf.nn.relu(_dense(x, 64, 32, "hidden"))
    loss = _loss(_dense(hidden, 32, 10, "logits"), labels)
    return loss, tf.train.AdamOptimizer(0.01).minimize(loss, name="train")


def _convnet(x: Any, labels: Any) -> Any:
    images = tf.reshape(x, [-1, 8, 8, 1])
    filters = tf.Variable(tf.zeros([3, 3, 1, 4]), name="filters")
    bias = tf.Variable(tf.zeros([4]), name="bias")
    features = tf.nn.relu(tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME") + bias)
    pooled = tf.nn.max_pool(features, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    loss = _loss(_dense(tf.reshape(pooled, [-1, 64]), 64, 10, "logits"), labels)
    return loss, tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")


@pytest.mark.parametrize("model", [_softmax, _mlp_adam, _convnet])
def test_golden_programs(model: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 64], name="x")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        step = model(x, labels)
        sess.run(tf.global_variables_initializer())
        feed = {x: np.ones((20, 64), np.float32), labels: np.zeros(20, np.int64)}
        golden.check(GOLDEN / f"{model.__name__.lstrip('_')}.py.txt", sess.explain(step, feed))
        assert np.isfinite(sess.run(step, feed)[0])


def _explain(fetches: Any, feeds: Any = ()) -> str:
    with tf.Session() as sess:
        return sess.explain(fetches, list(feeds))


def test_names_that_python_keeps_for_itself_are_changed() -> None:
    v = tf.Variable(1.0, name="a-b/while")
    flag = tf.logical_not(tf.placeholder(tf.bool, name="import"))
    text = _explain([v, flag], [flag.op.inputs[0]])
    assert "r_a_b_while" in text
    compile(text, "text", "exec")


def test_infinite_attrs_and_constants_are_valid_source() -> None:
    x = tf.placeholder(tf.float32, [2])
    y = tf.clip_by_value(x, -np.inf, np.inf)
    with tf.Session() as sess:
        assert sess.run(y, {x: [1, np.inf]}).tolist() == [1.0, np.inf]


def test_outputs_that_nobody_needs_are_not_named() -> None:
    first, *_ = tf.split(tf.placeholder(tf.float32, [6], name="x"), 3)
    line = next(li for li in _explain(first, ["x:0"]).splitlines() if "# split" in li)
    assert "_, _" in line


def test_lists_of_one_are_unpacked() -> None:
    x = tf.placeholder(tf.float32, [6])
    (only,) = tf.split(x, 1)
    with tf.Session() as sess:
        assert sess.run(tf.negative(only), {x: np.ones(6)}).tolist() == [-1.0] * 6


def test_every_line_of_a_node_is_mapped_to_it() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Session() as sess:
        sess.run(tf.reduce_sum(tf.exp(x, name="grown"), name="total"), {x: [0, 0]})
        (program,) = sess._programs.values()
    lines = program.explain().splitlines()
    for number, op in program.source.line_ops.items():
        assert lines[number - 1].rstrip().endswith(op.name)
    assert {op.name for op in program.source.line_ops.values()} == {"grown", "total"}


def test_a_kernel_may_be_called_like_a_value() -> None:
    """Kernels of several versions of an op are ``_v1``, ``_v2``: so are the program's values."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        boxes = tf.placeholder(tf.float32, [3, 4])
        scores = tf.exp(tf.sin(tf.placeholder_with_default([1.0, 2.0, 0.5], [3])))
        shifted = tf.sin(tf.exp(boxes)) * 0 + boxes
        chosen = tf.image.non_max_suppression(shifted, scores, 2)
        fed = [[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]
        assert session.run(chosen, {boxes: fed}).tolist() == [1, 2]
