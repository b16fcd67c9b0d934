"""Ragged tensors in datasets: a row, or a batch, travels as one variant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _elements(dataset: Any) -> list[Any]:
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                value = session.run(following)
            except tf.errors.OutOfRangeError:
                return found
            found.append(value.to_list() if hasattr(value, "to_list") else value.tolist())


_TWO = [[1, 2], [3], []]
_THREE = [[[1], [2, 5]], [[3]], []]


@pytest.mark.parametrize("rows", [_TWO, _THREE])
def test_an_element_that_is_ragged(rows: Any) -> None:
    dataset = tf.data.Dataset.from_tensors(tf.ragged.constant(rows))
    assert _elements(dataset) == [rows]


@pytest.mark.parametrize("rows", [_TWO, _THREE])
def test_slices_are_rows(rows: Any) -> None:
    assert _elements(tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows))) == rows


@pytest.mark.parametrize("rows", [_TWO, _THREE])
def test_batches_of_rows(rows: Any) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows)).batch(2)
    assert _elements(dataset) == [rows[:2], rows[2:]]


def test_functions_of_elements() -> None:
    dataset = tf.data.Dataset.from_tensors(tf.ragged.constant(_TWO)).map(lambda x: x * 2)
    assert _elements(dataset) == [[[2, 4], [6], []]]
    made = tf.data.Dataset.range(3).map(lambda i: tf.ragged.range(tf.range(i + 1))).batch(2)
    assert _elements(made) == [[[[]], [[], [0]]], [[[], [0], [0, 1]]]]
