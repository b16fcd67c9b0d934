"""Graphs between inputs and outputs, without what trains."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.python.tools import optimize_for_inference_lib, strip_unused_lib


def _graph() -> tf.GraphDef:
    with tf.Graph().as_default() as graph:
        read = tf.random_uniform([2], name="read")
        x = tf.multiply(read, 2.0, name="x")
        y = tf.identity(x + 1.0, name="passed")
        tf.square(y, name="y")
        tf.negative(y, name="unused")
    return graph.as_graph_def()


def test_inputs_become_placeholders_and_the_rest_goes() -> None:
    found = strip_unused_lib.strip_unused(_graph(), ["x"], ["y"], tf.float32.as_datatype_enum)
    assert [node.name for node in found.node] == ["x", "add/y", "add", "passed", "y"]
    assert found.node[0].op == "Placeholder"
    with pytest.raises(ValueError, match="Name 'x:0' appears to refer to a Tensor"):
        strip_unused_lib.strip_unused(_graph(), ["x:0"], ["y"], 1)
    with pytest.raises(KeyError, match="following input nodes were not found: {'z'}"):
        strip_unused_lib.strip_unused(_graph(), ["z"], ["y"], 1)


def test_training_nodes_go_and_values_stay() -> None:
    found = optimize_for_inference_lib.optimize_for_inference(_graph(), ["x"], ["y"], 1)
    assert [node.name for node in found.node] == ["x", "add/y", "add", "y"]
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(found, return_elements=["y:0"], name="")
        assert sess.run(y, {"x:0": [1.0, 2.0]}).tolist() == [4.0, 9.0]
