"""Leaves of nestings with the way to them; what comes out is what TensorFlow 1.15 gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import penstock as tf

nest = tf.contrib.framework.nest


class Pair(NamedTuple):
    x: Any
    y: Any


_NESTING = {"b": [5, Pair(6, (7,))], "a": 8}
_PATHS = [("a",), ("b", 0), ("b", 1, "x"), ("b", 1, "y", 0)]


def test_the_way_to_each_leaf() -> None:
    assert list(nest.yield_flat_paths(_NESTING)) == _PATHS
    leaves = [8, 5, 6, 7]
    assert nest.flatten_with_tuple_paths(_NESTING) == list(zip(_PATHS, leaves, strict=True))
    texts = ["a", "b.0", "b.1.x", "b.1.y.0"]
    found = nest.flatten_with_joined_string_paths(_NESTING, separator=".")
    assert found == list(zip(texts, leaves, strict=True))
    assert nest.flatten_with_tuple_paths(3) == [((), 3)]
    shallow = {"a": 0, "b": [0, 0]}
    assert nest.flatten_with_tuple_paths_up_to(shallow, _NESTING) == [
        (("a",), 8), (("b", 0), 5), (("b", 1), Pair(6, (7,))),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="same sequence length"):
        nest.flatten_with_tuple_paths_up_to([0], [1, 2])


def test_maps_that_know_the_way() -> None:
    def pair(path: Any, *values: int) -> Any:
        return path, sum(values)

    assert nest.map_structure_with_paths(pair, _NESTING, _NESTING) == {
        "b": [("b/0", 10), Pair(("b/1/x", 12), (("b/1/y/0", 14),))], "a": ("a", 16),
    }  # fmt: skip
    found = nest.map_structure_with_tuple_paths(pair, {"a": [1]})
    assert found == {"a": [(("a", 0), 1)]}
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nest.map_structure_with_tuple_paths_up_to({"a": 0}, pair)


def test_how_deep_to_go() -> None:
    def lists(part: Any) -> Any:
        return isinstance(part, list | dict)

    assert nest.get_traverse_shallow_structure(lists, _NESTING) == {"b": [False, False], "a": False}
    with pytest.raises(TypeError, match="returned structure"):
        nest.get_traverse_shallow_structure(lambda _: [True], 5)
    with pytest.raises(TypeError, match="non-bool scalar"):
        nest.get_traverse_shallow_structure(lambda _: 5, [5])
    with pytest.raises(TypeError, match="didn't return a depth=1 structure of bools"):
        nest.get_traverse_shallow_structure(lambda _: ["x"], [5])


def test_keys_that_are_nestings() -> None:
    found = nest.flatten_dict_items({(4, 5): ("a", "b"), 6: "c"})
    assert found == {4: "a", 5: "b", 6: "c"}
    with pytest.raises(ValueError, match="key 4 is not unique"):
        nest.flatten_dict_items({(4, 5): ("a", "b"), 4: 3})
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1"):
        nest.flatten_dict_items({(4, 5): ("a",)})
    with pytest.raises(TypeError, match="input must be a dictionary"):
        nest.flatten_dict_items([1])


def test_names_that_libraries_know() -> None:
    graph = tf.get_default_graph()
    with graph._kernel_label_map({"Const": "label"}):
        labelled, other = tf.constant(1), tf.no_op()
    assert labelled.op.get_attr("_kernel") == b"label"
    assert "_kernel" not in other.node_def.attr
    with pytest.raises(TypeError, match="strings to strings"), graph._kernel_label_map({1: 2}):
        pass
    with graph._original_op(other):
        because = tf.constant(2)
    assert because.op._original_op is other and tf.constant(3).op._original_op is None
    numbers = tf.data.Dataset.range(3)
    pairs = tf.data.Dataset.zip((numbers, numbers))
    assert [len(d._inputs()) for d in (numbers, numbers.batch(2), pairs)] == [0, 1, 2]
    template = tf.make_template("t", lambda: tf.get_variable("v", []))
    assert not template._variables_created
    template()
    assert template._variables_created
    message = tf.MetaGraphDef()
    tf.add_to_collection("kept", labelled)
    tf.train.Saver._add_collection_def(message, "kept")
    assert list(message.collection_def["kept"].node_list.value) == [labelled.name]


def test_leaves_of_a_module() -> None:
    class Numbers(tf.Module):
        def __init__(self) -> None:
            super().__init__("numbers")
            self.x, self.y, self.z = "text", {"i": 5, "j": 6}, [7]

    outer, inner = Numbers(), Numbers()
    outer.inner = inner

    def is_int(leaf: Any) -> bool:
        return isinstance(leaf, int)

    assert list(inner._flatten(predicate=is_int)) == [5, 6, 7]
    by_last = inner._flatten(predicate=is_int, attribute_traversal_key=lambda key: -ord(key[0]))
    assert list(by_last) == [7, 5, 6]
    found = [path for path, _ in outer._flatten(predicate=is_int, with_path=True)]
    own = [("y", "i"), ("y", "j"), ("z", 0)]
    assert found == [*own, *(("inner", *path) for path in own)]
    assert list(outer._flatten(recursive=False, predicate=is_int)) == [5, 6, 7]
