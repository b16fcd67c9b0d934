"""Pass-throughs and control edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import static
from penstock.ops.control import control


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def _controls(op: Any) -> list[str]:
    return [c.name for c in op.control_inputs]


def test_group_makes_one_node_a_device(graph: Any) -> None:
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.constant(1.0, name="b")
    c = tf.constant(1.0, name="c")
    done = tf.group(b, [a, {"k": c}], name="done")
    assert done.name == "done"
    assert [(op.name, op.device, _controls(op)) for op in graph.get_operations()[3:]] == [
        ("done/NoOp", "", ["c"]),
        ("done/NoOp_1", "/device:CPU:0", ["a"]),
        ("done/NoOp_2", "/device:CPU:1", ["b"]),
        ("done", "", ["done/NoOp", "done/NoOp_1", "done/NoOp_2"]),
    ]


def test_group_of_one_device_and_of_nothing() -> None:
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    one = tf.group(a)
    assert (one.name, one.device, _controls(one)) == ("group_deps", "/device:CPU:0", ["a"])
    nothing = tf.group()
    assert (nothing.name, _controls(nothing)) == ("group_deps_1", [])


def test_group_refuses_what_is_no_graph_element() -> None:
    with pytest.raises(TypeError, match="found 3 of type int"):
        tf.group(3)
    with pytest.raises(TypeError, match=r"only the keyword 'name'; found \['nmae'\]"):
        tf.group(nmae="x")


def test_a_group_runs_what_it_groups(capfd: Any) -> None:
    shown = tf.Print(tf.constant(1.0), ["ran"])
    done = tf.group(shown)
    with tf.Session() as sess:
        assert sess.run(done) is None
    assert capfd.readouterr().err == "[ran]\n"


def test_tuple_gates_its_tensors() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant([2.0], name="b")
    op = tf.no_op(name="extra")
    x, none, y, z = tf.tuple([b, None, a, op], control_inputs=[a])
    assert none is None
    gate = y.op.control_inputs[0]
    assert gate.name == "tuple/group_deps" and _controls(gate) == ["a", "b", "extra"]
    assert x.op.name == "tuple/control_dependency" and x.op.inputs[0] is b
    assert z.type == "NoOp" and set(z.control_inputs) == {gate, op}  # as TF 1.15 makes it
    with tf.Session() as sess:
        values = sess.run([x, y])
    np.testing.assert_array_equal(values[0], [2.0])
    assert values[1] == 1.0


def test_tuple_of_indexed_slices() -> None:
    values, where = tf.constant([[1.0]]), tf.constant([3])
    (gated,) = tf.tuple([tf.IndexedSlices(values, where)])
    assert gated.values.op.type == "Identity" and gated.indices is where


def test_tuple_needs_something() -> None:
    with pytest.raises(ValueError, match="at least one Tensor"):
        tf.tuple([None])
    with pytest.raises(TypeError, match="found 'x'"):
        tf.tuple([tf.constant(1.0)], control_inputs=["x"])


def test_with_dependencies_runs_them_first(capfd: Any) -> None:
    first = tf.Print(tf.constant(1.0), ["first"])
    value = control.with_dependencies([first], tf.constant(5.0))
    with tf.Session() as sess:
        assert sess.run(value) == 5.0
    assert capfd.readouterr().err == "[first]\n"


def test_identity_of_composites() -> None:
    sparse = tf.SparseTensor([[0, 1]], [7.0], [2, 2])
    passed = tf.identity(sparse)
    slices = tf.identity(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])))
    with tf.Session() as sess:
        assert sess.run(passed).values == [7.0]
        assert sess.run(slices).dense_shape is None


def test_identity_of_strings_and_static_values() -> None:
    text = tf.identity(tf.constant(["a", "b"]))
    shape = tf.identity(tf.constant([2, 3]))
    np.testing.assert_array_equal(static.constant_value(shape), [2, 3])
    assert static.constant_value_as_shape(tf.stop_gradient(shape)) == (2, 3)
    with tf.Session() as sess:
        assert list(sess.run(text)) == [b"a", b"b"]


def test_a_fetched_identity_is_not_the_feed() -> None:
    x = tf.placeholder(tf.float32, [2])
    fed = np.array([1.0, 2.0], np.float32)
    with tf.Session() as sess:
        value = sess.run(tf.identity(x), {x: fed})
    fed[0] = 9.0
    np.testing.assert_array_equal(value, [1.0, 2.0])


def test_identity_of_a_variable_is_its_value_then() -> None:
    v = tf.Variable([1.0], use_resource=False)
    before = tf.identity(v)
    with tf.control_dependencies([before]):
        change = tf.assign_add(v, [10.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([before, change])[0] == [1.0]


def test_with_dependencies_of_a_reference_keeps_the_reference() -> None:
    v = tf.Variable([1.0], use_resource=False)
    reference = v._ref()
    gated = control.with_dependencies([tf.no_op()], reference)
    assert gated.op.type == "RefIdentity" and gated.dtype.is_ref
    update = make("AssignAdd", gated, [2.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(update), [3.0])
        np.testing.assert_array_equal(sess.run(v), [3.0])
