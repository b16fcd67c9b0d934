"""Sequence columns: dense tensors of steps, and the lengths of the sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.training.feature_column.column import Features
from penstock.training.feature_column.input_layer import collected

INDICES = [[0, 0], [0, 1], [2, 0]]


def run(column: Any, values: Any) -> tuple[Any, Any]:
    with tf.Graph().as_default(), tf.Session() as sess:
        sparse = tf.SparseTensor(INDICES, tf.constant(values), [3, 2])
        found = column.sequence_dense_tensor(Features({"s": sparse}), collected(None, True))
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(tuple(found))


def table(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    return tf.reshape(tf.range(np.prod(shape), dtype=tf.float32), shape)


COLUMNS = {
    "identity": (
        tf.feature_column.sequence_categorical_column_with_identity("s", 3), np.int64([2, 0, 1])
    ),
    "list": (
        tf.feature_column.sequence_categorical_column_with_vocabulary_list("s", ["a", "b", "c"]),
        ["c", "a", "b"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_indicators_and_embeddings(name: str) -> None:
    column, values = COLUMNS[name]
    shown, lengths = run(tf.feature_column.indicator_column(column), values)
    np.testing.assert_array_equal(lengths, [2, 0, 1])
    np.testing.assert_array_equal(shown[0], [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(shown[1], np.zeros([2, 3]))
    embedded, lengths = run(
        tf.feature_column.embedding_column(column, 2, initializer=table), values
    )
    np.testing.assert_array_equal(lengths, [2, 0, 1])
    np.testing.assert_array_equal(embedded[0], [[4, 5], [0, 1]])
    np.testing.assert_array_equal(embedded[2], [[2, 3], [0, 0]])


def test_hashes_and_files(tmp_path: Any) -> None:
    hashed = tf.feature_column.sequence_categorical_column_with_hash_bucket("s", 4)
    shown, lengths = run(tf.feature_column.indicator_column(hashed), ["a", "b", "a"])
    np.testing.assert_array_equal(lengths, [2, 0, 1])
    np.testing.assert_array_equal(shown[0, 0], shown[2, 0])
    (tmp_path / "words").write_text("a\nb\n")
    filed = tf.feature_column.sequence_categorical_column_with_vocabulary_file(
        "s", str(tmp_path / "words"), num_oov_buckets=1
    )
    shown, _ = run(tf.feature_column.indicator_column(filed), ["b", "x", "a"])
    np.testing.assert_array_equal(shown[:, 0], [[0, 1, 0], [0, 0, 0], [1, 0, 0]])


def test_shared_embeddings_of_sequences() -> None:
    columns = [COLUMNS["identity"][0]]
    (shared,) = tf.feature_column.shared_embedding_columns(columns, 2, initializer=table)
    embedded, lengths = run(shared, COLUMNS["identity"][1])
    np.testing.assert_array_equal(embedded[0], [[4, 5], [0, 1]])
    np.testing.assert_array_equal(lengths, [2, 0, 1])


def test_numbers() -> None:
    column = tf.feature_column.sequence_numeric_column("s", default_value=-1.0)
    dense, lengths = run(column, np.float32([1.5, 2.5, 3.5]))
    np.testing.assert_array_equal(dense[..., 0], [[1.5, 2.5], [-1, -1], [3.5, -1]])
    np.testing.assert_array_equal(lengths, [2, 0, 1])
    pairs = tf.feature_column.sequence_numeric_column("s", shape=2)
    dense, lengths = run(pairs, np.float32([1.5, 2.5, 3.5]))
    assert dense.shape == (3, 1, 2)
    np.testing.assert_array_equal(lengths, [1, 0, 1])


def test_a_column_of_no_sequences_is_refused() -> None:
    plain = tf.feature_column.categorical_column_with_identity("s", 3)
    with pytest.raises(
        ValueError, match="must be of type SequenceCategoricalColumn to use SequenceF"
    ):
        run(tf.feature_column.embedding_column(plain, 2), np.int64([0, 1, 2]))
