"""What random calls, compared with TensorFlow 1.15's, found in families of ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("axis", [[0], (0,), np.int32(0), [0, 0], [[0, 1]], 1.0, [0, 1.0]])
def test_a_norms_axis_is_an_int_or_a_pair(axis: Any) -> None:
    with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2"):
        tf.norm(tf.ones([2, 3]), axis=axis)
    with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2"):
        tf.linalg.normalize(tf.ones([2, 3]), axis=axis)


@pytest.mark.parametrize("solve", [tf.linalg.solve, tf.linalg.triangular_solve, tf.cholesky_solve])
def test_solutions_have_the_shape_that_either_side_says(solve: Any) -> None:
    unknown = tf.placeholder(tf.float32)
    assert solve(tf.eye(3), unknown).shape.as_list() == [3, None]
    assert solve(unknown, tf.ones([2, 3, 4])).shape.as_list() == [2, 3, 4]
    assert solve(unknown, unknown).shape.ndims is None


def test_repeat_takes_an_int_as_axis() -> None:
    for axis in (np.int32(0), tf.constant(0), 1.0):
        with pytest.raises(TypeError, match="axis must be an int; got"):
            tf.repeat(tf.ones([2, 3]), 2, axis=axis)


def test_unique_with_counts_looks_at_the_rank_when_it_runs() -> None:
    made = tf.unique_with_counts(tf.ones([2, 3]))
    assert [part.shape.as_list() for part in made] == [[None], [2, 3], [None]]
    with pytest.raises(ValueError, match="must have rank 1"):
        tf.unique(tf.ones([2, 3]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
            session.run(made)


def test_variance_of_integers_rounds_as_integers_do() -> None:
    with tf.Session() as session:
        assert session.run(tf.math.reduce_variance([1, 5, 9])) == 10
    with pytest.raises(TypeError):
        tf.math.reduce_std([1, 5, 9])


def test_negative_paddings_are_refused() -> None:
    paddings = tf.placeholder(tf.int32, [2, 2])
    made = tf.space_to_batch(tf.ones([1, 4, 4, 2]), paddings, 2)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Paddings"):
        session.run(made, {paddings: [[0, 0], [-2, 0]]})


def test_a_static_value_is_asked_for_without_raising() -> None:
    assert tf.get_static_value(tf.broadcast_dynamic_shape([7, 2], [3, 3])) is None


def test_an_axis_of_gather_is_a_scalar() -> None:
    with pytest.raises(ValueError, match="rank 0"):
        tf.gather(tf.ones([2, 3]), [0], axis=[0])


@pytest.mark.parametrize("dtype", [tf.int32, tf.bfloat16, tf.bool])
def test_functions_of_matrices_say_which_dtypes_they_take(dtype: tf.DType) -> None:
    matrix = tf.cast([[2, 1], [0, 3]], dtype)
    with pytest.raises(ValueError, match="tf.linalg.expm does not support matrices of type"):
        tf.linalg.expm(matrix)
    with pytest.raises(TypeError, match="Input `a` must have `float`-like `dtype`"):
        tf.linalg.pinv([[2, 1], [0, 3]])


def test_many_sparse_tensors_are_serialized_as_tensorflow_does() -> None:
    """Byte for byte, the shape of one entry included; and what is out of bounds is refused."""
    made = tf.serialize_many_sparse(tf.SparseTensor([[0, 2], [1, 1]], [0.5, 1.0], [2, 3]))
    one = tf.serialize_sparse(tf.SparseTensor([[2]], [0.5], [3]))
    with tf.Session() as session:
        rows = session.run(made)
        assert rows[0, 2] == b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03' + bytes(7)
        assert session.run(one)[2] == rows[0, 2]
    for indices, shape, words in (
        ([[1, 3]], [2, 3], r"indices\[0\] = \[1, 3\] is out of bounds"),
        ([[1]], [2], "Rank of input SparseTensor should be > 1, but saw rank: 1"),
    ):
        wrong = tf.serialize_many_sparse(tf.SparseTensor(indices, [0.5], shape))
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(wrong)


@pytest.mark.parametrize(("axis", "shape"), [(1, [2, 1, 3]), (None, [2, 3, 1]), (-3, [1, 2, 3])])
def test_a_sparse_tensors_new_dim_is_known(axis: int | None, shape: list[int]) -> None:
    sparse = tf.SparseTensor([[0, 2], [1, 1]], [0.5, 1.0], [2, 3])
    made = tf.sparse.expand_dims(sparse, axis)
    assert made.indices.shape.as_list() == [2, 3]
    with tf.Session() as session:
        assert session.run(made.dense_shape).tolist() == shape
    unknown = tf.sparse_placeholder(tf.float32)
    with pytest.raises(ValueError, match="Cannot convert an unknown Dimension"):
        tf.sparse.expand_dims(unknown, axis)


@pytest.mark.parametrize("function", [
    tf.losses.sparse_softmax_cross_entropy, tf.nn.sparse_softmax_cross_entropy_with_logits,
])  # fmt: skip
def test_every_row_of_logits_has_a_label(function: Any) -> None:
    """Of fewer labels a loss was made in silence, where their number was not known before."""
    labels = tf.placeholder(tf.int32)
    losses = function(labels=labels, logits=tf.ones([3, 4]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must|not compatible"):
            session.run(losses, {labels: [0, 3]})


def test_counts_of_datasets_are_scalars() -> None:
    rows = tf.data.Dataset.range(3)
    for make in (rows.batch, rows.take, rows.skip, rows.shuffle, rows.prefetch, rows.repeat):
        with pytest.raises(ValueError, match="rank 0"):
            make([2])
    with pytest.raises(ValueError, match="rank 0"):
        tf.data.Dataset.range([3])


def test_png_compression_is_a_level() -> None:
    made = tf.image.encode_png(tf.zeros([2, 2, 3], tf.uint8), 10)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"\[-1,9\]"):
        session.run(made)


def test_a_vectorized_map_has_as_many_rows_as_it_is_given() -> None:
    assert tf.vectorized_map(lambda row: row * 2, tf.ones([3, 2])).shape.as_list() == [3, 2]
    open_rows = tf.placeholder(tf.float32, [None, 2])
    assert tf.vectorized_map(lambda row: row * 2, open_rows).shape.as_list() == [None, 2]


def test_a_tuple_takes_what_becomes_a_tensor() -> None:
    made = tf.tuple([tf.ones([2]), np.zeros(2), [1.0], None])
    assert [part if part is None else part.dtype.name for part in made] == [
        "float32", "float64", "float32", None,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="Must have at least one Tensor"):
        tf.tuple([None])


@pytest.mark.parametrize("function", [tf.nn.xw_plus_b, tf.nn.relu_layer])
def test_affine_layers_take_batches_of_matrices(function: Any) -> None:
    made = function(tf.ones([5, 2, 3]), tf.ones([5, 3, 4]), tf.ones([4]))
    with tf.Session() as session:
        assert (session.run(made) == np.full([5, 2, 4], 4.0)).all()
