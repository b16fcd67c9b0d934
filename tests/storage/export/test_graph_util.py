"""``tf.graph_util`` and ``tf.train.write_graph``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.storage.export.graph_file import read_graph


def test_extract_sub_graph_keeps_order_colocation_and_versions() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        with tf.control_dependencies([tf.no_op(name="first")]):
            b = tf.identity(a, name="b")
        with graph.colocate_with(tf.constant(2.0, name="beside").op):
            tf.negative(b, name="c")
        tf.constant(3.0, name="unused")
    graph_def = graph.as_graph_def()
    part = tf.graph_util.extract_sub_graph(graph_def, ["c"])
    assert [n.name for n in part.node] == ["a", "first", "b", "beside", "c"]
    assert part.versions == graph_def.versions
    with pytest.raises(AssertionError, match="absent is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def, ["absent"])
    with pytest.raises(TypeError, match="list of names"):
        tf.graph_util.extract_sub_graph(graph_def, "c")
    with pytest.raises(TypeError, match="GraphDef"):
        tf.graph_util.extract_sub_graph(graph, ["c"])


def test_remove_training_nodes() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.identity(tf.check_numerics(tf.identity(x, name="i"), "bad", name="check"), name="j")
        tf.negative(y, name="out")
        with tf.control_dependencies([tf.identity(x, name="stays")]):
            tf.identity(x, name="stays_too")
    slim = tf.graph_util.remove_training_nodes(graph.as_graph_def(), ["j"])
    # The check's input is dropped with it, as in TF, so a protected node behind it has none.
    assert [n.name for n in slim.node] == ["x", "j", "out", "stays", "stays_too"]
    assert [list(n.input) for n in slim.node] == [[], [], ["j"], ["x"], ["x", "^stays"]]


@pytest.mark.parametrize("use_resource", [False, True])
def test_freezing(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.variable_scope("", use_resource=use_resource):
            w = tf.get_variable("w", [2, 2])
            table = tf.get_variable("table", [3, 2])
        rows = tf.nn.embedding_lookup(table, [1])
        tf.add(tf.matmul(x, w), rows, name="y")
        sess.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
        part = tf.graph_util.convert_variables_to_constants(
            sess, sess.graph_def, ["y"], variable_names_blacklist=["w"]
        )
        wanted = sess.run("y:0", {x: np.eye(2)})
    assert not {n.op for n in frozen.node} & {"VariableV2", "VarHandleOp", "ReadVariableOp"}
    assert "GatherV2" in {n.op for n in frozen.node}
    kinds = {n.name: n.op for n in part.node}
    assert kinds["w"] == ("VarHandleOp" if use_resource else "VariableV2")
    assert kinds["table"] == "Const"
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_array_equal(sess.run("y:0", {"x:0": np.eye(2)}), wanted)
    with tf.Graph().as_default():
        tf.import_graph_def(part, name="")


def test_freezing_only_some() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.add(tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), name="y")
        sess.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"], ["a"])
    kinds = {n.name: n.op for n in frozen.node}
    assert (kinds["a"], kinds["b"]) == ("Const", "VariableV2")


def test_small_functions() -> None:
    with tf.Graph().as_default() as graph:
        i = tf.constant([1, 2], name="i")
        f = tf.constant([1.0], name="f")
        v = tf.Variable(1.0, name="v")
        cast = tf.cast(i, tf.float32)
    on_cpu = tf.graph_util.must_run_on_cpu
    assert [on_cpu(n) for n in (i.op, f.op.node_def, v.op, cast.op)] == [True, False, False, True]
    assert on_cpu(v.op, pin_variables_on_cpu=True)
    with pytest.raises(TypeError, match="Operation or NodeDef"):
        on_cpu("i")
    shape = tf.graph_util.tensor_shape_from_node_def_name
    assert shape(graph, "i").as_list() == shape(graph, "i:0").as_list() == [2]


@pytest.mark.parametrize("as_text", [False, True])
def test_write_graph(tmp_path: Path, as_text: bool) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([1.5, 2.5], name="c")
    path = tf.train.write_graph(graph, str(tmp_path / "new"), "g.pb", as_text)
    assert path == str(tmp_path / "new" / "g.pb")
    assert read_graph(path) == graph.as_graph_def()
    assert (b'name: "c"' in Path(path).read_bytes()) == as_text
    tf.train.write_graph(graph.as_graph_def(), str(tmp_path / "new"), "g.pb", as_text)
    assert read_graph(path) == graph.as_graph_def()
    assert len(list((tmp_path / "new").iterdir())) == 1
    with pytest.raises(OSError, match="does not exist"):
        read_graph(tmp_path / "absent")


def test_output_node_names_are_no_string() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.constant(1.0, name="y")
        with pytest.raises(TypeError, match="list of names"):
            tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), "y")
