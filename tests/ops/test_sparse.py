"""Sparse tensors in programs: fed, fetched, multiplied by operators, looked up."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf

_VALUE = tf.SparseTensorValue([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [3, 4])


def _dense() -> np.ndarray:
    made = np.zeros((3, 4), np.float32)
    made[0, 1], made[2, 0], made[2, 3] = 1, 2, 3
    return made


def test_fed_and_fetched() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.sparse_placeholder(tf.float32, name="x")
        doubled = x * tf.constant(2.0)
        halves = x / tf.constant([[1.0, 2.0, 4.0, 8.0]])
        fed = {x: _VALUE}
        back, twice, scaled = session.run([x, doubled, halves], fed)
        assert isinstance(back, tf.SparseTensorValue)
        np.testing.assert_array_equal(back.indices, _VALUE.indices)
        assert twice.values.tolist() == [2.0, 4.0, 6.0]
        assert scaled.values.tolist() == [0.5, 2.0, 0.375]
        parts = {x: (np.array(_VALUE.indices), np.array(_VALUE.values, np.float32), [3, 4])}
        np.testing.assert_array_equal(session.run(tf.sparse_tensor_to_dense(x), parts), _dense())


@pytest.mark.parametrize("adjoint_b", [False, True])
@pytest.mark.parametrize("adjoint_a", [False, True])
def test_product_and_gradients_are_those_of_dense(adjoint_a: bool, adjoint_b: bool) -> None:
    rng = np.random.default_rng(0)
    b = rng.normal(size=(3 if adjoint_a else 4, 5)).astype(np.float32)
    b = b.T.copy() if adjoint_b else b
    with tf.Graph().as_default(), tf.Session() as session:
        a, other = tf.SparseTensor.from_value(_VALUE), tf.constant(b)
        product = tf.sparse_tensor_dense_matmul(a, other, adjoint_a, adjoint_b)
        dense = tf.constant(_dense())
        same = tf.matmul(dense, other, transpose_a=adjoint_a, transpose_b=adjoint_b)
        sparse_grads = tf.gradients(tf.square(product), [a.values, other])
        dense_grads = tf.gradients(tf.square(same), [dense, other])
        found, wanted, got, want = session.run([product, same, sparse_grads, dense_grads])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(got[0], want[0][tuple(np.transpose(_VALUE.indices))], rtol=1e-5)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-5)


def test_safe_lookup_drops_bad_ids_and_fills_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, -1, 2]), [4, 2])
        table = tf.constant(np.arange(12.0, dtype=np.float32).reshape(4, 3))
        zeros = tf.nn.safe_embedding_lookup_sparse(table, ids)
        filled = tf.nn.safe_embedding_lookup_sparse(table, ids, default_id=3)
        found, other = session.run([zeros, filled])
    assert found.tolist() == [[3, 4, 5], [0, 0, 0], [6, 7, 8], [0, 0, 0]]
    assert other.tolist() == [[3, 4, 5], [9, 10, 11], [6, 7, 8], [9, 10, 11]]


def test_serialized_and_back() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.serialize_many_sparse(tf.SparseTensor.from_value(_VALUE))
        back = tf.deserialize_many_sparse(rows, tf.float32, rank=2)
        assert back.shape.ndims == 2
        value = session.run(back)
    np.testing.assert_array_equal(value.indices, _VALUE.indices)
    assert value.dense_shape.tolist() == [3, 4]


def test_wrong_kinds_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.sparse_reorder(tf.constant(1.0))
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.sparse_add(tf.constant(1.0), tf.constant(2.0))
        x = tf.SparseTensor.from_value(_VALUE)
        with pytest.raises(ValueError, match="Cannot reshape"):
            tf.sparse_reshape(x, [5, 2])


def test_parts_that_do_not_fit_are_refused_when_they_are_put_together() -> None:
    with pytest.raises(ValueError, match="Dimensions 1 and 2 are not compatible"):
        tf.SparseTensor([[0, 1]], [1.0, 2.0], [2, 3])
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.SparseTensor([[0, 1]], [1.0], [2, 3, 4])
    unknown = tf.placeholder(tf.int64)
    assert tf.SparseTensor(unknown, [1.0], unknown).values.shape == [1]


@pytest.mark.parametrize("dtype", [tf.int32, tf.uint32, tf.float32, tf.string])
def test_a_scalar_made_dense(dtype: tf.DType) -> None:
    value, default = ("a", "b") if dtype is tf.string else (7, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant([value], dtype)
        none, shape = tf.zeros([0, 0], tf.int64), tf.zeros([0], tf.int64)
        one = tf.sparse_to_dense(tf.zeros([1, 0], tf.int64), shape, given, default)
        empty = tf.sparse_to_dense(none, shape, given[:0], default)
        wanted = [b"a", b"b"] if dtype is tf.string else [value, default]
        assert session.run([one, empty]) == wanted


def test_a_sparse_reduction_of_all_axes_made_dense() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [1, 0]], tf.constant([5, 7]), [2, 2])
        largest = tf.sparse_reduce_max_sparse(sparse, [0, 1])
        assert session.run(tf.sparse_tensor_to_dense(largest)) == 7


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (tf.int8, tf.float32), (tf.uint8, tf.float32), (tf.int16, tf.float32),
        (tf.uint16, tf.float32), (tf.int32, tf.float64), (tf.int64, tf.float64),
        (tf.float16, tf.float16), (tf.float32, tf.float32), (tf.float64, tf.float64),
    ],
)  # fmt: skip
def test_division_by_a_dense_tensor_is_true(dtype: tf.DType, wanted: tf.DType) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [1, 0]], tf.constant([5, 7], dtype), [2, 2])
        for divided in (sparse / tf.constant([[2, 2]], dtype), tf.divide(sparse, [[2, 2]])):
            assert divided.values.dtype is wanted
            np.testing.assert_array_equal(session.run(divided.values), [2.5, 3.5])


def test_division_by_another_type_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="int32"):
        tf.SparseTensor([[0]], tf.constant([5]), [1]) / tf.constant([2.0])


def test_a_transposed_constant_keeps_the_nodes_of_its_shape() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.SparseTensor(_VALUE.indices, _VALUE.values, _VALUE.dense_shape)
        flipped = tf.sparse.transpose(x)
        assert flipped.dense_shape.op.name == "SparseTranspose/Identity"
        names = [op.name for op in graph.get_operations()]
        assert "SparseTranspose/SparseTensor_1/dense_shape" not in names
        found = session.run(tf.sparse.to_dense(flipped))
    np.testing.assert_array_equal(found, _dense().T)


def test_weights_that_do_not_fit_ids_are_refused_when_built() -> None:
    with tf.Graph().as_default():
        ids = tf.SparseTensor([[0, 0], [1, 0]], tf.constant([0, 1], tf.int64), [2, 4])
        weights = tf.SparseTensor([[0, 0]], [1.0], [2, 4])
        with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(1,\) are incompatible"):
            tf.nn.embedding_lookup_sparse(tf.ones([3, 2]), ids, weights)
