"""Graph transforms make of a graph what TensorFlow 1.15's tool makes of it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.storage.interchange.graph_transforms import (
    TRANSFORMS,
    TransformGraph,
    transform_graph,
)

RECORD = json.loads((Path(__file__).parent / "expected_transforms.json").read_text())
GRAPH = tf.GraphDef.FromString(base64.b64decode(RECORD["graph"]))
# Names of nodes that only Penstock's or only TensorFlow's tool gives.
FOLDED = {"scale": "scale/_0__cf__0"}


def _numbers(node: Any) -> list[float] | None:
    if node.op != "Const":
        return None
    array = tf.make_ndarray(node.attr["value"].tensor)
    array = array.view(np.uint8) if array.dtype.fields else array
    return [*map(float, np.ravel(array)[:6]), float(array.astype("f8").sum())]


def _run(graph_def: Any, output: str = "y") -> np.ndarray:
    images = np.random.RandomState(1).randn(2, 4, 4, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return np.asarray(session.run(f"{output}:0", {"x:0": images}))


@pytest.mark.parametrize("text", sorted(RECORD["made"]))
def test_transform_is_tensorflows(text: str) -> None:
    found = {node.name: node for node in transform_graph(GRAPH, ["x"], ["y"], text).node}
    expected = RECORD["made"][text]
    theirs = {ours: name for ours, name in FOLDED.items() if name in expected}
    assert {theirs.get(name, name) for name in found} == set(expected)
    for name, node in found.items():
        op, inputs, device, attrs, numbers = expected[theirs.get(name, name)]
        assert node.op == op and node.device == device
        # Their tool writes the output's number behind some inputs, which says the same.
        assert [theirs.get(i, i) for i in node.input] == [i.removesuffix(":0") for i in inputs]
        assert sorted(node.attr) == attrs
        if numbers is not None:
            np.testing.assert_allclose(_numbers(node), numbers, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "strip_unused_nodes fold_constants(ignore_errors=true) fold_batch_norms",
        "merge_duplicate_nodes remove_nodes(op=Identity) obfuscate_names sort_by_execution_order",
        "add_default_attributes set_device(device=/cpu:0)",
    ],
)
def test_transformed_graph_computes_the_same(text: str) -> None:
    made = transform_graph(GRAPH, ["x"], ["y"], text)
    np.testing.assert_allclose(_run(made), _run(GRAPH), rtol=1e-5, atol=1e-3)
    order: set[str] = set()
    if "sort" in text:
        for node in made.node:
            assert {name.partition(":")[0] for name in node.input} <= order
            order.add(node.name)


def test_old_batch_norms_become_weights() -> None:
    random = np.random.RandomState(0)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4, 4, 2], name="x")
        w = tf.constant(random.randn(3, 3, 2, 3).astype(np.float32))
        found = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
        given = [tf.constant(random.rand(3).astype(np.float32)) for _ in range(4)]
        normal = tf.nn.fused_batch_norm(found, *given, is_training=False)[0]
        tf.nn.relu(normal, name="y")
    before = graph.as_graph_def()
    made = transform_graph(before, ["x"], ["y"], "fold_old_batch_norms")
    assert not [node for node in made.node if node.op.startswith("FusedBatchNorm")]
    np.testing.assert_allclose(_run(made), _run(before), rtol=1e-5, atol=1e-5)


def test_quantized_weights_are_a_quarter_and_close() -> None:
    made = transform_graph(GRAPH, ["x"], ["y"], "strip_unused_nodes quantize_weights")
    assert made.ByteSize() < 0.5 * GRAPH.ByteSize()
    scale = np.abs(_run(GRAPH)).max()
    assert np.abs(_run(made) - _run(GRAPH)).max() < 0.01 * scale


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("nope", tf.errors.InvalidArgumentError, "Transform 'nope' not recognized"),
        ("remove_nodes", tf.errors.InvalidArgumentError, "expects at least one 'op'"),
        ("round_weights(num_steps=x)", tf.errors.InvalidArgumentError, "Couldn't interpret"),
        ("a(b=c", tf.errors.InvalidArgumentError, "no transform can be read"),
        ("quantize_nodes", tf.errors.UnimplementedError, "quantize_nodes"),
    ],
)
def test_mistakes_are_told(text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        transform_graph(GRAPH, ["x"], ["y"], text)


def test_path_of_tensorflow() -> None:
    made = TransformGraph(GRAPH, ["x"], ["y"], ["strip_unused_nodes"])
    assert "unused" not in {node.name for node in made.node}
    assert len(TRANSFORMS) > 12
