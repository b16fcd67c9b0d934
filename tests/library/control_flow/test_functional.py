"""``tf.map_fn``, ``tf.scan``, ``tf.foldl`` and ``tf.foldr``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


X = np.arange(1.0, 7.0, dtype=np.float32).reshape(3, 2)


def test_map(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    made = tf.map_fn(lambda v: tf.reduce_sum(v) * v, x)
    assert made.shape.as_list() == [None, 2]
    (gradient,) = tf.gradients(made, x)
    for rows in (3, 1):
        found, slope = session.run([made, gradient], {x: X[:rows]})
        total = X[:rows].sum(1, keepdims=True)
        np.testing.assert_allclose(found, X[:rows] * total)
        np.testing.assert_allclose(slope, np.repeat(2 * total, 2, 1))


def test_map_of_nestings(session: Any) -> None:
    elems = {"a": tf.constant(X), "b": (tf.constant([1, 2, 3]),)}
    made = tf.map_fn(
        lambda v: [v["a"] * tf.cast(v["b"][0], tf.float32), v["b"][0]], elems,
        dtype=[tf.float32, tf.int32],
    )  # fmt: skip
    assert [t.shape.as_list() for t in made] == [[3, 2], [3]]
    product, same = session.run(made)
    np.testing.assert_allclose(product, X * [[1], [2], [3]])
    assert same.tolist() == [1, 2, 3]
    assert session.run(tf.map_fn(lambda v: v, elems))["a"].tolist() == X.tolist()


def test_map_of_other_dtypes_and_shapes(session: Any) -> None:
    made = tf.map_fn(lambda v: tf.string_join([v, "!"]), tf.constant(["a", "b"]))
    assert session.run(made).tolist() == [b"a!", b"b!"]
    made = tf.map_fn(lambda v: v > 1, tf.constant([1, 2]), dtype=tf.bool)
    assert session.run(made).tolist() == [False, True]
    ragged = tf.map_fn(lambda n: tf.range(n), tf.constant([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        session.run(ragged)


def test_no_rows(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    empty = {x: np.zeros((0, 2), np.float32)}
    made = [
        tf.scan(lambda a, v: a + v, x, initializer=tf.zeros([2])),
        tf.foldl(lambda a, v: a + v, x, initializer=tf.ones([2])),
        tf.foldr(lambda a, v: a + v, x, initializer=tf.ones([2])),
    ]
    found = session.run(made, empty)
    assert found[0].shape == (0, 2)
    assert [v.tolist() for v in found[1:]] == [[1, 1], [1, 1]]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(session: Any, reverse: bool) -> None:
    x = tf.constant(X)
    made = tf.scan(lambda a, v: a * 0.5 + v, x, reverse=reverse)
    started = tf.scan(lambda a, v: a * 0.5 + v, x, initializer=tf.ones([2]), reverse=reverse)
    rows = X[::-1] if reverse else X
    wanted, begun = [rows[0]], [0.5 + rows[0]]
    for row in rows[1:]:
        wanted.append(wanted[-1] * 0.5 + row)
        begun.append(begun[-1] * 0.5 + row)
    found = session.run([made, started])
    for value, expected in zip(found, (wanted, begun), strict=True):
        np.testing.assert_allclose(value, expected[::-1] if reverse else expected)
    slope = session.run(tf.gradients(made, x)[0])
    order = [1.75, 1.5, 1.0]
    np.testing.assert_allclose(slope[:, 0], order[::-1] if reverse else order)


def test_scan_of_pairs(session: Any) -> None:
    elems = tf.constant([1, 0, 0, 0, 0, 0])
    made = tf.scan(lambda a, _: (a[1], a[0] + a[1]), elems, initializer=(0, 1))
    assert [v.tolist() for v in session.run(made)] == [[1, 1, 2, 3, 5, 8], [1, 2, 3, 5, 8, 13]]


def test_folds(session: Any) -> None:
    digits = tf.constant([1, 2, 3])
    folds = [
        tf.foldl(lambda a, x: a * 10 + x, digits),
        tf.foldr(lambda a, x: a * 10 + x, digits),
        tf.foldl(lambda a, x: a * 10 + x, digits, initializer=9),
        tf.foldr(lambda a, x: a * 10 + x[0] * x[1], (digits, digits), initializer=0),
    ]
    assert session.run(folds) == [123, 321, 9123, 941]


def test_variables_are_read_once_and_learn(session: Any) -> None:
    def double(v: Any) -> Any:
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            return v * tf.get_variable("k", [2], initializer=tf.ones_initializer())

    made = tf.map_fn(double, tf.constant(X))
    variable = tf.trainable_variables()[0]
    assert [v.op.name for v in tf.trainable_variables()] == ["s/k"]
    assert tf.get_variable_scope().caching_device is None
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(tf.gradients(made, variable))[0], X.sum(0))


def test_the_scope_is_left_as_it_was_after_a_mistake() -> None:
    def fails(_: Any) -> Any:
        raise KeyError("the user's own")

    with tf.Graph().as_default():
        with pytest.raises(KeyError):
            tf.map_fn(fails, tf.constant(X))
        assert tf.get_variable_scope().caching_device is None


def test_mistakes() -> None:
    with tf.Graph().as_default():
        x = tf.constant(X)
        for function in (tf.map_fn, tf.scan, tf.foldl, tf.foldr):
            with pytest.raises(TypeError, match="fn must be callable"):
                function(3, x)
        with pytest.raises(TypeError, match="sparse"):
            tf.map_fn(lambda v: v, tf.SparseTensor([[0, 0]], [1.0], [1, 1]))
        with pytest.raises(ValueError, match="not a scalar"):
            tf.map_fn(lambda v: v, tf.constant(1.0))
        with pytest.raises(ValueError, match="structure"):
            tf.map_fn(lambda v: (v, v), x)
        with pytest.raises(ValueError, match="structure"):
            tf.scan(lambda a, v: (a, v), x)
