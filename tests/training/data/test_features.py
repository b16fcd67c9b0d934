"""SparseFeature: features that together are a sparse tensor; expected values are TensorFlow's."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf


def _example(**features: list[Any]) -> bytes:
    message = tf.train.Example()
    for key, values in features.items():
        feature = message.features.feature[key]
        kept = feature.float_list if isinstance(values[0], float) else feature.int64_list
        kept.value.extend(values)
    return message.SerializeToString()


ONE_DIM = [_example(at=[5, 2, 0], value=[1.0, 2.0, 3.0]), _example(at=[3], value=[7.0])]
TWO_DIMS = [
    _example(row=[1, 0], column=[2, 3], value=[1.0, 2.0]),
    _example(row=[0], column=[0], value=[4.0]),
]
ENTRY = tf.SparseFeature("at", "value", tf.float32, 10)
MATRIX = tf.SparseFeature(["row", "column"], "value", tf.float32, [3, 5])


def _values(sparse: Any) -> list[Any]:
    with tf.Session() as session:
        return [part.tolist() for part in session.run(sparse)]


def test_entries_are_put_in_order() -> None:
    found = tf.parse_example([*ONE_DIM, _example(other=[1])], {"x": ENTRY})
    assert list(found) == ["x"] and found["x"].shape.as_list() == [None, 10]
    assert _values(found["x"]) == [
        [[0, 0], [0, 2], [0, 5], [1, 3]], [3.0, 2.0, 1.0, 7.0], [3, 10]
    ]  # fmt: skip


def test_entries_said_to_be_sorted_stay_as_they_are() -> None:
    found = tf.parse_example(ONE_DIM, {"x": ENTRY._replace(already_sorted=True)})
    assert _values(found["x"])[1] == [1.0, 2.0, 3.0, 7.0]


def test_many_dims() -> None:
    found = tf.parse_example(TWO_DIMS, {"x": MATRIX})
    assert _values(found["x"]) == [
        [[0, 0, 3], [0, 1, 2], [1, 0, 0]], [2.0, 1.0, 4.0], [2, 3, 5]
    ]  # fmt: skip


def test_one_example() -> None:
    found = tf.parse_single_example(TWO_DIMS[0], {"x": MATRIX})
    assert _values(found["x"]) == [[[0, 3], [1, 2]], [2.0, 1.0], [3, 5]]
    named = tf.parse_single_example(ONE_DIM[0], {"x": ENTRY}, example_names="first")
    assert _values(named["x"]) == [[[0], [2], [5]], [3.0, 2.0, 1.0], [10]]


def test_its_parts_can_be_asked_for_too() -> None:
    found = tf.parse_example(ONE_DIM, {"x": ENTRY, "at": tf.VarLenFeature(tf.int64)})
    assert sorted(found) == ["at", "x"]
    assert _values(found["at"])[1] == [5, 2, 0, 3]


def test_datasets_of_parsed_examples() -> None:
    features = {"x": MATRIX, "row": tf.VarLenFeature(tf.int64)}
    dataset = tf.data.Dataset.from_tensors(TWO_DIMS)
    dataset = dataset.apply(tf.data.experimental.parse_example_dataset(features))
    assert dataset.output_shapes["x"].as_list() == [None, 3, 5]
    element = dataset.make_one_shot_iterator().get_next()
    assert sorted(element) == ["row", "x"]
    assert _values(element["x"])[0] == [[0, 0, 3], [0, 1, 2], [1, 0, 0]]


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({"x": ENTRY._replace(index_key=None)}, "Missing index_key for SparseFeature"),
        ({"x": ENTRY._replace(value_key=None)}, "Missing value_key for SparseFeature"),
        ({"x": ENTRY._replace(dtype=None)}, "Missing type for feature x"),
        ({"x": ENTRY, "at": tf.VarLenFeature(tf.float32)}, "Conflicting type .* for feature at"),
        (
            {"x": ENTRY, "value": tf.VarLenFeature(tf.int64)},
            "Conflicting type .* for feature value",
        ),
        (
            {"x": ENTRY, "at": tf.FixedLenFeature([], tf.int64)},
            "Dense and sparse keys must not intersect; intersection: {'at'}",
        ),
        ({"x": 7}, "Unsupported int 7"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense(features: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.parse_example(ONE_DIM, features)


@pytest.mark.parametrize("size", [None, [10, 3]])
def test_its_size_is_a_number(size: Any) -> None:
    with pytest.raises(TypeError, match="vocab_size has to be a Tensor or Python int"):
        tf.parse_example(ONE_DIM, {"x": ENTRY._replace(size=size)})
    with pytest.raises(TypeError, match="vocab_size has to be a list"):
        tf.parse_example(TWO_DIMS, {"x": MATRIX._replace(size=3)})


@pytest.mark.parametrize("place", ["context_features", "sequence_features"])
def test_sequences_have_none(place: str) -> None:
    with pytest.raises(ValueError, match="Unsupported SparseFeature"):
        tf.parse_single_sequence_example(ONE_DIM[0], **{place: {"x": ENTRY}})


@pytest.mark.parametrize(
    ("feature", "error", "words"),
    [
        (
            tf.FixedLenFeature([None, 2], tf.int64), ValueError,
            r"^First dimension of shape for feature x unknown\. Consider using FixedLenSequenceF",
        ),
        (
            tf.FixedLenFeature([2, None], tf.int64), ValueError,
            r"^All dimensions of shape for feature x need to be known but received \[2, None\]",
        ),
        (
            tf.FixedLenFeature([], tf.int32), TypeError,
            "^Value passed to parameter 'dense_defaults' has DataType int32 not in list of allowed",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_features_that_are_refused(feature: Any, error: type[Exception], words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        tf.parse_example(["?"], {"x": feature})


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (
            lambda data, spec: tf.parse_example([_example(x=[1]), data], {"x": spec}),
            r"Name: <unknown>, Key: x, Index: 1\.  Number of int64 values != expected\.",
        ),
        (
            lambda data, spec: tf.parse_single_example(data, {"x": spec}),
            r"Key: x\.  Can't parse serialized Example\.",
        ),
        (
            lambda data, spec: tf.parse_example([data], {"x": tf.VarLenFeature(tf.string)}),
            r"Name: <unknown>, Key: x, Index: 0\.  Data types don't match\. Expected type: string, "
            "Actual type: int64",
        ),
        (
            lambda data, spec: tf.parse_single_sequence_example(data, {"x": spec}),
            r"Name: , Key: x, Index: 0\.  Number of int64 values != expected\.",
        ),
    ],
    ids=["batch", "single", "type", "sequence"],
)
def test_a_bad_feature_is_told_with_its_place(parse: Any, words: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = parse(_example(x=[1, 2]), tf.FixedLenFeature([], tf.int64))
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(parsed)
