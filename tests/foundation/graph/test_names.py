"""The names that nodes, scopes and arguments may have: TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import penstock as tf
from penstock.foundation.graph.graph import Graph
from penstock.foundation.opdef.registry import OPS

# A newline ends a comment; so do those that only some readers of a text take for one.
BAD = ["x\ny", "x\n", "x y", "x#y", "x\u2028y", "x\x85y", "x\r", 'x"', "x'", "é", "x:0", "x{}"]


def _constant(name: str) -> str:
    return tf.constant(1.0, name=name).op.name


def _placeholder(name: str) -> str:
    return tf.placeholder(tf.float32, name=name).op.name


def _created(name: str) -> str:
    return tf.get_default_graph().create_op("NoOp", [], [], name=name).name


def _exact(name: str) -> str:
    return tf.constant(1.0, name=f"{name}/").op.name


def _in_reopened_scope(name: str) -> str:
    with tf.name_scope(f"{name}/"):
        return tf.constant(1.0).op.name


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(
    "make", [_constant, _placeholder, _created, _exact, _in_reopened_scope]
)  # fmt: skip
def test_no_node_gets_a_name_that_tensorflow_refuses(make: Callable[[str], str], name: str) -> None:
    with Graph().as_default(), pytest.raises(ValueError, match="is not a valid node name"):
        make(name)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("outer", [None, "outer"])
def test_no_scope_gets_a_name_that_tensorflow_refuses(name: str, outer: str | None) -> None:
    with Graph().as_default(), tf.name_scope(outer), pytest.raises(ValueError, match="valid scope"):
        with tf.name_scope(name):
            pass


@pytest.mark.parametrize("name", ["_x", "-x", "/x", "\\x", ">x"])
def test_some_characters_may_begin_a_name_only_inside_a_scope(name: str) -> None:
    with Graph().as_default():
        with pytest.raises(ValueError, match="is not a valid node name"):
            tf.constant(1.0, name=name)
        with pytest.raises(ValueError, match="is not a valid scope name"), tf.name_scope(name):
            pass
        with tf.name_scope("outer"):
            assert tf.constant(1.0, name=name).op.name == f"outer/{name}"
            with tf.name_scope(name) as scope:
                assert scope == f"outer/{name}_1/"


@pytest.mark.parametrize("name", ["x", ".x", "9", "a/b.c-d_e", "a\\b", "a>b", "a__b", "a//b"])
def test_names_that_tensorflow_takes(name: str) -> None:
    with Graph().as_default():
        assert _constant(name) == name
        message = tf.get_default_graph().as_graph_def()
    with Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        assert [op.name for op in graph.get_operations()] == [name]


@pytest.mark.parametrize("name", [*BAD, "_x", ""])
def test_imported_names_are_checked(name: str) -> None:
    message = tf.GraphDef()
    message.node.add(name=name, op="NoOp")
    for prefix in ("", "scope"):
        with Graph().as_default() as graph:
            with pytest.raises(ValueError, match="Node name contains invalid characters"):
                tf.import_graph_def(message, name=prefix)
            assert not graph.get_operations()


@pytest.mark.parametrize("prefix", ["x\n", "x\n/", "_x", "x y"])
def test_the_prefix_of_an_import_is_checked(prefix: str) -> None:
    message = tf.GraphDef()
    message.node.add(name="a", op="NoOp")
    with Graph().as_default() as graph, pytest.raises(ValueError, match="is not a valid"):
        tf.import_graph_def(message, name=prefix)
    assert not graph.get_operations()


@pytest.mark.parametrize("name", [*BAD, ""])
def test_names_of_arguments_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="Node name contains invalid characters"):
        _import_function(argument=name)


@pytest.mark.parametrize("name", ["x", "_x", "X.y/z-"])
def test_names_of_arguments_that_tensorflow_takes(name: str) -> None:
    _import_function(argument=name)


def test_nodes_of_a_function_may_begin_with_an_underscore() -> None:
    _import_function(argument="x", node="_n")


def _import_function(argument: str, node: str = "n") -> None:
    """Imports a dataset whose function has an argument and a node of these names."""
    with Graph().as_default():
        tf.data.Dataset.range(3).map(lambda x: -x).make_one_shot_iterator().get_next(name="got")
        message = tf.get_default_graph().as_graph_def()
    functions = [f for f in message.library.function if any(n.op == "Neg" for n in f.node_def)]
    assert len(functions) == 1
    renamed = {functions[0].signature.input_arg[0].name: argument}
    functions[0].signature.input_arg[0].name = argument
    for each in functions[0].node_def:
        if each.op == "Neg":
            renamed[f"{each.name}:y:0"] = f"{node}:y:0"
            each.name = node
        each.input[:] = [renamed.get(text, text) for text in each.input]
    with Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        with tf.Session(graph=graph) as session:
            assert session.run("got:0") == 0


def test_the_graph_itself_takes_no_such_name() -> None:
    """Whatever the way to it."""
    graph = Graph()
    with pytest.raises(ValueError, match="is not a valid node name"):
        graph.add_operation(OPS["NoOp"], [], {}, [], "x\ny")
    assert not graph.get_operations()
