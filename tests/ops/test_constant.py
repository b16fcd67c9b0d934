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


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([np.float64(0.5)], tf.float32), ([np.float64(0.5), 1.0], tf.float32),
     ([np.float16(5), 1.0], tf.float32), ([np.int64(3)], tf.int32), ([np.int8(5), 1], tf.int32),
     ([np.int64(2**40)], tf.int64), ([np.uint8(5)], tf.uint8), ([np.float16(5)], tf.float16),
     (np.float64(0.5), tf.float64), (np.array([0.5]), tf.float64), (np.int64(3), tf.int64)],
)  # fmt: skip
def test_a_list_of_numpys_scalars_is_as_a_list_of_pythons(value: object, dtype: tf.DType) -> None:
    assert tf.constant(value).dtype == dtype
    assert tf.convert_to_tensor(value).dtype == dtype


def test_a_list_of_numpys_floats_is_no_list_of_integers() -> None:
    with pytest.raises(TypeError):
        tf.constant([np.float64(5)], tf.int32)
