"""Parameters and float operations: by hand for small graphs, TensorFlow 1.15's for networks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import penstock as tf
from penstock.foundation.opdef.registry import all_ops
from penstock.tools.profiler import float_ops
from tests.peers import TF115, needs
from tests.tools.profiler import models

# TensorFlow counts these from 2.x on; 1.15, which makes them for `a + b`, counts 0.
LATER = {"AddV2", "BatchMatMulV2"}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def count(tensor, measured=None) -> int:
    return float_ops.count(tensor.op, measured)


def test_products_count_two_for_each_multiplication() -> None:
    a, b = tf.ones([4, 3]), tf.ones([3, 5])
    assert count(tf.matmul(a, b)) == 2 * 4 * 3 * 5
    assert count(tf.matmul(a, tf.ones([4, 5]), transpose_a=True)) == 2 * 3 * 4 * 5
    batch = tf.matmul(tf.ones([7, 3, 4]), tf.ones([7, 3, 5]), adjoint_a=True)
    assert batch.op.type.startswith("BatchMatMul") and count(batch) == 2 * 7 * 4 * 3 * 5


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_convolutions_and_their_gradients_in_both_layouts(layout: str, graph) -> None:
    x = tf.zeros([2, 8, 8, 3] if layout == "NHWC" else [2, 3, 8, 8])
    w = tf.ones([3, 3, 3, 6])
    strides = [1, 2, 2, 1] if layout == "NHWC" else [1, 1, 2, 2]
    y = tf.nn.conv2d(x, w, strides=strides, padding="SAME", data_format=layout)
    once = 2 * (2 * 4 * 4 * 6) * 3 * 3 * 3
    assert count(y) == once
    gradients = tf.gradients(y, [x, w])
    assert [count(g) for g in gradients] == [once, once]


def test_reductions_pools_and_elementwise() -> None:
    x = tf.ones([2, 4, 4, 3])
    assert count(tf.reduce_sum(x)) == 96 - 1
    assert count(tf.reduce_mean(x, [1, 2])) == 96
    assert count(tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")) == 4 * 24
    assert count(tf.ones([3, 1]) * tf.ones([1, 4])) == 12
    assert count(tf.nn.softmax(tf.ones([5, 2]))) == 50
    assert count(tf.add_n([tf.ones([4])] * 3)) == 8
    assert count(tf.nn.l2_loss(tf.ones([10]))) == 29


def test_what_has_no_rule_counts_nothing_and_what_has_no_shape_says_so() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    assert count(tf.tanh(x)) == 0
    y = tf.square(x)
    with pytest.raises(float_ops.UnknownShapeError, match="x:0"):
        count(y)
    assert count(y, {"x:0": (5, 3)}) == 15


def test_parameters_of_variables() -> None:
    tf.get_variable("a", [3, 5])
    tf.get_variable("b", [7], use_resource=True)
    tf.get_variable("c", initializer=1.0)
    tf.get_variable("left_out", [100], trainable=False)
    found = models.counts(tf, tf.get_default_graph())
    assert found["parameters"] == 15 + 7 + 1


@pytest.mark.long
def test_networks_count_as_in_tensorflow() -> None:
    needs(TF115)
    peer = Path(__file__).with_name("counts_peer.py")
    done = subprocess.run([str(TF115), str(peer)], capture_output=True, text=True, check=False)
    line = next((x for x in done.stdout.splitlines() if x.startswith("COUNTS ")), None)
    assert line is not None, done.stderr[-3000:]
    expected = json.loads(line.removeprefix("COUNTS "))
    for name, build in models.MODELS.items():
        with tf.Graph().as_default() as graph:
            build(tf)
            found = models.counts(tf, graph)
        wanted = expected[name]
        assert found["parameters"] == wanted["parameters"] > 0, name
        assert found["definitions"] == wanted["definitions"], name
        later = {t: n for t, n in found["by_type"].items() if t in LATER}
        others = {t: n for t, n in found["by_type"].items() if t not in LATER}
        assert others == wanted["by_type"], name
        assert found["float_ops"] == wanted["float_ops"] + sum(later.values()), name
    counted = set().union(*(e["by_type"] for e in expected.values()))
    uncompared = {name for name, op in all_ops().items() if op.flops} - counted - LATER
    assert uncompared <= {"AssignSub", "AssignAdd", "BatchMatMul"}
