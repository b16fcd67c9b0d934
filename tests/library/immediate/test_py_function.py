"""``tf.py_function``: each expectation is TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetched: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetched)


def test_the_function_gets_tensors_that_have_values() -> None:
    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.extend([x.numpy().tolist(), len(x), float(x[1]), x.shape.as_list(), np.asarray(x) + 1])
        seen.append(tf.executing_eagerly())
        return x * 2

    made = tf.py_function(function, [tf.constant([1.0, 2.0])], tf.float32)
    assert made.op.type == "EagerPyFunc" and made.shape.ndims is None
    assert _run(made).tolist() == [2.0, 4.0]
    assert seen[:4] == [[1.0, 2.0], 2, 2.0, [2]]
    assert seen[4].tolist() == [2.0, 3.0]
    assert seen[5] is True and not tf.executing_eagerly()


def _branching(x: Any) -> Any:
    if x[0] > 0:
        return float(x[1]) * x
    return -x


@pytest.mark.parametrize(
    ("function", "values", "gradient"),
    [
        (_branching, [2.0, 4.0], [2.0, 2.0]),
        (lambda x: tf.reduce_sum(x**2), 5.0, [2.0, 4.0]),
        (lambda x: x.numpy() + 1, [2.0, 3.0], [0.0, 0.0]),
    ],
)
def test_gradients_follow_the_branch_that_was_taken(
    function: Any, values: Any, gradient: Any
) -> None:
    x = tf.constant([1.0, 2.0])
    y = tf.py_function(function, [x], tf.float32)
    found = _run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(found[0], values)
    np.testing.assert_allclose(found[1], gradient)


def test_gradients_of_one_of_several_outputs() -> None:
    x = tf.constant([1.0, 2.0])
    a, b = tf.py_function(lambda x: (x * 2, x.numpy()), [x], [tf.float32, tf.float32])
    assert _run(tf.gradients(a + b, x))[0].tolist() == [2.0, 2.0]


def test_several_outputs_of_several_types() -> None:
    text = tf.constant("ab")
    made = tf.py_function(
        lambda s, n: (s.numpy().decode() + "é", [int(v) for v in n], tf.reduce_sum(n)),
        [text, tf.constant([1, 2])], [tf.string, tf.int32, tf.int32],
    )  # fmt: skip
    found = _run(made)
    assert found[0].decode() == "abé"
    assert found[1].tolist() == [1, 2] and found[2] == 3


def test_without_outputs_it_is_an_operation() -> None:
    seen: list[Any] = []
    made = tf.py_function(lambda x: seen.append(x.numpy().tolist()), [tf.constant([1.0])], [])
    assert isinstance(made, tf.Operation)
    assert _run(made) is None
    assert seen == [[1.0]]


def test_a_random_number_stays_what_it_is() -> None:
    def function() -> Any:
        u = tf.random.uniform([])
        return tf.stack([u - u, float(u) - u])

    assert _run(tf.py_function(function, [], tf.float32)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda x: x, tf.errors.InvalidArgumentError, "requested dtype int32 for Tensor with"),
        (lambda x: (x, x), tf.errors.InvalidArgumentError, "returns 2 values, but expects to see"),
        (lambda x: 1 / 0, tf.errors.UnknownError, "ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_results(function: Any, error: Any, words: str) -> None:
    made = tf.py_function(function, [tf.constant(1.0)], [tf.int32])
    with pytest.raises(error, match=words):
        _run(made)


def test_it_takes_functions_only() -> None:
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_function(3, [], tf.int32)
