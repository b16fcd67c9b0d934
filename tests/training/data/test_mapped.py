"""Functions of datasets with Python's control flow over tensors: converted, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

Dataset = tf.data.Dataset


def _elements(dataset: Any) -> list[Any]:
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(np.asarray(session.run(following)).tolist())
            except tf.errors.OutOfRangeError:
                return found


def _summed(x: Any) -> Any:
    total = tf.constant(0, tf.int64)
    for _ in tf.range(tf.cast(x, tf.int32)):
        total += 2
    if x > 1:
        total = total * 10
    return total


def _large(x: Any) -> Any:
    if x > 2:
        return True
    return False


def _between(x: Any) -> Any:
    return x > 1 and x < 4


def _pair(x: Any) -> Any:
    if x > 1:
        pair = tf.constant([7, 8], tf.int64)
    else:
        pair = tf.constant([9, 9], tf.int64)
    return Dataset.from_tensor_slices(pair)


def _sum_of_large(state: Any, x: Any) -> Any:
    if x > 2:
        state = state + x
    return state


def _key(x: Any) -> Any:
    if x > 2:
        key = tf.constant(1, tf.int64)
    else:
        key = tf.constant(0, tf.int64)
    return key


def _doubled(x: Any) -> Any:
    if x > 1:
        return x * 2
    return x


def _calls_another(x: Any) -> Any:
    return _doubled(x) + 1


class _Object:
    def method(self, x: Any) -> Any:
        while x < 10:
            x = x * 2 + 1
        return x

    def __call__(self, x: Any) -> Any:
        if x > 1:
            x = x + 100
        return x


_EXPERIMENTAL = tf.data.experimental
_NUMBERS = [0, 2, 40, 60, 80]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda r: r.map(_summed), _NUMBERS),
        (lambda r: r.map(_summed, num_parallel_calls=2), _NUMBERS),
        (lambda r: r.filter(_large), [3, 4]),
        (lambda r: r.filter(_between), [2, 3]),
        (lambda r: r.flat_map(_pair), [9, 9, 9, 9, 7, 8, 7, 8, 7, 8]),
        (lambda r: r.interleave(_pair, 2), [9, 9, 9, 9, 7, 7, 8, 8, 7, 8]),
        (lambda r: r.map(_Object().method), [15, 15, 11, 15, 19]),
        (lambda r: r.map(_Object()), [0, 1, 102, 103, 104]),
        (lambda r: r.map(_calls_another), [1, 2, 5, 7, 9]),
        (lambda r: Dataset.zip((r, r)).map(lambda a, b: _summed(a) + b), [0, 3, 42, 63, 84]),
        (lambda r: r.apply(_EXPERIMENTAL.map_and_batch(_summed, 2)), [[0, 2], [40, 60], [80]]),
        (lambda r: r.apply(_EXPERIMENTAL.take_while(_large)), []),
        (
            lambda r: r.apply(
                _EXPERIMENTAL.group_by_reducer(
                    _key, _EXPERIMENTAL.Reducer(lambda _: np.int64(0), _sum_of_large, lambda s: s)
                )
            ),
            [0, 7],
        ),
    ],
)
def test_control_flow_of_python(made: Callable[[Any], Any], expected: list[Any]) -> None:
    assert _elements(made(Dataset.range(5))) == expected


def test_a_reduction_chooses_by_an_element() -> None:
    with tf.Session() as session:
        assert session.run(Dataset.range(5).reduce(np.int64(0), _sum_of_large)) == 7


def test_a_function_that_is_left_as_it_is() -> None:
    left = tf.contrib.autograph.do_not_convert()(_doubled)
    with pytest.raises(TypeError, match="using a `tf.Tensor` as a Python `bool`"):
        Dataset.range(5).map(left)
