"""Warm starts by vocabulary: rows and columns follow their words.

The expected values follow from the words; TensorFlow 1.15 gave the same, but for the constant
initializer, which fails there with today's NumPy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

OLD = np.arange(12, dtype=np.float32).reshape(4, 3) + 1


def written(folder: Path) -> str:
    """A checkpoint with ``old`` of four words, and files of old and new words."""
    (folder / "old").write_text("a\nb\nc\nd\n")
    (folder / "new").write_text("c\nx\na\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("old", initializer=OLD)
        tf.get_variable("turned", initializer=OLD.T.copy())
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(folder / "model"))


def info(folder: Path, **more: Any) -> Any:
    arguments = {"num_oov_buckets": 0, **more}
    return tf.train.VocabInfo(
        str(folder / "new"), 3, arguments.pop("num_oov_buckets"), str(folder / "old"), **arguments
    )


def started(
    name: str, shape: list[int], path: str, earlier: str, vocabulary: Any, **how: Any
) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable(name, shape, **how)
        tf.train.warm_start(path, None, {name: vocabulary}, {name: earlier})
        sess.run(tf.global_variables_initializer())
        return sess.run(tf.convert_to_tensor(variable))


@pytest.mark.parametrize("resource", [False, True])
def test_rows_follow_their_words(tmp_path: Path, resource: bool) -> None:
    path = written(tmp_path)
    value = started("v", [3, 3], path, "old", info(tmp_path), use_resource=resource)
    np.testing.assert_array_equal(value, [OLD[2], np.zeros(3), OLD[0]])


def test_other_words_get_initial_values(tmp_path: Path) -> None:
    path = written(tmp_path)
    vocabulary = info(tmp_path, num_oov_buckets=2, backup_initializer=tf.constant_initializer(7.0))
    value = started("v", [5, 3], path, "old", vocabulary)
    np.testing.assert_array_equal(value, [OLD[2], [7] * 3, OLD[0], [7] * 3, [7] * 3])


def test_only_some_old_words(tmp_path: Path) -> None:
    path = written(tmp_path)
    value = started("v", [3, 3], path, "old", info(tmp_path, old_vocab_size=2))
    np.testing.assert_array_equal(value, [np.zeros(3), np.zeros(3), OLD[0]])


def test_columns_follow_their_words(tmp_path: Path) -> None:
    path = written(tmp_path)
    value = started("v", [3, 4], path, "turned", info(tmp_path, axis=1, num_oov_buckets=1))
    expected = np.stack([OLD[2], np.zeros(3), OLD[0], np.zeros(3)], 1)
    np.testing.assert_array_equal(value, expected)


def test_parts_of_a_variable(tmp_path: Path) -> None:
    path = written(tmp_path)
    value = started(
        "v", [4, 3], path, "old", info(tmp_path, num_oov_buckets=1),
        partitioner=tf.fixed_size_partitioner(2),
    )  # fmt: skip
    np.testing.assert_array_equal(value, [OLD[2], np.zeros(3), OLD[0], np.zeros(3)])


def test_mistakes(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(ValueError, match="only supported values for the axis argument"):
        info(tmp_path, axis=2)
    with pytest.raises(ValueError, match="does not fit a vocabulary"):
        started("v", [9, 3], path, "old", info(tmp_path))
