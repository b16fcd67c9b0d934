"""Partitioned variables and partitioners, against facts read off TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.library.variables.partition import PartitionInfo


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def test_parts_and_whole() -> None:
    v = _made()
    assert [p.name for p in v] == ["v/part_0:0", "v/part_1:0"]
    assert [p.shape.as_list() for p in v] == [[3, 2], [2, 2]]
    assert [p._get_save_slice_info().spec for p in v] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    whole = tf.convert_to_tensor(v)
    assert whole.op.name == "v"
    assert whole.op.inputs[0].op.name == "v/ConcatPartitions/concat"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = np.arange(10, dtype=np.float32).reshape(5, 2)
        np.testing.assert_array_equal(session.run(whole), expected)
        session.run(v.assign_add(np.ones((5, 2), np.float32)))
        np.testing.assert_array_equal(session.run(whole), expected + 1)


def _made() -> Any:
    def initializer(shape: Any, dtype: Any, partition_info: PartitionInfo) -> Any:
        first = partition_info.single_offset(shape) * 2
        values = np.arange(first, first + np.prod(shape), dtype=np.float32)
        return tf.constant(values.reshape(shape))

    return tf.get_variable(
        "v", [5, 2], initializer=initializer, partitioner=tf.fixed_size_partitioner(2)
    )


def test_constant_initializer_is_sliced() -> None:
    parts = list(
        tf.get_variable(
            "v", [3], initializer=tf.constant([1.0, 2.0, 3.0]),
            partitioner=tf.fixed_size_partitioner(2),
        )
    )  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(p).tolist() for p in parts] == [[1.0, 2.0], [3.0]]


def test_sharing() -> None:
    v = _made()
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("v") is v
        with pytest.raises(ValueError, match=r"has partitions \[2, 1\]; \[3, 1\]"):
            tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(3))
    with pytest.raises(ValueError, match="made with a partitioner"):
        tf.get_variable("v", [5, 2])
    tf.get_variable("w", [4])
    with pytest.raises(ValueError, match="made without a partitioner"):
        tf.get_variable("w", [4], partitioner=tf.fixed_size_partitioner(2))


def test_create_partitioned_variables() -> None:
    parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer())
    assert [p.name for p in parts] == [
        "PartitionedVariable/part_0:0", "PartitionedVariable/part_1:0",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="Can only slice a variable along one dimension"):
        tf.create_partitioned_variables([4, 2], [2, 2], tf.zeros_initializer())


@pytest.mark.parametrize(
    ("initial", "dtype", "expected"),
    [
        (lambda: tf.constant([10, 20, 30, 40]), tf.float32, tf.int32),  # a tensor keeps its type
        (lambda: tf.constant([10, 20, 30, 40]), tf.int64, tf.int32),
        (lambda: [10, 20, 30, 40], tf.float32, tf.float32),
        (lambda: np.array([10, 20, 30, 40]), tf.float32, tf.float32),
        (lambda: np.array([10, 20, 30, 40], np.float64), tf.int32, tf.int32),
    ],
)
def test_an_initial_value_is_cut(initial, dtype: tf.DType, expected: tf.DType) -> None:
    parts = tf.create_partitioned_variables([4], [2], initial(), dtype)
    assert [p.dtype.base_dtype for p in parts] == [expected] * 2
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [v.tolist() for v in sess.run(parts)] == [[10, 20], [30, 40]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([4], [2], [1, 2, 3]), "are incompatible"),
        (([2, 2], [2], 0.0), "The 'shape' and 'slicing' of a partitioned Variable"),
        (([], [], 0.0), "A partitioned Variable must have rank at least 1"),
        (([4], [0], [1, 2, 3, 4]), "Partitioner returned zero partitions"),
    ],
    ids=["size", "rank", "scalar", "none"],
)
def test_a_slicing_that_does_not_fit(arguments, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.create_partitioned_variables(*arguments)


@pytest.mark.parametrize(
    ("limit", "by_size", "min_max"), [(10, 7, 5), (100, 1, 1), (30, 4, 3), (1000, 1, 1)]
)
def test_partitioners(limit: int, by_size: int, min_max: int) -> None:
    shape = tf.TensorShape([7, 3])
    sized = tf.variable_axis_size_partitioner(limit)(shape=shape, dtype=tf.float32)
    assert sized == [by_size, 1]
    partitioner = tf.min_max_variable_partitioner(5, min_slice_size=limit)
    assert partitioner(shape=shape, dtype=tf.float32) == [min_max, 1]


def test_max_shards() -> None:
    partitioner = tf.variable_axis_size_partitioner(10, max_shards=3)
    assert partitioner(shape=tf.TensorShape([7, 3]), dtype=tf.float32) == [3, 1]


def test_partition_info() -> None:
    info = PartitionInfo([6, 4], [2, 0])
    assert info.single_offset([2, 4]) == 2
    assert info.single_slice_dim([2, 4]) == 0
    with pytest.raises(ValueError, match="does not fit"):
        info.single_slice_dim([5, 4])
    with pytest.raises(ValueError, match="outside shape"):
        PartitionInfo([6], [6])
