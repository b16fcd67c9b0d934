"""The words for fetches and feeds that make no sense: TensorFlow's, which programs search for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _elsewhere(make: Callable[[], Any]) -> Any:
    with tf.Graph().as_default():
        return make()


NOT_INTERPRETED = "Fetch argument .* cannot be interpreted as a Tensor"
FETCHES: list[tuple[Any, type[Exception], str]] = [
    ("nope", ValueError, "The name 'nope' refers to an Operation not in the graph"),
    ("nope:0", ValueError, "The name 'nope:0' refers to a Tensor which does not exist"),
    ("x:7", ValueError, "'x', exists but only has 1 output"),
    ("nope", ValueError, NOT_INTERPRETED),
    (None, TypeError, "Fetch argument None has invalid type <class 'NoneType'>"),
    ([None], TypeError, "Fetch argument None has invalid type"),
    (3.5, TypeError, "Fetch argument 3.5 has invalid type <class 'float'>"),
    (3.5, TypeError, "Can not convert a float into a Tensor or Operation"),
]


@pytest.mark.parametrize(("fetch", "kind", "words"), FETCHES)
def test_fetches(fetch: Any, kind: type[Exception], words: str) -> None:
    tf.placeholder(tf.float32, name="x")
    with tf.Session() as session, pytest.raises(kind, match=words):
        session.run(fetch)


@pytest.mark.parametrize("make", [lambda: tf.constant(1), tf.no_op])
def test_fetches_of_another_graph(make: Callable[[], Any]) -> None:
    tf.no_op()  # a graph without nodes is refused before
    with tf.Session() as session:
        with pytest.raises(ValueError, match=NOT_INTERPRETED + ".*is not an element of this graph"):
            session.run(_elsewhere(make))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (None, "Can not convert a NoneType into a Tensor"),
        (3, "Can not convert a int into a Tensor"),
        ("nope:0", "The name 'nope:0' refers to a Tensor which does not exist"),
        ("x", "The name 'x' refers to an Operation, not a Tensor"),
        (lambda x: x.op, "Can not convert a Operation into a Tensor"),
        (lambda x: _elsewhere(lambda: tf.constant(1)), "is not an element of this graph"),
    ],
)
def test_keys_of_feeds(key: Any, words: str) -> None:
    x = tf.placeholder(tf.float32, name="x")
    key = key(x) if callable(key) else key
    with tf.Session() as session:
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor: .*" + words):
            session.run(x * 2.0, {key: 1.0})


def test_values_of_feeds() -> None:
    x, i = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        words = r"Cannot feed value of shape \(3,\) for Tensor 'x:0', which has shape '\(2,\)'"
        with pytest.raises(ValueError, match=words):
            session.run(x * 2.0, {x: [1.0, 2.0, 3.0]})
        with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
            session.run(x * 2.0, {x: tf.constant([1.0, 2.0])})
        words = "Type of feed value 1099511627776 with type <class 'int'> is not compatible"
        with pytest.raises(TypeError, match=words):
            session.run(i * 2, {i: 2**40})


def test_a_closed_session() -> None:
    session = tf.Session()
    session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run(tf.constant(1))


def test_a_sparse_placeholder_without_a_shape_is_not_fed_a_pair() -> None:
    x = tf.sparse_placeholder(tf.float32)
    words = "You must feed a value for placeholder tensor .* with dtype int64"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(x.values, {x: ([[0, 1]], [2.0])})


@pytest.mark.parametrize("value", [2, -1])
def test_a_bool_is_fed_no_other_number(value: int) -> None:
    flag = tf.placeholder(tf.bool)
    with tf.Session() as session:
        with pytest.raises(TypeError, match="is not compatible with Tensor type"):
            session.run(flag, {flag: value})
        assert session.run(flag, {flag: 1})


@pytest.mark.parametrize(
    "use", [lambda s: s.make_callable(tf.constant(1)), lambda s: s.list_devices()]
)
def test_what_a_closed_session_gives_no_more(use: Callable[[Any], Any]) -> None:
    session = tf.Session()
    session.close()
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        use(session)


def test_a_callable_takes_a_list_of_what_is_fed() -> None:
    value = tf.constant(1)
    with tf.Session() as session, pytest.raises(TypeError, match="`feed_list` must be a list or"):
        session.make_callable(value, value)


def test_a_tensor_becomes_no_array() -> None:
    with pytest.raises((NotImplementedError, TypeError), match="Cannot convert a symbolic Tensor"):
        np.array([tf.constant(1)])
