"""Graphs: names, scopes, devices, collections, lookups."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import penstock as tf


def _names(graph: tf.Graph) -> list[str]:
    return [op.name for op in graph.get_operations()]


def test_names_are_made_unique_as_in_tf() -> None:
    with tf.Graph().as_default() as g:
        tf.constant(1.0)
        tf.constant(1.0)
        tf.constant(1.0, name="const")
        with tf.name_scope("a"):
            tf.constant(1.0)
            with tf.name_scope("b"):
                tf.constant(1.0, name="x")
        with tf.name_scope("a"):
            tf.constant(1.0)
        with tf.name_scope("a/"):
            tf.constant(1.0)
        with tf.name_scope(None):
            tf.constant(1.0, name="top")
    # Read off TensorFlow 1.15 for the same program.
    assert _names(g) == [
        "Const", "Const_1", "const_2", "a/Const", "a/b/x", "a_1/Const", "a/Const_1", "top",
    ]  # fmt: skip


def test_operands_get_constants_under_the_node() -> None:
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, name="x")
        _ = x + 1.0
        tf.add(x, 2.0)
        _ = 3.0 * x
    assert _names(g) == ["x", "add/y", "add", "Add_1/y", "Add_1", "mul/x", "mul"]


def test_control_dependencies_leave_out_what_inputs_imply() -> None:
    with tf.Graph().as_default():
        a = tf.constant(1.0, name="a")
        b = tf.constant(2.0, name="b")
        with tf.control_dependencies([a, b]):
            c = tf.identity(a, name="c")
            d = tf.identity(c, name="d")
            with tf.control_dependencies(None):
                e = tf.identity(a, name="e")
    assert [op.name for op in c.op.control_inputs] == ["b"]
    assert d.op.control_inputs == ()
    assert e.op.control_inputs == ()


def test_devices_merge_and_functions_are_called() -> None:
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:1"), tf.device("/cpu:0"):
            a = tf.constant(1.0)
            with tf.device(None):
                b = tf.constant(1.0)
        with tf.device(lambda op: "/gpu:1" if op.type == "Const" else ""):
            c = tf.constant(1.0)
        with pytest.raises(ValueError, match="toaster"), tf.device("/toaster"):
            pass
    assert a.device == "/job:ps/task:1/device:CPU:0"
    assert b.device == ""
    assert c.device == "/gpu:1"  # verbatim, as TensorFlow 1.15 does


def test_colocation_is_recorded() -> None:
    with tf.Graph().as_default():
        a = tf.constant(1.0, name="a")
        with tf.colocate_with(a):
            b = tf.constant(1.0)
    assert b.op.colocation_groups() == [b"loc:@a"]


def test_finalized_graph_refuses_nodes() -> None:
    g = tf.Graph()
    g.finalize()
    with g.as_default(), pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1.0)
    assert g.version == 0


def test_collections() -> None:
    g = tf.Graph()
    g.add_to_collection("k", 1)
    g.add_to_collections(["k", "other", "k"], 2)
    assert g.get_collection("k") == [1, 2]
    assert g.get_collection("absent") == []
    ref = g.get_collection_ref("k")
    ref.append(3)
    assert g.get_collection("k") == [1, 2, 3]
    g.clear_collection("k")
    assert g.get_collection("k") == []


def test_lookups_by_name() -> None:
    with tf.Graph().as_default() as g:
        a = tf.constant(1.0, name="a")
    assert g.get_tensor_by_name("a:0") is a
    assert g.get_operation_by_name("a") is a.op
    assert g.as_graph_element("a") is a.op
    for bad, error in (("a:1", KeyError), ("b:0", KeyError), ("a", ValueError)):
        with pytest.raises(error):
            g.get_tensor_by_name(bad)
    with pytest.raises(TypeError):
        g.as_graph_element(3)


def test_mixing_graphs_names_both() -> None:
    with tf.Graph().as_default():
        a = tf.placeholder(tf.float32, name="mine")
    with tf.Graph().as_default():
        b = tf.placeholder(tf.float32, name="yours")
        with pytest.raises(ValueError, match=r"yours.*mine|mine.*yours"):
            tf.add(a, b)


def test_symbolic_tensors_refuse_to_be_values() -> None:
    with tf.Graph().as_default():
        t = tf.placeholder(tf.float32, [3], name="t")
        with pytest.raises(TypeError, match="t:0"):
            bool(t)
        with pytest.raises(TypeError, match="t:0"):
            iter(t)
        with pytest.raises(TypeError, match="t:0"):
            len(t)


def test_graph_building_from_several_threads() -> None:
    g = tf.Graph()

    def build() -> None:
        with g.as_default(), tf.name_scope("worker"):
            for _ in range(50):
                tf.constant(1.0)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    names = _names(g)
    assert len(names) == len(set(names)) == 200


def test_errors_at_construction_name_both_operands() -> None:
    with tf.Graph().as_default() as g:
        a = tf.placeholder(tf.float32, [2, 3], name="left")
        b = tf.placeholder(tf.float32, [4, 5], name="right")
        c = tf.placeholder(tf.int32, [3], name="ints")
        with pytest.raises(ValueError, match=r"left:0 \[2,3\] float32.*right:0 \[4,5\] float32"):
            tf.matmul(a, b)
        with pytest.raises(TypeError, match=r"ints:0 int32\[3\].*left:0 float32"):
            tf.add(a, c)
        before = len(g.get_operations())
        assert before == 3, "a refused node must not stay in the graph"


def test_gradient_override_map_marks_nodes() -> None:
    with tf.Graph().as_default() as g:
        with g.gradient_override_map({"Identity": "Mine"}):
            a = tf.identity(tf.constant(1.0))
        with pytest.raises(TypeError), g.gradient_override_map({"Identity": 3}):  # type: ignore
            pass
    assert a.op.get_attr("_gradient_op_type") == b"Mine"


def test_blocks_that_are_left_in_another_order() -> None:
    graph = tf.Graph()
    outer, inner = graph.device("/cpu:0"), graph.device("/cpu:1")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="Exiting device scope without proper scope nesting"):
        outer.__exit__(None, None, None)
    for make, kind in ((lambda: tf.Graph().as_default(), "Graph"), (tf.Session, "Session")):
        outer, inner = make(), make()
        outer.__enter__()
        inner.__enter__()
        with pytest.raises(AssertionError, match=f"Nesting violated for default stack .*{kind}"):
            outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)


def test_interactive_sessions_may_be_closed_in_any_order() -> None:
    one, other = (tf.InteractiveSession(graph=tf.Graph()) for _ in range(2))
    one.close()
    other.close()
    assert tf.get_default_session() is None


def test_packages_ask_what_device_scopes_say() -> None:
    """As Keras 2.3 does, with an object that stands for a node; the values are TensorFlow's."""

    class Asker:
        device = None

        def _set_device_from_string(self, device: str) -> None:
            self.device = device

    def said(graph: Any) -> Any:
        asker = Asker()
        graph._apply_device_functions(asker)
        return asker.device

    graph = tf.Graph()
    with graph.as_default():
        assert said(graph) is None
        with tf.device("/job:a"), tf.device("/gpu:1"):
            assert said(graph) == "/job:a/device:GPU:1"
            with tf.device(None):
                assert said(graph) is None


def test_an_empty_name_is_none_that_a_node_may_have() -> None:
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        with pytest.raises(ValueError, match="'' is not a valid node name"):
            tf.identity(x, name="")
        with tf.name_scope("s"), pytest.raises(ValueError, match="'' is not a valid node name"):
            tf.nn.relu(x, name="")
