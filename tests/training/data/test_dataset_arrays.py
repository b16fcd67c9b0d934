"""A TensorArray in functions that datasets call is a list; what is wanted is TensorFlow 1.15's."""

from typing import Any

import numpy as np
import pytest

import penstock as tf

Array = tf.TensorArray


def _elements(dataset: Any) -> list[Any]:
    """All elements of a dataset of the default graph."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return found


def _as_lists(elements: list[Any]) -> Any:
    return [
        [np.asarray(part).tolist() for part in element]
        if isinstance(element, tuple)
        else np.asarray(element).tolist()
        for element in elements
    ]


def _mapped(function: Any, count: int) -> Any:
    with tf.Graph().as_default():
        return _as_lists(_elements(tf.data.Dataset.range(count).map(function)))


def test_an_element_is_written_anew_and_read_again() -> None:
    def twice(x: Any) -> Any:
        array = Array(tf.int64, size=2).write(0, x).write(0, x + 1)
        return array.size(), array.read(0), array.read(0), array.stack()

    assert _mapped(twice, 2) == [[2, 1, 1, [1, 0]], [2, 2, 2, [2, 0]]]


def test_what_was_not_written_is_zeros() -> None:
    def unwritten(x: Any) -> Any:
        array = Array(tf.int64, size=3, element_shape=[])
        return array.write(1, x).stack(), array.read(0)

    assert _mapped(unwritten, 2) == [[[0, 0, 0], 0], [[0, 1, 0], 0]]


def test_parts_of_several_lengths() -> None:
    def parts(x: Any) -> Any:
        array = Array(tf.int64, size=3)
        array = array.split(tf.range(tf.constant(6, tf.int64)), [1, 2, 3])
        return array.concat(), array.size(), array.read(2)

    assert _mapped(parts, 1) == [[[0, 1, 2, 3, 4, 5], 3, [3, 4, 5]]]


def test_loops_and_conditionals_hand_arrays_on() -> None:
    def loop(x: Any) -> Any:
        array = Array(tf.int64, size=0, dynamic_size=True)
        _, array = tf.while_loop(
            lambda i, _: i < x,
            lambda i, a: (i + 1, a.write(tf.cast(i, tf.int32), i * i)),
            (tf.constant(0, tf.int64), array),
        )
        return array.stack()

    def branch(x: Any) -> Any:
        array = Array(tf.int64, size=1)
        array = tf.cond(x > 0, lambda: array.write(0, x), lambda: array.write(0, x - 100))
        return array.stack()

    assert _mapped(loop, 3) == [[], [0], [0, 1]]
    assert _mapped(branch, 3) == [[-100], [1], [2]]


def test_a_scan_hands_an_array_from_one_element_to_the_next() -> None:
    def step(state: Any, x: Any) -> Any:
        index = tf.cast(x % 2, tf.int32)
        state = state.write(index, state.read(index) + x)
        return state, state.stack()

    def scanned(_: Any) -> Any:
        first = Array(tf.int64, size=2, element_shape=[], clear_after_read=False)
        first = first.unstack(tf.constant([10, 20], tf.int64))
        return tf.data.Dataset.range(5).apply(tf.data.experimental.scan(first, step))

    with tf.Graph().as_default():
        found = _as_lists(_elements(tf.data.Dataset.range(1).flat_map(scanned)))
    assert found == [[10, 20], [10, 21], [12, 21], [12, 24], [16, 24]]


def test_an_array_is_an_element() -> None:
    with tf.Graph().as_default():
        arrays = tf.data.Dataset.range(3).map(
            lambda x: Array(tf.int64, size=2).write(0, x).write(1, x)
        )
        assert arrays.element_spec == tf.TensorArraySpec([], tf.int64)
        assert tf.data.get_output_types(arrays) is tf.int64
        assert tf.data.get_output_shapes(arrays).as_list() == [None, 1]
        assert tf.data.get_output_classes(arrays) is Array
        assert _as_lists(_elements(arrays.map(lambda a: a.stack()))) == [[0, 0], [1, 1], [2, 2]]
        reinitializable = tf.data.Iterator.from_structure(
            tf.data.get_output_types(arrays),
            tf.data.get_output_shapes(arrays),
            output_classes=tf.data.get_output_classes(arrays),
        )
        first = reinitializable.get_next().stack()
        with tf.Session() as sess:
            sess.run(reinitializable.make_initializer(arrays))
            assert sess.run(first).tolist() == [0, 0]


def test_nodes_are_those_of_lists() -> None:
    seen: dict[str, Any] = {}

    def function(x: Any) -> Any:
        array = Array(tf.int64, size=2, element_shape=[])
        seen["made"] = array.handle, array.flow.dtype, array.flow.op.type, array.flow.op.name
        flow = array.write(0, x).flow
        seen["written"] = flow.op.name
        seen["inputs"] = [t.op.type for t in flow.op.inputs]
        seen["read"] = array.read(0).op.name
        seen["stacked"] = array.stack().op.name
        seen["closed"] = array.close().type
        with pytest.raises(NotImplementedError, match="is a list"):
            array.grad("gradients")
        return x

    with tf.Graph().as_default():
        tf.data.Dataset.range(1).map(function)
    assert seen == {
        "made": (None, tf.variant, "TensorListReserve", "TensorArrayV2"),
        "written": "TensorArrayV2Write/TensorListSetItem",
        "inputs": ["TensorListReserve", "Const", "Placeholder"],
        "read": "TensorArrayV2Read/TensorListGetItem",
        "stacked": "TensorArrayV2Stack/TensorListStack",
        "closed": "NoOp",
    }


def test_beyond_the_end() -> None:
    def beyond(x: Any) -> Any:
        return Array(tf.int64, size=1).write(2, x).size()

    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorListSetItem"):
        _mapped(beyond, 1)


def test_an_array_of_a_step_stays_there() -> None:
    """TensorFlow 1.15 makes such a dataset, and no iterator of it."""
    with tf.Graph().as_default():
        outer = Array(tf.int64, size=1, element_shape=[])
        with pytest.raises(TypeError, match="make it in a function that the dataset calls"):
            tf.data.Dataset.range(1).apply(
                tf.data.experimental.scan(outer, lambda state, x: (state, x))
            )
