"""TensorLists without TensorFlow: values stay as they are, errors; the rest is conformance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make

FLOAT = {"element_dtype": tf.float32}


def _list(rows: Any) -> tf.Tensor:
    made: tf.Tensor = make("TensorListFromTensor", tf.constant(rows), [2])
    return made


def _stacked(handle: tf.Tensor, shape: Any = (2,)) -> tf.Tensor:
    made: tf.Tensor = make("TensorListStack", handle, list(shape), **FLOAT)
    return made


def test_lists_are_values() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        first = _list([[1.0, 2.0], [3.0, 4.0]])
        second = make("TensorListSetItem", first, 0, tf.constant([9.0, 9.0]))
        third = make("TensorListPushBack", second, tf.constant([5.0, 5.0]))
        found = sess.run([_stacked(t) for t in (first, second, third)])
        assert [f.tolist() for f in found] == [
            [[1, 2], [3, 4]], [[9, 9], [3, 4]], [[9, 9], [3, 4], [5, 5]],
        ]  # fmt: skip


def test_what_was_put_in_is_not_overwritten() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
        empty = make("EmptyTensorList", [2], -1, **FLOAT)
        held = make("TensorListPushBack", empty, v)
        with tf.control_dependencies([held]):
            update = v.assign_add([10.0, 10.0])
        with tf.control_dependencies([update]):
            item = make("TensorListGetItem", held, 0, [2], **FLOAT)
        sess.run(tf.global_variables_initializer())
        assert sess.run(item).tolist() == [1.0, 2.0]


def test_elements_that_were_not_written_are_zeros() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        made = make("TensorListReserve", [2], 3, **FLOAT)
        made = make("TensorListSetItem", made, 1, tf.constant([1.0, 2.0]))
        assert sess.run(_stacked(made, (-1,))).tolist() == [[0, 0], [1, 2], [0, 0]]
        unknown = make("TensorListReserve", -1, 3, **FLOAT)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not written"):
            sess.run(make("TensorListGetItem", unknown, 1, -1, **FLOAT))
        assert sess.run(make("TensorListElementShape", unknown, shape_type=tf.int32)) == -1


def test_strings() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        made = make("TensorListFromTensor", tf.constant([b"a", b"b"]), tf.constant([], tf.int32))
        made = make("TensorListPushBack", made, tf.constant(b"c"))
        none = tf.constant([], tf.int32)
        found = sess.run(make("TensorListStack", made, none, element_dtype=tf.string))
        assert found.tolist() == [b"a", b"b", b"c"]


def _refused() -> dict[str, Any]:
    rows = [[1.0, 2.0], [3.0, 4.0]]
    empty = lambda: make("EmptyTensorList", [2], 1, **FLOAT)  # noqa: E731
    return {
        "element 2 was asked for; the list has 2": lambda: make(
            "TensorListGetItem", _list(rows), 2, [2], **FLOAT
        ),
        "empty list": lambda: make("TensorListPopBack", empty(), [2], **FLOAT)[1],
        "full list": lambda: _stacked(
            make(
                "TensorListPushBack",
                make("TensorListPushBack", empty(), [1.0, 1.0]), tf.constant([1.0, 1.0]),
            )
        ),
        "not compatible": lambda: _stacked(
            make("TensorListPushBack", empty(), tf.constant([1.0, 2.0, 3.0]))
        ),
        "taken for": lambda: make(
            "TensorListStack", _list(rows), [2], element_dtype=tf.int32
        ),
        "shape of an empty list is not known": lambda: _stacked(
            make("EmptyTensorList", -1, -1, **FLOAT), (-1,)
        ),
        "5 elements were asked for; found 2": lambda: make(
            "TensorListStack", _list(rows), [2], num_elements=5, **FLOAT
        ),
        "sum to 5": lambda: make(
            "TensorListLength",
            make(
                "TensorListSplit", tf.constant(rows), [-1, 2], tf.constant([2, 3], tf.int64)
            ),
        ),
        "has no zeros|size of at least 0": lambda: make(
            "TensorListLength", make("TensorListResize", _list(rows), -1)
        ),
    }  # fmt: skip


@pytest.mark.parametrize("message", sorted(_refused()))
def test_what_is_refused(message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(_refused()[message]())


def test_shapes_that_are_known_before_running() -> None:
    with tf.Graph().as_default():
        handle = _list(np.zeros([3, 2], np.float32))
        assert handle.shape == []
        assert _stacked(handle).shape.as_list() == [None, 2]
        assert make("TensorListGetItem", handle, 0, [2], **FLOAT).shape == [2]
        joined = make("TensorListConcatV2", handle, [-1, 4], tf.constant([], tf.int64), **FLOAT)
        assert joined[0].shape.as_list() == [None, 4]
