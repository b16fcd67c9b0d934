"""GraphDef out and in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.op_def_pb2 import OpList

import penstock as tf
from penstock.foundation.graph import node_message
from penstock.foundation.opdef.registry import OPS


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


def test_taken_names_are_numbered() -> None:
    message = _model().as_graph_def()
    first = [node.name for node in message.node]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        (y,) = tf.import_graph_def(message, return_elements=["layer/y:0"], name="")
        names = [op.name for op in graph.get_operations()]
    assert names[: len(first)] == first
    assert names[len(first) :] == [f"{name}_1" for name in first]
    assert y.name == "layer/y_1:0"


def test_numbered_names_take_their_colocation_along() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        with graph.colocate_with(a.op):
            tf.constant(2.0, name="b")
    message = graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        tf.import_graph_def(message, name="")
        assert graph.get_operation_by_name("b_1").colocation_groups() == [b"loc:@a_1"]


def test_what_graph_def_has_may_be_mapped_unused() -> None:
    message = _model().as_graph_def()
    with tf.Graph().as_default():
        mine = tf.placeholder(tf.float32, [3], name="mine")
        (y,) = tf.import_graph_def(message, {"layer/y:0": mine}, ["layer/y:0"])
        assert y is mine
        tf.import_graph_def(message, {"layer/y": mine})
        with pytest.raises(ValueError, match="y:1"):
            tf.import_graph_def(message, {"layer/y:1": mine})


def test_values_of_input_map_need_a_name() -> None:
    message = _model().as_graph_def()
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="name is empty"):
            tf.import_graph_def(message, {"x": np.ones(2, np.float32)}, name="")
        with pytest.raises(TypeError, match="the key 5"):
            tf.import_graph_def(message, {5: tf.constant(1.0)})  # type: ignore[dict-item]
        assert "_inputs/Const" not in [op.name for op in graph.get_operations()]


def _nodes(op: str, **attrs: Any) -> Any:
    """A GraphDef of one node over float placeholders, with attrs more."""
    message = tf.GraphDef()
    inputs = ["x", "y"] if op in ("MatMul", "TopKV2") else ["x"]
    for name in inputs:
        node = message.node.add(name=name, op="Placeholder")
        kind = tf.int32 if (op, name) == ("TopKV2", "y") else tf.float32
        node.attr["dtype"].type = kind.as_datatype_enum
    node = message.node.add(name="n", op=op, input=inputs)
    node.attr["T"].type = tf.float32.as_datatype_enum
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)
    return message


def _imported(message: Any, **arguments: Any) -> Any:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="", **arguments)
    return graph.get_operation_by_name("n")


_TRUE, _INT64 = tf.AttrValue(b=True), tf.AttrValue(type=tf.int64.as_datatype_enum)
_INT32 = tf.AttrValue(type=tf.int32.as_datatype_enum)


def test_attrs_that_an_op_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"'n' \(Neg\): no attr of Neg is called 'foo'.*\['T'\]"):
        _imported(_nodes("Neg", foo=tf.AttrValue(i=1)))
    assert _imported(_nodes("Neg", _foo=tf.AttrValue(i=1))).get_attr("_foo") == 1
    # Those of later versions: a hint of any value, others with their default.
    assert "grad_a" not in _imported(_nodes("MatMul", grad_a=_TRUE)).node_def.attr
    with pytest.raises(ValueError, match="no attr of Neg is called 'grad_a'"):
        _imported(_nodes("Neg", grad_a=_TRUE))
    assert _imported(_nodes("TopKV2", index_type=_INT32)).type == "TopKV2"
    with pytest.raises(ValueError, match="'index_type' of a later version has type: DT_INT64"):
        _imported(_nodes("TopKV2", index_type=_INT64))


def test_attrs_that_the_graphs_own_op_list_has() -> None:
    op_list = OpList()
    row = op_list.op.add(name="Neg").attr.add(name="foo", type="int")
    row.default_value.i = 1
    _imported(_nodes("Neg", foo=tf.AttrValue(i=1)), producer_op_list=op_list)
    with pytest.raises(ValueError, match="'foo' of a later version has i: 2"):
        _imported(_nodes("Neg", foo=tf.AttrValue(i=2)), producer_op_list=op_list)


def test_attrs_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="float32, which is not float64, as attr T says"):
        _imported(_nodes("Neg", T=tf.AttrValue(type=tf.float64.as_datatype_enum)))
    with pytest.raises(ValueError, match="attr 'T' must be a type; found i: 2"):
        _imported(_nodes("Neg", T=tf.AttrValue(i=2)))
    for node in (0, 1):
        message = _nodes("Neg")
        message.node[node].attr.clear()
        with pytest.raises(ValueError, match=f"'{message.node[node].name}' .* lacks attr"):
            _imported(message)


def _versioned(producer: int = 0, min_consumer: int = 0, bad: int | None = None) -> tf.GraphDef:
    message = tf.GraphDef()
    node = message.node.add(name="p", op="Placeholder")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["shape"].shape.SetInParent()
    message.versions.producer, message.versions.min_consumer = producer, min_consumer
    if bad is not None:
        message.versions.bad_consumers.append(bad)
    return message


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (_versioned(-1), "GraphDef producer version -1 below min producer 0"),
        (_versioned(200, 135), "GraphDef min consumer version 135 above current version 134"),
        (_versioned(200, bad=134), "GraphDef disallows consumer version 134"),
    ],
)
def test_graphs_that_this_version_may_not_read(message: tf.GraphDef, words: str) -> None:
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match=words):
            tf.import_graph_def(message)
        assert graph.get_operations() == []


def test_a_graph_is_as_old_as_its_oldest_part() -> None:
    with tf.Graph().as_default() as graph:
        for message in (_versioned(30, 12), _versioned(50, 5), _versioned(500, bad=133)):
            tf.import_graph_def(message)
        versions = graph.graph_def_versions
    assert (versions.producer, versions.min_consumer) == (30, 12)


@pytest.mark.parametrize(("producer", "rank"), [(8, None), (21, None), (22, 0), (134, 0)])
def test_old_graphs_did_not_tell_scalars_from_unknown_shapes(
    producer: int, rank: int | None
) -> None:
    with tf.Graph().as_default():
        (made,) = tf.import_graph_def(_versioned(producer), return_elements=["p:0"])
    assert made.shape.ndims == rank


def test_the_map_of_inputs_may_have_bytes() -> None:
    with tf.Graph().as_default() as source:
        tf.add(tf.placeholder(tf.float32, name="p"), 1.0, name="y")
    with tf.Graph().as_default(), tf.Session() as session:
        three = tf.constant(3.0)
        for key in (b"p", b"p:0"):
            (made,) = tf.import_graph_def(source.as_graph_def(), {key: three}, [b"y:0"])
            assert session.run(made) == 4.0


def test_names_may_be_bytes() -> None:
    with tf.Graph().as_default() as graph:
        with tf.name_scope(b"scope"):
            assert tf.constant(1, name=b"c").name == "scope/c:0"
        assert tf.Variable(1.0, name=b"v").name == "v:0"
        assert tf.get_variable(b"w", []).name == "w:0"
        assert tf.no_op(b"n").name == "n"
        assert tf.import_graph_def(graph.as_graph_def(), name=b"again") is None
        assert graph.get_operation_by_name("again/n").type == "NoOp"


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"return_elements": ["zz:0"]}, ValueError, "Requested return tensor 'zz:0' not found in"),
        ({"return_elements": ["b:3"]}, ValueError, "Invalid return output 3 of node 'b', which"),
        ({"input_map": {1: None}}, TypeError, "input_map must be a dictionary mapping strings to"),
        ({"input_map": {"zz:0": 1.0}}, ValueError, r"were not found in graph_def: \[zz:0\]"),
    ],
)
def test_what_a_message_does_not_have(arguments: Any, kind: type[Exception], words: str) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(tf.constant(1.0, name="a"), name="b")
    with tf.Graph().as_default(), tf.name_scope("outer"), pytest.raises(kind, match=words):
        tf.import_graph_def(graph.as_graph_def(), **arguments)


# Attrs that TensorFlow 2.21 has given these ops since 1.15, with their defaults.
_SINCE: dict[str, dict[str, Any]] = {
    "RFFT": {"Treal": 1, "Tcomplex": 8},
    "IRFFT2D": {"Treal": 1, "Tcomplex": 8},
    "QuantizeV2": {"narrow_range": False, "axis": -1, "ensure_minimum_range": 0.01},
    "Dequantize": {"narrow_range": False, "axis": -1, "dtype": 1},
    "QuantizeAndDequantizeV2": {"axis": -1},
    "QuantizeAndDequantizeV3": {"axis": -1},
    "TridiagonalSolve": {"perturb_singular": False},
    "CTCGreedyDecoder": {"blank_index": -1},
    "ImageProjectiveTransformV2": {"fill_mode": b"CONSTANT"},
    "CollectiveReduce": {"timeout_seconds": 0.0},
    "InitializeTableFromTextFileV2": {"offset": 0},
    "BatchFunction": {"batch_padding_policy": b"PAD_UP", "low_priority_max_batch_size": 0},
}


@pytest.mark.parametrize("op_type", sorted(_SINCE))
def test_attrs_of_a_later_tensorflow_are_known_by_their_defaults(op_type: str) -> None:
    later = OPS[op_type].later
    for key, default in _SINCE[op_type].items():
        value = node_message.attr_value(later[key].default, later[key])
        field = value.WhichOneof("value")
        found = getattr(value, field)
        assert found == (pytest.approx(default) if field == "f" else default), key
