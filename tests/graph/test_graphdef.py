"""GraphDef out and in."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


def _model() -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.device("/cpu:0"):
            w = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
        with tf.name_scope("layer"):
            y = tf.matmul(x, w, name="y")
        with tf.control_dependencies([y]):
            tf.identity(x, name="after")
    return graph


def test_round_trip_gives_the_same_message() -> None:
    message = _model().as_graph_def()
    again = tf.Graph()
    with again.as_default():
        tf.import_graph_def(message, name="")
    assert again.as_graph_def() == message


def test_an_imported_graph_runs() -> None:
    message = _model().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.import_graph_def(message, return_elements=["x:0", "layer/y"], name="m")
        assert y.name == "m/layer/y"
        fed = np.ones((2, 3), np.float32)
        result = sess.run(y.outputs[0], {x: fed})
    np.testing.assert_array_equal(result, fed @ np.arange(6, dtype=np.float32).reshape(3, 2))


def test_input_map_replaces_tensors() -> None:
    message = _model().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        mine = tf.constant([[1.0, 0.0, 0.0]])
        (y,) = tf.import_graph_def(message, {"x": mine}, ["layer/y:0"])
        np.testing.assert_array_equal(sess.run(y), [[0.0, 1.0]])


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (lambda m: setattr(m.node[0], "op", "NoSuchOp"), "NoSuchOp"),
        (lambda m: m.node[2].input.__setitem__(0, "absent"), "absent"),
        (lambda m: m.node[2].input.__setitem__(0, "x:3"), "x:3"),
        (lambda m: m.node[2].input.append("w"), "MatMul"),
    ],
)
def test_bad_messages_are_refused(change, pattern: str) -> None:
    message = _model().as_graph_def()
    change(message)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=pattern):
        tf.import_graph_def(message)


def test_unused_input_map_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="nothere"):
        tf.import_graph_def(_model().as_graph_def(), {"nothere": tf.constant(1.0)})


def test_attrs_survive() -> None:
    with tf.Graph().as_default() as g:
        tf.constant([b"a", b"bc"], name="s")
        tf.constant(np.array([1.5, 2], np.float16), name="h")
        tf.placeholder(tf.complex64, name="c")
        tf.placeholder(tf.int32, [], name="scalar")
    with tf.Graph().as_default() as again, tf.Session() as sess:
        tf.import_graph_def(g.as_graph_def(add_shapes=True), name="")
        assert again.get_tensor_by_name("scalar:0").shape.as_list() == []
        assert again.get_tensor_by_name("c:0").shape.ndims is None
        assert sess.run("s:0").tolist() == [b"a", b"bc"]
        assert sess.run("h:0").dtype == np.float16
