"""Products by one sparse matrix share its rows, and give what they give alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.compiler.passes.rewriting import agree, rewritten, types

ROWS, COLUMNS = 7, 5


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as one:
        yield one


def _entries(seed: int, ordered: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(seed)
    flat = rng.choice(ROWS * COLUMNS, 14, replace=False)
    flat = np.sort(flat) if ordered else flat
    places = np.stack(np.divmod(flat, COLUMNS), 1).astype(np.int64)
    return places, rng.standard_normal(14).astype(np.float32)


def _fed(dims: Any = (ROWS, COLUMNS)) -> Any:
    places = tf.placeholder(tf.int64, [None, 2])
    values = tf.placeholder(tf.float32, [None])
    return places, values, tf.SparseTensor(places, values, dims)


def _dense(rows: int, seed: int) -> Any:
    return tf.constant(np.random.RandomState(seed).standard_normal((rows, 3)).astype(np.float32))


def _products(matrix: Any) -> list[Any]:
    multiply = tf.sparse_tensor_dense_matmul
    forward = [multiply(matrix, _dense(COLUMNS, i)) for i in (1, 2)]
    backward = [multiply(matrix, _dense(ROWS, i), adjoint_a=True) for i in (3, 4)]
    turned = multiply(matrix, tf.transpose(_dense(COLUMNS, 5)), adjoint_b=True)
    return [*forward, *backward, turned]


@pytest.mark.parametrize("ordered", [True, False])
def test_each_direction_has_its_rows_once(ordered: bool) -> None:
    places, values, matrix = _fed()
    fetches = _products(matrix)
    found = types(rewritten(fetches, [places, values]))
    assert found.count("_SparseRows") == 2
    assert found.count("_SparseRowsMatMul") == 5
    given = _entries(0, ordered)
    agreed = agree(fetches, dict(zip((places, values), given, strict=True)))
    dense = np.zeros((ROWS, COLUMNS), np.float32)
    dense[tuple(given[0].T)] = given[1]
    first = np.random.RandomState(1).standard_normal((COLUMNS, 3)).astype(np.float32)
    np.testing.assert_allclose(agreed[0], dense @ first, rtol=1e-5, atol=1e-6)


def test_rows_of_a_constant_matrix_are_constants() -> None:
    places, values = _entries(1, False)
    weights = tf.placeholder(tf.float32, [None])
    matrix = tf.SparseTensor(tf.constant(places), weights, [ROWS, COLUMNS])
    product = tf.sparse_tensor_dense_matmul(matrix, _dense(COLUMNS, 1))
    assert types(rewritten([product], [weights])) == ["_SparseRowsMatMul"]
    agree([product], {weights: values})


def test_products_that_share_nothing_stay() -> None:
    one, other = _fed(), _fed()
    products = [tf.sparse_tensor_dense_matmul(m, _dense(COLUMNS, 1)) for _, _, m in (one, other)]
    feeds = [*one[:2], *other[:2]]
    assert types(rewritten(products, feeds)) == ["SparseTensorDenseMatMul"] * 2


def test_a_shape_that_is_fed_is_not_known() -> None:
    dims = tf.placeholder(tf.int64, [2])
    places, values, matrix = _fed(dims)
    products = [tf.sparse_tensor_dense_matmul(matrix, _dense(COLUMNS, i)) for i in (1, 2)]
    assert "_SparseRows" not in types(rewritten(products, [places, values, dims]))


@pytest.mark.parametrize("dtype", [tf.int32, tf.complex64])
def test_other_types_stay(dtype: Any) -> None:
    places = tf.placeholder(tf.int64, [None, 2])
    values = tf.placeholder(dtype, [None])
    matrix = tf.SparseTensor(places, values, [ROWS, COLUMNS])
    other = tf.ones([COLUMNS, 2], dtype)
    products = [tf.sparse_tensor_dense_matmul(matrix, other * i) for i in (1, 2)]
    assert "_SparseRows" not in types(rewritten(products, [places, values]))


@pytest.mark.parametrize(
    ("places", "count", "said"),
    [
        ([[0, 5]], 1, "a_indices"),
        ([[7, 0]], 1, "out of bounds"),
        ([[0, -1]], 1, "out of bounds"),
        ([[0, 1]], 2, "a_values"),
    ],
)
def test_bad_entries_are_refused_as_by_a_product_alone(places: Any, count: int, said: str) -> None:
    fed_places, values, matrix = _fed()
    products = _products(matrix)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=said):
        session.run(products, {fed_places: places, values: np.ones(count)})


def test_a_matrix_without_entries() -> None:
    places, values, matrix = _fed()
    fetches = _products(matrix)
    found = agree(fetches, {places: np.zeros((0, 2)), values: []})
    assert [part.shape for part in found] == [(7, 3), (7, 3), (5, 3), (5, 3), (7, 3)]
    assert not any(part.any() for part in found)
