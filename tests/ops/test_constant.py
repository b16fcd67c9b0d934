"""Constants."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.graph.build import make


def test_constants_without_elements_take_any_value() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        made = [tf.zeros([0]), tf.ones([2, 0]), tf.constant(1.0, shape=[0, 3])]
        assert [t.shape.as_list() for t in made] == [[0], [2, 0], [0, 3]]
        assert [v.shape for v in sess.run(made)] == [(0,), (2, 0), (0, 3)]


def test_a_placeholder_of_the_second_form_is_fed() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = make("PlaceholderV2", dtype=tf.float32, shape=tf.TensorShape([None, 2]))
        y = x * 2.0
        assert x.shape.as_list() == [None, 2]
        assert sess.run(y, {x: [[1.0, 2.0]]}).tolist() == [[2, 4]]
        with pytest.raises(ValueError, match="shape"):
            sess.run(y, {x: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be fed"):
            sess.run(y)
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(graph.as_graph_def(), name="")
            assert again.get_operation_by_name(x.op.name).type == "PlaceholderV2"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1.1, float("inf")], tf.bfloat16), ([1 + 2j], tf.float32), ([1 + 2j], tf.complex128)],
)
def test_a_casts_constant_value_is_what_a_run_gives(value: list[complex], dtype: tf.DType) -> None:
    made = tf.cast(tf.constant(value), dtype)
    known = tf.get_static_value(made)
    with tf.Session() as session:
        found = session.run(made)
    assert known is not None and known.dtype == found.dtype and known.tolist() == found.tolist()
    assert tf.get_static_value(tf.cast(tf.constant([float("nan")]), tf.int32)) is None


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(True, tf.int32, 1), ([True, False], tf.float32, [1, 0]), ([True, 2], None, [1, 2]),
     ([1.5, True], None, [1.5, 1]), (True, tf.complex64, 1)],
)  # fmt: skip
def test_python_bools_are_numbers_where_numbers_are_wanted(
    value: object, dtype: tf.DType | None, expected: object
) -> None:
    made = tf.constant(value, dtype)
    assert made.dtype == (dtype or (tf.float32 if 1.5 in value else tf.int32))
    with tf.Session() as session:
        assert session.run(made).tolist() == expected
    with pytest.raises(TypeError):
        tf.constant(1, tf.bool)


_EMPTY = [
    np.empty((2, 0, 5), np.str_),
    np.empty((0, 9), bytes),
    np.empty((0, 1), bytes),
    np.empty((3, 0), object),
    np.empty((0, 2, 0, 1), object),
    np.empty(0, np.str_),
]


@pytest.mark.parametrize("array", _EMPTY, ids=lambda a: f"{a.dtype}{a.shape}")
def test_empty_arrays_of_text_keep_their_dims(array: np.ndarray) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.constant(array)
        assert (made.dtype, made.shape) == (tf.string, array.shape)
        assert session.run(made).shape == array.shape
        assert tf.convert_to_tensor(array).shape == array.shape
        assert tf.constant([array, array]).shape == (2, *array.shape)
        assert tf.Variable(array).shape == array.shape
        assert tf.make_ndarray(tf.make_tensor_proto(array)).shape == array.shape
        assert tf.get_static_value(made).shape == array.shape
        assert tf.data.Dataset.from_tensors(array).output_shapes == array.shape
        assert tf.data.Dataset.from_tensor_slices(array).output_shapes == array.shape[1:]
        fed = tf.placeholder(tf.string)
        assert session.run(tf.identity(fed), {fed: array}).shape == array.shape
        called = tf.py_func(lambda: array, [], tf.string)
        assert session.run(called).shape == array.shape
        nodes = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (again,) = tf.import_graph_def(nodes, return_elements=[made.name], name="")
        assert again.shape == array.shape


def test_empty_text_joins_and_stacks() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        joined = session.run(tf.reduce_join(np.empty((0, 1), bytes), 0))
        assert joined.tolist() == [b""]
        assert session.run(tf.reduce_join(np.empty(0, bytes), 0)) == b""
        stacked = tf.stack([np.empty((0, 2), np.str_)] * 3)
        assert session.run(stacked).shape == (3, 0, 2)


def test_empty_lists_of_text_have_the_dims_that_they_show() -> None:
    with tf.Graph().as_default():
        for value, shape in (([], (0,)), ([[]], (1, 0)), ([[], []], (2, 0)), ([[[]]], (1, 1, 0))):
            assert tf.constant(value, tf.string).shape == shape
