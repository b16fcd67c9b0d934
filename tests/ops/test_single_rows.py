"""One row at a time, as loops write and read them: what many rows do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
WRITES = {
    tf.tensor_scatter_update: lambda row, update: update,
    tf.tensor_scatter_add: lambda row, update: row + update,
    tf.tensor_scatter_sub: lambda row, update: row - update,
}


CASES = [(write, kind) for write in WRITES for kind in (tf.float32, tf.float64, tf.int32)]


@pytest.mark.parametrize(("write", "kind"), [*CASES, (tf.tensor_scatter_update, tf.uint16)])
def test_a_row_is_written_into_a_copy(write: Any, kind: Any) -> None:
    rows, index = tf.placeholder(kind, [4, 3]), tf.placeholder(tf.int32, [1, 1])
    update = tf.cast(tf.constant([[7.0, 8.0, 9.0]]), kind)
    written = write(rows, index, update)
    turned = write(tf.transpose(tf.transpose(rows)), index, update)
    with tf.Session() as session:
        found, again, before = session.run([written, turned, rows], {rows: ROWS, index: [[2]]})
    expected = ROWS.copy()
    expected[2] = WRITES[write](ROWS[2], np.array([7.0, 8.0, 9.0]))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal(before, ROWS)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("row", [4, -1])
def test_a_row_that_is_not_there_is_not_written(write: Any, row: int) -> None:
    index = tf.placeholder(tf.int64, [1, 1])
    written = write(tf.constant(ROWS) + 1.0, index, tf.ones([1, 3]))
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[0\] = \[{row}\]"):
            session.run(written, {index: [[row]]})


def test_elements_are_written_by_deeper_indices() -> None:
    index = tf.placeholder(tf.int32, [1, 2])
    written = tf.tensor_scatter_update(tf.constant(ROWS), index, [50.0])
    scalars = tf.tensor_scatter_update(tf.constant(ROWS[0]), index[:, 1:], [50.0])
    with tf.Session() as session:
        found, flat = session.run([written, scalars], {index: [[3, 1]]})
    assert found[3, 1] == 50.0 and found.sum() == ROWS.sum() - ROWS[3, 1] + 50.0
    assert flat.tolist() == [0.0, 50.0, 2.0]


@pytest.mark.parametrize("kind", [tf.float32, tf.int64, tf.uint32, tf.bool])
def test_a_row_is_taken_by_one_index(kind: Any) -> None:
    rows, index = tf.placeholder(kind, [4, 3]), tf.placeholder(tf.int32, [])
    taken = tf.gather(rows, index)
    value = ROWS.astype(kind.as_numpy_dtype)
    with tf.Session() as session:
        found = session.run(taken, {rows: value, index: 3})
        np.testing.assert_array_equal(found, value[3])
        found[0] = 0  # the caller's own
        assert value[3, 0]
        for row in (4, -1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"= {row} is not in \[0, 4"):
                session.run(taken, {rows: value, index: row})


def test_an_array_of_many_shapes_that_keeps_its_elements() -> None:
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False, infer_shape=False)
    array = array.write(0, tf.ones([2])).write(1, tf.zeros([3]))
    again = array.read(0) + array.read(0)
    one = array.gather([1])
    with tf.Session() as session:
        assert session.run(again).tolist() == [2.0, 2.0]
        assert session.run(one).tolist() == [[0.0, 0.0, 0.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been read"):
            session.run(_written_after_a_read())
        with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes"):
            session.run(array.gather([0, 1]))


def _written_after_a_read() -> Any:
    array = tf.TensorArray(tf.float32, 1, clear_after_read=False, infer_shape=False)
    array = array.write(0, tf.ones([2]))
    with tf.control_dependencies([array.read(0)]):
        return array.write(0, tf.ones([2])).flow


def test_a_row_that_is_known_is_taken_where_it_lies() -> None:
    rows = tf.placeholder(tf.float32, [4, 3])
    taken, far = tf.gather(rows, 2), tf.gather(tf.placeholder_with_default(ROWS, [None, 3]), 2)
    with tf.Session() as session:
        assert "f0.select(0, 2).clone()" in str(session.explain(taken, {rows: ROWS}))
        found, other = session.run([taken, far], {rows: ROWS})
        np.testing.assert_array_equal(found, ROWS[2])
        np.testing.assert_array_equal(other, ROWS[2])
        found[0] = 50.0  # the caller's own
        assert ROWS[2, 0] == 6.0
