"""Conditionals and loops as graphs: structure, errors, cycles, copies, contexts."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.foundation.graph import nest
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.handles import handle_of, handles_of, is_handle, resource_keys
from penstock.library.control_flow import kinds
from penstock.ops.control import control_flow
from tests.library.control_flow.programs import PROGRAMS, dump, nested_constructs


def _types(graph: tf.Graph) -> list[str]:
    return [op.type for op in graph.get_operations()]


def test_cond_makes_switches_and_a_merge() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.cond(x > 1.0, lambda: x * 2.0, lambda: x)
        assert y.op.type == "Merge"
        assert [t.op.type for t in y.op.inputs] == ["Switch", "Mul"]
        assert _types(graph).count("Switch") == 3
        assert not graph.is_fetchable(y.op.inputs[1])
        assert graph.is_fetchable(y)


def test_a_loop_is_a_cycle() -> None:
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
        merge = graph.get_operation_by_name("while/Merge")
        assert [t.op.type for t in merge.inputs] == ["Enter", "NextIteration"]
        assert merge in graph.get_operation_by_name("while/NextIteration").outputs[0].consumers()


def test_contexts_know_each_other() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        seen: list[Any] = []

        def branch() -> Any:
            seen.append(x * 2.0)
            return seen[-1]

        tf.while_loop(lambda a: a < 3.0, lambda a: tf.cond(a > x, branch, lambda: a), [x])
        [loop] = graph.get_collection(tf.GraphKeys.WHILE_CONTEXT)
        inner = seen[0].op._get_control_flow_context()
        assert inner.IsCondContext() and inner.outer_context is loop
        assert loop.outer_context is None and inner.GetWhileContext() is loop
        assert graph.get_collection(tf.GraphKeys.COND_CONTEXT) == []
        assert kinds.IsInWhileLoop(seen[0].op) and kinds.IsInCond(seen[0].op)
        assert kinds.GetLoopConstantEnter(seen[0].op.inputs[0]).type == "Enter"
        assert [e.op.type for e in loop.loop_enters] == ["Enter"]
        assert [e.op.type for e in loop.loop_exits] == ["Exit"]
        merges = [op for op in graph.get_operations() if kinds.IsMerge(op)]
        assert [kinds.IsLoopMerge(op) for op in merges] == [True, False]
        assert [kinds.IsCondMerge(op) for op in merges] == [False, True]


def test_messages_go_both_ways() -> None:
    with tf.Graph().as_default() as graph:
        nested_constructs(tf)
        message = tf.train.export_meta_graph()
        first = _messages(graph)
    with tf.Graph().as_default() as again:
        tf.train.import_meta_graph(message)
        assert _messages(again) == first
        for op in graph.get_operations():
            context = op._get_control_flow_context()
            if context is not None and op.outputs:
                other = again.get_operation_by_name(op.name)._get_control_flow_context()
                assert other is not None and other.name == context.name, op.name


def _messages(graph: tf.Graph) -> list[Any]:
    keys = (tf.GraphKeys.COND_CONTEXT, tf.GraphKeys.WHILE_CONTEXT)
    return [context.to_proto() for key in keys for context in graph.get_collection(key)]


def test_a_scope_is_taken_off_and_put_on() -> None:
    with tf.Graph().as_default():
        nested_constructs(tf)
        message = tf.train.export_meta_graph(export_scope="scope")
    with tf.Graph().as_default() as graph:
        names = {
            v.decode().removeprefix("$unbound_inputs_")
            for v in message.collection_def["unbound_inputs"].bytes_list.value
        }
        given = {
            f"$unbound_inputs_{n}": tf.placeholder(tf.bool if n[0] == "p" else tf.float32, [])
            for n in names
        }
        tf.train.import_meta_graph(message, import_scope="other", input_map=given)
        assert {c.name for c in graph.get_collection(tf.GraphKeys.WHILE_CONTEXT)} == {
            "other/while/while_context"
        }
        frames = {op.attrs["frame_name"] for op in graph.get_operations() if op.type == "Enter"}
        assert "other/while/while_context" in frames


@pytest.mark.parametrize("by_ref", [True, False])
def test_handles_are_known_through_constructs(by_ref: bool) -> None:
    with tf.Graph().as_default():
        a, b = (tf.get_variable(name, [2], use_resource=not by_ref) for name in ("a", "b"))
        first, second = (v._ref() if by_ref else v.handle for v in (a, b))
        enter = control_flow.enter(first, "frame")
        merge = control_flow.merge([enter, enter])[0]
        following = control_flow.next_iteration(merge)
        merge.op._update_input(1, following)
        assert is_handle(merge) and handle_of(following) is a.op
        chosen = control_flow.merge([following, second])[0]
        assert handles_of(chosen) == [a.op, b.op]
        read = tf.identity(chosen) if by_ref else None
        if read is not None:
            assert resource_keys(read.op) == {("", "a"), ("", "b")}


def test_a_handle_made_at_run_time_is_a_value() -> None:
    with tf.Graph().as_default() as graph:
        from penstock.foundation.graph.build import make

        stack = make("StackV2", 3, elem_type=tf.float32)
        assert not is_handle(stack)
        assert not is_handle(control_flow.enter(stack, "frame"))
        assert graph.get_operations()


def test_graphdef_in_any_order() -> None:
    with tf.Graph().as_default() as graph:
        nested_constructs(tf)
        message = graph.as_graph_def()
    nodes = list(message.node)[::-1]
    del message.node[:]
    message.node.extend(nodes)
    with tf.Graph().as_default() as again:
        tf.import_graph_def(message, name="")
        for op in graph.get_operations():
            other = again.get_operation_by_name(op.name)
            assert [t.name for t in other.inputs] == [t.name for t in op.inputs]
            assert {c.name for c in other.control_inputs} == {c.name for c in op.control_inputs}


def test_inlined_calls_run_in_frames_of_their_own() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.while_loop(lambda a: a < 3.0, lambda a: a + x, [x])
        body = graph.as_graph_def()
        outputs = {op.name: [a.name for a in op.op_def.outputs] for op in graph.get_operations()}
    message = tf.GraphDef()
    function = message.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    function.ret["y"] = "while/Exit:output:0"
    for node in body.node:
        if node.name == "x":
            continue
        made = function.node_def.add()
        made.CopyFrom(node)
        for index, text in enumerate(node.input):
            name, _, output = text.partition(":")
            if not text.startswith("^") and name != "x":
                made.input[index] = f"{name}:{outputs[name][int(output or 0)]}:0"
    message.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    for name in ("first", "second"):
        message.node.add(name=name, op="f", input=["x"])
    with tf.Graph().as_default() as again, tf.Session() as session:
        made = tf.import_graph_def(message, name="", return_elements=["first:0", "second:0"])
        frames = {op.attrs["frame_name"] for op in again.get_operations() if op.type == "Enter"}
        assert frames == {f"{n}/while/while_context" for n in ("first", "second")}
        assert session.run(made, {"x:0": 1.0}) == [3.0, 3.0]


def test_a_loop_is_copied_into_a_function() -> None:
    with tf.Graph().as_default() as graph:
        result = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
        body = FunctionGraph("f", graph, by_value=True)
        copy = body.capture(result)
        merge = body.get_operation_by_name("while/Merge")
        assert copy.op.type == "Exit"
        assert [t.op.type for t in merge.inputs] == ["Enter", "NextIteration"]


def test_smart_cond() -> None:
    from penstock.contrib.framework import smart_cond, smart_constant_value

    with tf.Graph().as_default() as graph:
        assert smart_cond(True, lambda: 1, lambda: 2) == 1
        assert smart_cond(0, lambda: 1, lambda: 2) == 2
        assert smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
        assert "Merge" not in _types(graph)
        unknown = tf.placeholder(tf.bool, [])
        assert smart_constant_value(unknown) is None
        assert smart_cond(unknown, lambda: 1, lambda: 2).op.type == "Merge"
        with pytest.raises(TypeError, match="found instead|Found instead"):
            smart_cond("yes", lambda: 1, lambda: 2)


# ---- errors --------------------------------------------------------------------------------------

# Program to the parts of its message: the construct, its line, what was found, what is allowed.
MESSAGES = {
    "error_pred_dtype": ("TypeError", ["tf.cond 'cond'", "bool scalar", "'x:0' is int32"]),
    "error_pred_rank": ("ValueError", ["tf.cond 'cond'", "rank 0", "(2,)"]),
    "error_branch_dtypes": ("ValueError", ["tf.cond 'cond'", "int32, float32", "result 0"]),
    "error_branch_types": ("TypeError", ["tf.cond 'cond'", "return types", "tuple", "list"]),
    "error_branch_keys": ("ValueError", ["tf.cond 'cond'", "['a']", "['b']"]),
    "error_branch_none": ("ValueError", ["tf.cond 'cond'", "true_fn must have a return value"]),
    "error_loop_shape": (
        "ValueError",
        ["tf.while_loop 'while'", "'ones:0'", "loop variable 0", "(2,)", "(4,)",
         "shape_invariants"],
    ),
    "error_loop_dtype": (
        "TypeError",
        ["tf.while_loop 'while'", "'while/Const:0'", "loop variable 0", "int32", "float32"],
    ),
    "error_loop_number": ("ValueError", ["tf.while_loop 'while'", "same number of elements"]),
    "error_loop_structure": ("TypeError", ["tf.while_loop 'while'", "list", "tuple"]),
    "error_loop_invariant": ("ValueError", ["tf.while_loop 'while'", "(2,)", "(3,)"]),
    "error_loop_pred_dtype": ("TypeError", ["tf.while_loop 'while'", "bool scalar", "int32"]),
    "error_loop_pred_rank": ("ValueError", ["tf.while_loop 'while'", "rank 0", "(2,)"]),
    "error_out_of_loop": (
        "ValueError", ["tf.while_loop 'while'", "'while/Identity'", "'Identity'", "a while loop"],
    ),
    "error_other_loop": (
        "ValueError", ["tf.while_loop 'while'", "tf.while_loop 'while_1'", "different while loops"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_errors_name_the_construct_and_the_line(name: str) -> None:
    kind, parts = MESSAGES[name]
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError)) as caught:
        PROGRAMS[name](tf)
    text = str(caught.value)
    assert type(caught.value).__name__ == kind
    assert "programs.py" in text, "the user's line"
    for part in parts:
        assert part in text, text


def test_a_failed_construct_leaves_its_context() -> None:
    with tf.Graph().as_default() as graph:
        for name in ("error_branch_dtypes", "error_loop_shape", "error_branch_none"):
            with pytest.raises(ValueError):
                PROGRAMS[name](tf)
        assert graph._get_control_flow_context() is None
        assert tf.constant(1).op._get_control_flow_context() is None


@pytest.mark.parametrize("name", sorted(n for n in PROGRAMS if not n.startswith("error")))
def test_programs_build(name: str) -> None:
    made = dump(tf, PROGRAMS[name])
    assert made["error"] is None
    assert any(node["op"] == "Merge" for node in made["nodes"])


# ---- nestings ------------------------------------------------------------------------------------


def test_nest() -> None:
    structure = {"b": [1, (2, {"z": 3})], "a": 0}
    assert nest.flatten(structure) == [0, 1, 2, 3]
    assert nest.pack_sequence_as(structure, [5, 6, 7, 8]) == {"b": [6, (7, {"z": 8})], "a": 5}
    assert nest.map_structure(lambda v: v + 1, structure) == {"b": [2, (3, {"z": 4})], "a": 1}
    assert nest.flatten_up_to([0, (0,)], [[1], ([2, 3],)]) == [[1], [2, 3]]
    assert not nest.is_sequence("text")
    with pytest.raises(TypeError):
        nest.assert_same_structure([1], (1,))
    nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError):
        nest.pack_sequence_as([1, 2], [1])
    with pytest.raises(ValueError):
        nest.assert_shallow_structure([1, 2], [1])
