"""Nodes that variables make: names, types, inputs and colocation, as TensorFlow 1.15 makes them."""

from __future__ import annotations

import numpy as np

import penstock as tf


def nodes(graph: tf.Graph) -> list[tuple[str, str, list[str], list[str]]]:
    rows = []
    for op in graph.get_operations():
        inputs = [t.op.name for t in op.inputs] + [f"^{c.name}" for c in op.control_inputs]
        rows.append((op.name, op.type, inputs, [c.decode() for c in op.attrs.get("_class", [])]))
    return rows


def test_reference_variable() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0], name="W")
    assert nodes(graph) == [
        ("W/initial_value", "Const", [], []),
        ("W", "VariableV2", [], []),
        ("W/Assign", "Assign", ["W", "W/initial_value"], ["loc:@W"]),
        ("W/read", "Identity", ["W"], ["loc:@W"]),
    ]
    assert v.name == "W:0"
    assert v.dtype.name == "float32_ref"
    assert v.op.name == "W"


def test_reference_variable_from_a_function() -> None:
    with tf.Graph().as_default() as graph, graph.device("/gpu:0"):
        v = tf.Variable(lambda: tf.zeros([2]), name="y")
    assert nodes(graph) == [
        ("y/Initializer/zeros", "Const", [], ["loc:@y"]),
        ("y", "VariableV2", [], ["loc:@y"]),
        ("y/Assign", "Assign", ["y", "y/Initializer/zeros"], ["loc:@y"]),
        ("y/read", "Identity", ["y"], ["loc:@y"]),
    ]
    assert v.initial_value.device == ""
    assert v.device == v.initializer.device == "/device:GPU:0"


def test_resource_variable() -> None:
    with tf.Graph().as_default() as graph:
        z = tf.Variable(np.zeros(2, np.float32), name="z", use_resource=True)
        z.assign_add([1.0, 1.0])
        z.read_value()
        tf.negative(z)
    assert nodes(graph) == [
        ("z/Initializer/initial_value", "Const", [], ["loc:@z"]),
        ("z", "VarHandleOp", [], ["loc:@z"]),
        ("z/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", ["z"], []),
        ("z/Assign", "AssignVariableOp", ["z", "z/Initializer/initial_value"], []),
        ("z/Read/ReadVariableOp", "ReadVariableOp", ["z"], []),
        ("Const", "Const", [], []),
        ("AssignAddVariableOp", "AssignAddVariableOp", ["z", "Const"], []),
        ("ReadVariableOp", "ReadVariableOp", ["z", "^AssignAddVariableOp"], []),
        ("Read/ReadVariableOp", "ReadVariableOp", ["z"], []),
        ("Identity", "Identity", ["Read/ReadVariableOp"], []),
        ("Neg/ReadVariableOp", "ReadVariableOp", ["z"], []),
        ("Neg", "Neg", ["Neg/ReadVariableOp"], []),
    ]
    assert graph.get_operation_by_name("z").get_attr("shared_name") == b"z"


def test_default_names() -> None:
    with tf.Graph().as_default(), tf.name_scope("s"):
        names = [tf.Variable(0.0).name for _ in range(2)]
    assert names == ["s/Variable:0", "s/Variable_1:0"]


def test_updates_are_colocated() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0], name="v")
        before = len(graph.get_operations())
        v.assign([3.0, 4.0])
        tf.scatter_add(v, [0], [1.0])
        v.read_value()
        tf.is_variable_initialized(v)
        v[0].assign(5.0)
    made = nodes(graph)[before:]
    assert ("Assign", "Assign", ["v", "Assign/value"], ["loc:@v"]) in made
    scatter = ("ScatterAdd", "ScatterAdd", ["v", "ScatterAdd/indices", "ScatterAdd/updates"],
               ["loc:@v"])  # fmt: skip
    assert scatter in made
    assert ("read", "Identity", ["v"], []) in made
    assert ("IsVariableInitialized", "IsVariableInitialized", ["v"], ["loc:@v"]) in made
    assert made[-1] == (
        "strided_slice/_assign", "StridedSliceAssign",
        ["v", "strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2",
         "strided_slice/_assign/value"], ["loc:@v"],
    )  # fmt: skip


def test_get_variable_and_initializer_names() -> None:
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("a"):
            w = tf.get_variable("w", [2, 3])
            b = tf.get_variable("b", [3], tf.int32)
        init = tf.global_variables_initializer()
    assert (w.name, b.name, init.name) == ("a/w:0", "a/b:0", "init")
    assert w.initial_value.name == "a/w/Initializer/random_uniform:0"
    assert b.initial_value.name == "a/b/Initializer/zeros:0"
    names = [name for name, *_ in nodes(graph)]
    assert names[:8] == [
        f"a/w/Initializer/random_uniform{part}"
        for part in ("/shape", "/min", "/max", "/RandomUniform", "/sub", "/mul", "")
    ] + ["a/w"]
    assert {c.name for c in init.control_inputs} == {"a/w/Assign", "a/b/Assign"}


def test_initial_value_of_other_variables_is_guarded() -> None:
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        x = tf.Variable(tf.negative(tf.negative(v)), name="x")
    assert x.initializer.inputs[1].op.name == "Neg_1_x"
    assert x.initializer.inputs[1].op.inputs[0].op.name == "Neg_x"
    read = x.initializer.inputs[1].op.inputs[0].op.inputs[0].op
    assert read.name == "v/read_x"
    assert read.inputs[0].name == "x/cond/Merge:0"
    assert x.initial_value.name == "Neg_1:0"
