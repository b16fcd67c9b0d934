"""Rows looked up and summed: by one node, and held back where something else reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.compiler.passes.rewriting import agree, rewritten, types

RNG = np.random.RandomState(0)


def _lookups() -> tuple[Any, Any, Any]:
    table = tf.Variable(RNG.rand(9, 5).astype(np.float32), name="table")
    ids = tf.placeholder(tf.int32, [None, 3], name="ids")
    return table, ids, {ids: [[0, 8, 3], [2, 2, 2]]}


def test_rows_that_are_looked_up_are_added_up_at_once() -> None:
    table, ids, feed = _lookups()
    for axis in (1, -2):
        for reduce in (tf.reduce_sum, tf.reduce_mean):
            y = reduce(tf.nn.embedding_lookup(table, ids), axis)
            assert types(rewritten([y], [ids])) == ["_SumOfRows"]
            agree([y], feed)
    pairs = tf.reduce_sum(tf.gather(table, tf.stack([ids, ids])), 2)
    assert "_SumOfRows" in types(rewritten([pairs], [ids]))
    agree([pairs, tf.reduce_sum(tf.gather(table, [1, 1, 4]), 0)], feed)


def test_rows_that_are_looked_up_are_scaled_and_added_up() -> None:
    table, ids, feed = _lookups()
    present = tf.expand_dims(tf.cast(ids > 1, tf.float32) * 1.5, 2)
    rows = tf.nn.embedding_lookup(table, ids)
    for product in (rows * present, present * rows):
        y = tf.reduce_sum(product, 1)
        assert "_SumOfScaledRows" in types(rewritten([y], [ids]))
        agree([y], feed)


def test_rows_that_something_else_reads_are_looked_up_apart() -> None:
    table, ids, feed = _lookups()
    rows = tf.nn.embedding_lookup(table, ids)
    weights = tf.Variable(RNG.rand(3, 1).astype(np.float32))
    for fetches in (
        [tf.reduce_sum(rows, 1), rows],
        [tf.reduce_sum(rows, 0)],
        [tf.reduce_sum(rows, 2)],
        [tf.reduce_sum(rows, [1, 2])],
        [tf.reduce_sum(rows, 1, keepdims=True)],
        [tf.reduce_sum(rows * weights, 1)],
        [tf.reduce_mean(rows * tf.expand_dims(tf.cast(ids, tf.float32), 2), 1)],
        [tf.reduce_sum(tf.gather(table, ids, axis=1), 1)],
        [tf.reduce_sum(tf.gather(tf.cast(table, tf.float64), ids), 1)],
    ):
        found = types(rewritten(fetches, [ids]))
        assert not {"_SumOfRows", "_SumOfScaledRows"} & set(found)
        agree(fetches, {ids: [[0, 4, 3], [2, 2, 2]]})


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_a_sum_of_no_rows(shape: tuple[int, int]) -> None:
    table = tf.Variable(RNG.rand(9, 5).astype(np.float32), name="table")
    ids = tf.placeholder(tf.int64, [None, None], name="ids")
    factors = tf.placeholder(tf.float32, [None, None, 1], name="factors")
    rows = tf.nn.embedding_lookup(table, ids)
    with np.errstate(all="ignore"):
        agree([tf.reduce_sum(rows, 1)], {ids: np.zeros(shape)})
        agree([tf.reduce_mean(rows, 1)], {ids: np.zeros(shape)})
        agree([tf.reduce_sum(rows * factors, 1)],
              {ids: np.zeros(shape), factors: np.zeros((*shape, 1))})  # fmt: skip


def test_factors_that_are_fewer_than_the_rows() -> None:
    table = tf.Variable(RNG.rand(9, 5).astype(np.float32), name="table")
    ids = tf.placeholder(tf.int64, [None, None], name="ids")
    factors = tf.placeholder(tf.float32, [None, None, 1], name="factors")
    y = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * factors, 1)
    assert "_SumOfScaledRows" in types(rewritten([y], [ids, factors]))
    agree([y], {ids: [[1, 2], [3, 8]], factors: [[[2.0], [3.0]]]})
    agree([y], {ids: [[1, 2]], factors: [[[2.0], [3.0]], [[4.0], [5.0]]]})


def test_an_index_out_of_range_is_the_lookups() -> None:
    table, ids, _ = _lookups()
    rows = tf.nn.embedding_lookup(table, ids)  # looked up here
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for sums in (tf.reduce_sum(rows, 1), tf.reduce_sum(rows * tf.ones([2, 3, 1]), 1)):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(sums, {ids: [[0, 1, 2], [3, 9, 4]]})
            assert "indices[1,1] = 9 is not in [0, 9)" in str(caught.value)
            assert "# looked up here" in str(caught.value)


def test_the_sum_stands_where_the_table_does() -> None:
    with tf.device("/job:ps/task:1"):
        table = tf.Variable(RNG.rand(9, 5).astype(np.float32), name="table")
    ids = tf.placeholder(tf.int32, [2, 3], name="ids")
    with tf.device("/job:worker/task:0"):
        near = tf.reduce_sum(tf.nn.embedding_lookup(table, ids), 1)
        far = tf.reduce_sum(tf.gather(table, ids), 1)
    looked_up, gathered = (
        next(op for op in rewritten([y], [ids]).operations if op.type == "_SumOfRows")
        for y in (near, far)
    )
    assert looked_up.attrs["_class"] == [b"loc:@table"]
    assert "ps" in looked_up.device
    assert "worker" in gathered.device and "_class" not in gathered.attrs
