"""Places of words in another vocabulary, and matrices of a checkpoint picked by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def _run(op: str, *inputs: Any, **attrs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make(op, *inputs, **attrs))


def _file(path: Path, words: str) -> str:
    path.write_text("".join(word + "\n" for word in words))
    return str(path)


# What TensorFlow 2.21 gives.
@pytest.mark.parametrize(
    ("offset", "count", "old", "expected", "present"),
    [
        (0, 4, -1, [2, -1, 0, -1], 2),
        (1, 2, -1, [-1, 0], 1),
        (0, 3, 2, [-1, -1, 0], 1),
        (2, 2, 1, [0, -1], 1),
        (0, 0, -1, [], 0),
    ],
)
def test_places_of_words(
    tmp_path: Path, offset: int, count: int, old: int, expected: list[int], present: int
) -> None:
    names = _file(tmp_path / "new", "abcd"), _file(tmp_path / "old", "cxa")
    attrs = {"new_vocab_offset": offset, "num_new_vocab": count, "old_vocab_size": old}
    remapping, found = _run("GenerateVocabRemapping", *names, **attrs)
    assert remapping.tolist() == expected
    assert found == present


@pytest.mark.parametrize(
    ("new", "old", "attrs", "error"),
    [
        ("abcd", "cxa", (3, 2, -1), tf.errors.InvalidArgumentError),
        ("abcd", "cxa", (0, 4, 5), tf.errors.InvalidArgumentError),
        ("abcd", "cxa", (0, 4, 0), tf.errors.OutOfRangeError),
        ("abcd", "aa", (0, 2, -1), tf.errors.FailedPreconditionError),
    ],
)
def test_vocabularies_that_do_not_fit(
    tmp_path: Path, new: str, old: str, attrs: tuple[int, int, int], error: type[Exception]
) -> None:
    names = _file(tmp_path / "new", new), _file(tmp_path / "old", old)
    keys = ("new_vocab_offset", "num_new_vocab", "old_vocab_size")
    with pytest.raises(error):
        _run("GenerateVocabRemapping", *names, **dict(zip(keys, attrs, strict=True)))


def _checkpoint(folder: Path, value: np.ndarray) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=value)
        session.run(tf.global_variables_initializer())
        path: str = tf.train.Saver().save(session, str(folder / "model"))
    return path


@pytest.mark.parametrize("columns", [[], [2, -1, 0, 1]])
def test_rows_and_columns_of_a_saved_matrix(tmp_path: Path, columns: list[int]) -> None:
    old = np.arange(12, dtype=np.float32).reshape(4, 3)
    rows, picked = [3, -1, 0], columns or [0, 1, 2]
    fresh = iter(np.arange(100, 200, dtype=np.float32))
    expected = [[old[r, c] if min(r, c) >= 0 else next(fresh) for c in picked] for r in rows]
    lacking = sum(min(r, c) < 0 for r in rows for c in picked)
    found = _run(
        "LoadAndRemapMatrix", _checkpoint(tmp_path, old), "w", rows,
        np.array(columns, np.int64), np.arange(100, 100 + lacking, dtype=np.float32),
        num_rows=3, num_cols=len(picked),
    )  # fmt: skip
    assert found.tolist() == np.array(expected).tolist()


@pytest.mark.parametrize(
    ("rows", "values", "error"),
    [
        ([0, 0], [], tf.errors.UnimplementedError),
        ([0, 9], [], tf.errors.InvalidArgumentError),
        ([0, -1], [1.0], tf.errors.InvalidArgumentError),
        ([0], [], tf.errors.InvalidArgumentError),
    ],
)
def test_places_that_do_not_fit(
    tmp_path: Path, rows: list[int], values: list[float], error: type[Exception]
) -> None:
    path = _checkpoint(tmp_path, np.ones((4, 3), np.float32))
    nothing = np.zeros(0, np.int64)
    with pytest.raises(error):
        _run(
            "LoadAndRemapMatrix", path, "w", rows, nothing, np.array(values, np.float32),
            num_rows=2, num_cols=3,
        )  # fmt: skip
