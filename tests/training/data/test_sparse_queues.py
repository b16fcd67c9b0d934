"""Maps of sparse tensors: what goes in comes out once; errors are those of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make

_TENSOR = ([[0, 1], [2, 3]], [1.0, 2.0], [3, 4])


def _add(indices: Any, values: Any, shape: Any, many: bool = False) -> Any:
    return make(
        f"Add{'Many' * many}SparseToTensorsMap",
        tf.constant(indices, tf.int64, [len(indices), len(shape)] if not indices else None),
        tf.constant(values),
        tf.constant(shape, tf.int64),
        shared_name="map",
    )


def _take(handles: Any, dtype: Any = tf.float32) -> Any:
    given = tf.constant(np.array(handles, np.int64))
    return make("TakeManySparseFromTensorsMap", given, dtype=dtype, shared_name="map")


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_what_goes_in_comes_out_once(session: Any) -> None:
    add = _add(*_TENSOR)
    assert [int(session.run(add)), int(session.run(add))] == [0, 1]
    taken = _take([0, 1])
    indices, values, shape = session.run(taken)
    assert indices.tolist() == [[0, 0, 1], [0, 2, 3], [1, 0, 1], [1, 2, 3]]
    assert values.tolist() == [1.0, 2.0, 1.0, 2.0] and shape.tolist() == [2, 3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="find SparseTensor: 0 in map: map"):
        session.run(taken)


def test_the_shape_is_the_largest(session: Any) -> None:
    session.run(_add([[0, 0]], [9.0], [5, 2]))
    session.run(_add(*_TENSOR))
    assert session.run(_take([1, 0]))[2].tolist() == [2, 5, 4]


def test_many_are_split_along_the_first_dim(session: Any) -> None:
    handles = session.run(_add(*_TENSOR, many=True)).tolist()
    assert len(handles) == 3
    indices, values, shape = session.run(_take(handles[::-1]))
    assert indices.tolist() == [[0, 3], [2, 1]] and values.tolist() == [2.0, 1.0]
    assert shape.tolist() == [3, 4]


def test_strings_and_empty_tensors(session: Any) -> None:
    session.run(_add([[1]], ["a"], [2]))
    session.run(_add([], np.array([], object).astype(str), [3]))
    indices, values, shape = session.run(_take([1, 0], tf.string))
    assert indices.tolist() == [[1, 1]] and values.tolist() == [b"a"] and shape.tolist() == [2, 3]


def test_a_variable_that_changes_later_does_not_change_what_is_kept(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    session.run(variable.initializer)
    indices, shape = (tf.constant(v, tf.int64) for v in ([[0], [1]], [2]))
    add = make("AddSparseToTensorsMap", indices, variable, shape, shared_name="map")
    session.run(add)
    session.run(tf.assign(variable, [7.0, 8.0]))
    assert session.run(_take([0]))[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ([_TENSOR, ([[1]], [5.0], [7])], "Inconsistent rank"),
        ([_TENSOR, ([[0, 0]], [9], [5, 2])], "type float32"),
        ([], "at least 1"),
    ],
)
def test_what_cannot_be_taken_together(session: Any, tensors: Any, says: str) -> None:
    handles = [int(session.run(_add(*t))) for t in tensors]
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        session.run(_take(handles))


@pytest.mark.parametrize(
    ("tensor", "many", "says"),
    [
        (([[2, 1], [0, 3]], [1.0, 2.0], [3, 4]), True, r"indices\[1\].*out of order"),
        (([[0, 1], [0, 1]], [1.0, 2.0], [3, 4]), True, r"indices\[1\].*repeated"),
        (([[5, 1]], [1.0], [3, 4]), True, r"indices\[0\].*out of bounds"),
        (([[0]], [1.0], [3]), True, "Rank of input SparseTensor should be > 1"),
        (([[1], [2]], [1.0], [3]), False, "must match"),
        (([[1, 2]], [1.0], [3]), False, "column"),
    ],
)
def test_what_cannot_go_in(session: Any, tensor: Any, many: bool, says: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        session.run(_add(*tensor, many=many))


def test_lists_must_agree_in_what_is_sparse() -> None:
    with tf.Graph().as_default():
        one = tf.SparseTensor([[1]], [1.0], [3])
        two = tf.SparseTensor([[1, 1]], [1.0], [3, 3])
        for other in (two, tf.constant(1.0)):
            with pytest.raises(ValueError, match="Inconsistent SparseTensors list"):
                tf.train.batch_join([[one], [other]], 2)
        with pytest.raises(TypeError, match="found `Const`"):
            tf.train.maybe_batch([one], False, 2)
