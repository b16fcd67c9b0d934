"""What is told of values before anything runs: exactly what TensorFlow 1.15 tells.

Its ``constant_value`` was asked of every output of the op table's rows, over constants: the op
types of ``SEEN`` are those that gave a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.util import constant_value
from penstock.python.framework import tensor_util

_Make = Callable[[], Any]


def _open(dims: Any = (), dtype: Any = tf.int32) -> tf.Tensor:
    return tf.placeholder(dtype, dims)


def _two() -> tf.Tensor:
    return tf.constant([1, 2])


SEEN: list[tuple[str, _Make, Any]] = [
    ("const", lambda: tf.constant(["a"]), [b"a"]),
    ("shape", lambda: tf.shape(_open([2, 3])), [2, 3]),
    ("size", lambda: tf.size(_open([2, 3])), 6),
    ("rank", lambda: tf.rank(_open([2, None])), 2),
    ("range", lambda: tf.range(tf.constant(1.5), 3, 0.5), [1.5, 2.0, 2.5]),
    ("long range", lambda: tf.range(70_000), [*range(70_000)]),
    ("cast", lambda: tf.cast(tf.constant([1.7, -2.3]), tf.int32), [1, -2]),
    ("concat", lambda: tf.concat([_two(), tf.range(3)], 0), [1, 2, 0, 1, 2]),
    ("fill", lambda: tf.fill([2], tf.constant(4)), [4, 4]),
    ("fill of a shape that only the C++ knows", lambda: tf.fill(_two() + 1, 4), [[4] * 3] * 2),
    ("equal", lambda: tf.equal(_two(), tf.constant([1, 3])), [True, False]),
    ("equal strings", lambda: tf.equal(tf.constant(["a", "b"]), "a"), [True, False]),
    ("not equal", lambda: tf.not_equal(_two(), tf.constant([1, 3])), [False, True]),
    ("pack", lambda: tf.convert_to_tensor([tf.size(_open([2])), tf.constant(5)]), [2, 5]),
]  # fmt: skip
UNSEEN: list[tuple[str, _Make]] = [
    ("pack along axis 1", lambda: tf.stack([_two(), tf.range(2)], axis=1)),
    ("reshape", lambda: tf.reshape(_two(), [1, 2])),
    ("identity", lambda: tf.identity(_two())),
    ("sum of two", lambda: _two() + 0),
    ("less", lambda: tf.less(_two(), 2)),
    ("slice of a shape", lambda: tf.shape(_open([2, 3]))[0]),
    ("expand_dims", lambda: tf.expand_dims(_two(), 0)),
    ("reduction", lambda: tf.reduce_sum(_two())),
    ("logical_not", lambda: tf.logical_not(tf.constant(True))),
    ("stop_gradient", lambda: tf.stop_gradient(_two())),
    ("concat along a computed axis", lambda: tf.concat([_two(), _two()], tf.constant(1) - 1)),
    ("open shape", lambda: tf.shape(_open([2, None]))),
    ("range to an open end", lambda: tf.range(_open())),
]


@pytest.mark.parametrize("make, value", [row[1:] for row in SEEN], ids=[r[0] for r in SEEN])
def test_is_seen(make: _Make, value: Any) -> None:
    found = tf.get_static_value(make())
    assert isinstance(found, np.ndarray) and found.tolist() == value


@pytest.mark.parametrize("make", [row[1] for row in UNSEEN], ids=[r[0] for r in UNSEEN])
def test_is_not_seen(make: _Make) -> None:
    assert tf.get_static_value(make()) is None
    assert constant_value(make()) is None and tensor_util.constant_value(make()) is None


@pytest.mark.parametrize(
    "make, value",
    [
        (lambda: tf.stack([tf.constant(1), _open()]), [1, None]),
        (lambda: tf.stack([_open([2]), _two()]), [None, [1, 2]]),
        (lambda: tf.stack([tf.stack([tf.constant(1), _open()]), _two()]), [[1, None], [1, 2]]),
        (lambda: tf.cast(tf.stack([tf.constant(1), _open()]), tf.int64), None),
        (lambda: tf.concat([tf.stack([tf.constant(1), _open()]), _two()], 0), None),
        (lambda: tf.convert_to_tensor([tf.constant(1), tf.constant(2)]), [1, 2]),
    ],
)
def test_part_of_a_stack(make: _Make, value: Any) -> None:
    found = tensor_util.constant_value(make(), partial=True)
    shown = None if found is None else [x.tolist() if hasattr(x, "tolist") else x for x in found]
    assert shown == value


def test_what_was_seen_is_not_fed() -> None:
    asked, other = tf.constant([1, 2]), tf.constant([3, 4])
    tf.get_static_value(asked)
    with tf.Session() as session:
        assert session.run(other + 1, {other: [0, 0]}).tolist() == [1, 1]
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(asked + 1, {asked: [0, 0]})


def test_a_shape_is_a_shape() -> None:
    found = tensor_util.constant_value_as_shape(tf.stack([_open(), 3]))
    assert isinstance(found, tf.TensorShape) and found.as_list() == [None, 3]


@pytest.mark.parametrize("hidden", [lambda x: tf.reshape(x, [-1]), tf.identity, lambda x: x + 0.0])
@pytest.mark.parametrize(
    "check, values",
    [
        ("assert_equal", ([1.0], [2.0])), ("assert_none_equal", ([1.0], [1.0])),
        ("assert_less", ([2.0], [1.0])), ("assert_less_equal", ([2.0], [1.0])),
        ("assert_greater", ([1.0], [2.0])), ("assert_greater_equal", ([1.0], [2.0])),
        ("assert_negative", ([1.0],)), ("assert_positive", ([-1.0],)),
        ("assert_non_negative", ([-1.0],)), ("assert_non_positive", ([1.0],)),
    ],
)  # fmt: skip
def test_assertions_refuse_what_is_seen(check: str, values: Any, hidden: Any) -> None:
    assertion = getattr(tf, check)
    with pytest.raises(tf.errors.InvalidArgumentError):
        assertion(*map(tf.constant, values))
    later = assertion(*(hidden(tf.constant(value)) for value in values))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(later)


def test_assertions_of_ranks_refuse_what_is_seen() -> None:
    with pytest.raises(ValueError, match="rank"):
        tf.assert_rank(_open([3]), tf.constant(2))
    assert tf.assert_rank(_open([3]), tf.identity(tf.constant(2))).type == "Assert"
