"""Ragged tensors in graphs, feeds and fetches, and what they refuse."""

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


def _run(fetched: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetched, feeds)


def test_fetches_are_values_in_any_nesting() -> None:
    rt = tf.ragged.constant([[1, 2], [], [3]])
    found = _run({"rt": rt, "more": [rt + 1, tf.constant(5)]})
    assert isinstance(found["rt"], tf.ragged.RaggedTensorValue)
    assert found["rt"].to_list() == [[1, 2], [], [3]]
    assert found["more"][0].to_list() == [[2, 3], [], [4]] and found["more"][1] == 5
    assert found["rt"].shape == (3, None) and found["rt"].ragged_rank == 1
    assert str(found["rt"]) == "<tf.RaggedTensorValue [[1, 2], [], [3]]>"


def test_feeds_are_values() -> None:
    fed = tf.ragged.placeholder(tf.int32, 2)
    value = tf.ragged.constant_value([[[1], [2, 3]], [], [[4]]], np.int32)
    assert _run(tf.reduce_sum(fed, axis=2), {fed: value}).to_list() == [[1, 5], [], [4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
        _run(fed)


@pytest.mark.parametrize(
    ("factory", "partition"),
    [
        ("from_row_splits", [1, 2]), ("from_row_splits", [0, 3, 2]), ("from_row_splits", [0, 3]),
        ("from_row_lengths", [1, 3]), ("from_row_lengths", [3, -1]), ("from_row_starts", [1, 2]),
        ("from_row_starts", [0, 5]), ("from_row_limits", [0, 5]), ("from_value_rowids", [3, 2]),
        ("from_value_rowids", [0]),
    ],
)  # fmt: skip
def test_what_is_no_partition_of_the_values(factory: str, partition: list[int]) -> None:
    fed = tf.placeholder(tf.int64, [None])
    values = tf.placeholder(tf.int32, [None])
    feeds = {fed: partition, values: [1, 2]}
    words = f"Arguments to {factory} do not form a valid RaggedTensor"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        _run(getattr(tf.RaggedTensor, factory)(values, fed), feeds)
    unchecked = getattr(tf.RaggedTensor, factory)(values, fed, validate=False)
    assert unchecked.values is values


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda rt: tf.RaggedTensor([1], [0, 1]), ValueError, "constructor is private"),
        (lambda rt: rt.to_list(), ValueError, "only supported in eager mode"),
        (lambda rt: bool(rt), TypeError, "may not be used as a boolean"),
        (lambda rt: tf.convert_to_tensor(rt), TypeError, "Failed to convert object of type"),
        (lambda rt: rt[:, 0], ValueError, "Cannot index into an inner ragged dimension"),
        (lambda rt: rt + rt.with_row_splits_dtype(tf.int32), ValueError, "mismatched row_splits"),
        (lambda rt: rt.row_lengths(axis=2), ValueError, "expected -2<=axis<2"),
        (lambda rt: tf.RaggedTensor.from_row_splits([1], []), ValueError, "may not be empty"),
        (lambda rt: tf.RaggedTensor.from_row_splits([1], [0, 1.5]), ValueError, "int32 or int64"),
        (lambda rt: tf.ragged.constant([[1], 2]), ValueError, "same nesting depth"),
        (lambda rt: tf.RaggedTensorSpec([2, None], tf.int32, 2), ValueError, "less than rank"),
    ],
)
def test_wrong_use(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        make(tf.ragged.constant([[1], [2, 3]]))


def test_specs_say_what_values_are() -> None:
    rt = tf.ragged.constant([[[1], [2]], []])
    spec = tf.RaggedTensorSpec.from_value(rt)
    assert spec == tf.RaggedTensorSpec([2, None, None], tf.int32)
    assert spec.value_type is tf.RaggedTensor
    assert spec.is_compatible_with(rt) and spec.is_compatible_with(_run(rt))
    assert not tf.RaggedTensorSpec([3, None, None], tf.int32).is_compatible_with(rt)
    assert [part.shape.as_list() for part in spec._component_specs] == [[None], [3], [None]]


def test_static_shapes_are_kept() -> None:
    rt = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert rt.shape.as_list() == [2, None, 2]
    assert tf.reduce_sum(rt, axis=1).shape.as_list() == [2, 2]
    assert tf.gather(rt, [1, 0, 1]).shape.as_list() == [3, None, 2]
    assert tf.concat([rt, rt], 0).shape.as_list() == [4, None, 2]


def test_slices_go_backwards() -> None:
    rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
    assert _run(rt[:, ::-1]).to_list() == [[3, 2, 1], [], [5, 4]]


def test_pieces_of_so_many_strings_have_so_many_rows() -> None:
    texts = tf.constant(["a,b", "", "c"])
    for made in (
        tf.strings.split(texts, sep=",", result_type="RaggedTensor"),
        tf.string_split(texts, delimiter=",", result_type="RaggedTensor"),
        tf.strings.bytes_split(texts),
    ):
        assert made.shape.as_list() == [3, None]


def test_strings_of_unknown_rank_are_split_as_a_vector() -> None:
    texts = tf.placeholder(tf.string)
    made = tf.strings.split(texts, sep=",", result_type="RaggedTensor")
    assert _run(made, {texts: ["a,b", "c"]}).to_list() == [[b"a", b"b"], [b"c"]]
    with pytest.raises(ValueError, match="input must have a statically-known rank"):
        tf.strings.bytes_split(texts)
