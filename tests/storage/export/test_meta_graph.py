"""MetaGraphs out and in: collections of all kinds, scopes, unbound inputs, devices, text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from tensorboard.compat.proto import op_def_pb2

import penstock as tf
from penstock.foundation.graph import proto_functions
from penstock.storage.export import kept, message_files, meta_graph


def _model(use_resource: bool = False) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.device("/cpu:0"), tf.variable_scope("net", use_resource=use_resource):
        w = tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        b = tf.get_variable("b", [3], trainable=False)
        tf.matmul(x + b, tf.ones([3, 2]), name="y")
        tf.identity(w, name="whole")


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_variables_come_back(tmp_path: Path, use_resource: bool, as_text: bool) -> None:
    path = str(tmp_path / "deep" / "graph.meta")
    with tf.Graph().as_default():
        _model(use_resource)
        tf.train.export_meta_graph(path, as_text=as_text)
        before = tf.global_variables()
    with tf.Graph().as_default(), tf.Session() as sess:
        found = meta_graph.import_scoped_meta_graph(path, import_scope="in")
        assert sorted(found) == ["net/b:0", "net/w/part_0:0", "net/w/part_1:0"]
        after = tf.global_variables()
        assert [v.name for v in after] == [f"in/{v.name}" for v in before]
        assert [v.trainable for v in after] == [v.trainable for v in before]
        assert [type(v) for v in after] == [type(v) for v in before]
        part = found["net/w/part_1:0"]._get_save_slice_info()
        assert (part.full_name, part.full_shape, part.var_offset) == ("in/net/w", [4, 2], [2, 0])
        assert tf.trainable_variables()[0] is after[0]
        sess.run(tf.global_variables_initializer())
        whole = np.concatenate(sess.run([found["net/w/part_0:0"], found["net/w/part_1:0"]]))
        np.testing.assert_array_equal(sess.run("in/net/whole:0"), whole)
        assert sess.run(after[2].initialized_value()).shape == (3,)


def test_collections_of_all_kinds_come_back() -> None:
    packed = AnyMessage(type_url="type.googleapis.com/tensorflow.AssetFileDef", value=b"\x12\x01a")
    items = {
        "words": ["one", "two"], "bytes": [b"\xff\x00"], "ints": [1, 2], "floats": [0.5],
        "any": [packed],
    }  # fmt: skip
    with tf.Graph().as_default():
        node = tf.constant(1.0, name="c")
        for key, values in {**items, "nodes": [node, node.op]}.items():
            for value in values:
                tf.add_to_collection(key, value)
        tf.add_to_collection("bad", object())
        tf.add_to_collection(("not", "text"), 1)
        meta = tf.train.export_meta_graph()
        only = tf.train.export_meta_graph(collection_list=["ints"])
    assert sorted(meta.collection_def) == ["any", "bytes", "floats", "ints", "nodes", "words"]
    assert list(only.collection_def) == ["ints"]
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(
            meta, restore_collections_predicate=lambda key: key != "ints"
        )
        assert tf.get_collection("words") == [b"one", b"two"]
        assert tf.get_collection("bytes") == [b"\xff\x00"]
        assert tf.get_collection("ints") == []
        assert tf.get_collection("floats") == [0.5]
        assert tf.get_collection("any") == [packed]
        c = graph.get_tensor_by_name("c:0")
        assert tf.get_collection("nodes") == [c, c.op]


def test_a_scope_is_cut_out_and_bound_elsewhere() -> None:
    with tf.Graph().as_default():
        outside = tf.constant([[1.0, 2.0]], name="outside")
        with tf.name_scope("part"):
            v = tf.Variable([[3.0], [4.0]], name="v")
            with tf.control_dependencies([outside]):
                tf.matmul(outside, v, name="y")
        meta, found = meta_graph.export_scoped_meta_graph(export_scope="part")
    assert list(found) == ["v:0"]
    unbound = [n.decode() for n in meta.collection_def["unbound_inputs"].bytes_list.value]
    assert unbound == ["$unbound_inputs_outside", "^$unbound_inputs_outside"] or unbound == [
        "$unbound_inputs_outside"
    ]
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(ValueError, match="unbound inputs: .*outside"):
            meta_graph.import_scoped_meta_graph(meta)
        mine = tf.constant([[10.0, 1.0]])
        mapped = dict.fromkeys(unbound, mine)
        new = meta_graph.import_scoped_meta_graph(meta, import_scope="new", input_map=mapped)
        assert new["v:0"].op.name == "new/v"
        sess.run(new["v:0"].initializer)
        assert sess.run("new/y:0") == [[34.0]]


def test_copying_a_scope() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.name_scope("a"):
            v = tf.Variable(2.0, name="v")
            tf.square(v, name="y")
        new = meta_graph.copy_scoped_meta_graph("a", "b")
        sess.run(new["v:0"].initializer)
        assert sess.run("b/y:0") == 4.0
        with pytest.raises(ValueError, match="both 'a'"):
            meta_graph.copy_scoped_meta_graph("a", "a")


def test_devices_and_default_attrs_are_taken_off() -> None:
    with tf.Graph().as_default():
        _model()
        whole = tf.train.export_meta_graph()
        slim = tf.train.export_meta_graph(clear_devices=True, strip_default_attrs=True)
    attrs = {n.name: set(n.attr) for n in slim.graph_def.node}
    assert {n.device for n in whole.graph_def.node} == {"", "/device:CPU:0"}
    assert {n.device for n in slim.graph_def.node} == {""}
    assert "transpose_a" not in attrs["net/y"]
    assert slim.meta_info_def.stripped_default_attrs
    assert len(whole.graph_def.node) == len(slim.graph_def.node)
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(slim)
        assert graph.get_operation_by_name("net/y").get_attr("transpose_a") is False


def test_the_op_list_describes_the_ops() -> None:
    with tf.Graph().as_default():
        _model()
        info = tf.train.export_meta_graph().meta_info_def
    ops = {op.name: op for op in info.stripped_op_list.op}
    assert list(ops) == sorted(ops)
    assert {"Assign", "MatMul", "Placeholder", "VariableV2"} <= set(ops)
    assert ops["VariableV2"].is_stateful and ops["VariableV2"].output_arg[0].is_ref
    assert [a.name for a in ops["MatMul"].attr] == ["T", "transpose_a", "transpose_b"]
    assert info.tensorflow_version == "1.15.0"


def test_unknown_ops_are_imported_where_the_meta_graph_describes_them() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(x, name="odd")
        tf.negative(x, name="known")
        meta = tf.train.export_meta_graph()
    next(n for n in meta.graph_def.node if n.name == "odd").op = "Oddity"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="(?s)'Oddity'.*odd"):
        meta_graph.import_scoped_meta_graph(meta)
    row = next(op for op in meta.meta_info_def.stripped_op_list.op if op.name == "Identity")
    odd = op_def_pb2.OpDef()
    odd.CopyFrom(row)
    odd.name = "Oddity"
    meta.meta_info_def.stripped_op_list.op.append(odd)
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph.import_scoped_meta_graph(meta)
        assert sess.run("known:0", {"x:0": 2.0}) == -2.0
        with pytest.raises(tf.errors.UnimplementedError, match="'odd'.*Oddity"):
            sess.run("odd:0", {"x:0": 2.0})
        again = tf.train.export_meta_graph()
    assert again.graph_def == meta.graph_def
    assert "Oddity" in {op.name for op in again.meta_info_def.stripped_op_list.op}


def _field(number: int, payload: bytes) -> bytes:
    return bytes([number << 3 | 2, len(payload)]) + payload


def test_messages_without_objects_are_kept_and_moved() -> None:
    pair = _field(1, b"q:0") + _field(2, b"ext:0")
    values = _field(1, b"a") + _field(2, pair)
    inner = _field(1, _field(1, b"inner") + _field(2, b"p:0"))
    data = _field(1, b"ctx") + bytes([4 << 3, 1]) + _field(5, values) + _field(6, inner)
    moved = kept.KeptMessage("cond_context", data).moved(lambda name: f"s/{name}")
    assert moved.node_name == "s/ctx"
    for name in (b"s/ctx", b"s/a", b"s/q:0", b"s/ext:0", b"s/inner", b"s/p:0"):
        assert name in moved.data
    assert moved.moved(lambda name: name.removeprefix("s/")).data == data
    with pytest.raises(ValueError, match="malformed"):
        kept.KeptMessage("cond_context", data[:-1]).moved(str)


def test_savers_other_than_ours_are_left_out() -> None:
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        first, second = tf.train.Saver(), tf.train.Saver()
        meta = second.export_meta_graph(clear_extraneous_savers=True)
    scopes = {n.name.split("/")[0] for n in meta.graph_def.node}
    assert second.saver_def.restore_op_name.split("/")[0] in scopes
    assert first.saver_def.restore_op_name.split("/")[0] not in scopes


def test_debug_info_has_the_users_lines(tmp_path: Path) -> None:
    from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo

    with tf.Graph().as_default():
        tf.constant(1.0, name="c")
        tf.train.export_meta_graph(str(tmp_path / "g.meta"), save_debug_info=True)
    info = message_files.read_message(tmp_path / "g.debug", GraphDebugInfo)
    (frame,) = info.traces["c@"].file_line_cols
    assert info.files[frame.file_index].endswith("test_meta_graph.py")
    assert 'name="c"' in frame.code


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        meta_graph.read_meta_graph_file(tmp_path / "absent")
    (tmp_path / "junk").write_text("hello {")
    with pytest.raises(OSError, match="Cannot parse"):
        meta_graph.read_meta_graph_file(tmp_path / "junk")
    with pytest.raises(TypeError, match="saver_def"):
        tf.train.export_meta_graph(saver_def="no")
    with pytest.raises(TypeError, match="graph_def"):
        tf.train.export_meta_graph(graph_def="no")


def test_a_collection_has_its_functions_once() -> None:
    with pytest.raises(KeyError, match="variables"):
        proto_functions.register_proto_function("variables")
    with pytest.raises(TypeError, match="callable"):
        proto_functions.register_proto_function("new", to_proto=3)
    assert proto_functions.get_collection_proto_type("variables").DESCRIPTOR.name == "VariableDef"
    assert proto_functions.get_to_proto_function("nothing") is None


def test_bools_of_a_collection_are_integers() -> None:
    with tf.Graph().as_default():
        tf.add_to_collection("flags", True)
        tf.add_to_collection("flags", False)
        message = tf.train.export_meta_graph()
    assert list(message.collection_def["flags"].int64_list.value) == [1, 0]


def test_import_meta_graph_twice_without_a_scope() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        message = tf.train.Saver([v]).export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message)
        tf.train.import_meta_graph(message)
        assert [v.name for v in tf.global_variables()] == ["v:0", "v:0"]
        assert graph.get_operation_by_name("v_1").type == "VariableV2"


@pytest.mark.parametrize(
    ("scope", "prefix"), [("model", "model/"), ("model/", "model/"), ("x/y", "x/y/"), ("", "")]
)
def test_a_meta_graph_comes_into_the_current_name_scope(
    tmp_path: Path, scope: str, prefix: str
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.get_variable("weights", initializer=[1.0, 2.0])
        doubled = tf.multiply(weights, tf.get_variable("r", initializer=2.0, use_resource=True))
        tf.add_to_collection("things", doubled)
        session.run(tf.global_variables_initializer())
        saved = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.name_scope(scope):
            saver = tf.train.import_meta_graph(saved + ".meta")
        names = [v.name for v in tf.global_variables()]
        assert names == [f"{prefix}weights:0", f"{prefix}r:0"]
        saver.restore(session, saved)
        assert session.run(tf.get_collection("things")[0]).tolist() == [2.0, 4.0]
        again = tf.train.export_meta_graph()
        assert {n.name for n in again.graph_def.node} >= {f"{prefix}weights", f"{prefix}Mul"}


def test_a_name_scope_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    with tf.Graph().as_default() as source:
        tf.get_variable("weights", [2])
    meta = tf.train.export_meta_graph(graph=source)
    with tf.Graph().as_default():
        for _ in range(2):
            with tf.name_scope("x"):
                tf.train.import_meta_graph(meta)
        assert [v.name for v in tf.global_variables()] == ["x/weights:0", "x_1/weights:0"]
