"""A file of cached elements has one writer at a time, as in TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf


def _iterator(path: Path) -> tuple[Any, Any]:
    made = tf.data.Dataset.range(3).cache(str(path)).make_initializable_iterator()
    return made.initializer, made.get_next()


def _drain(session: tf.Session, following: Any) -> list[int]:
    found = []
    while True:
        try:
            found.append(int(session.run(following)))
        except tf.errors.OutOfRangeError:
            return found


def test_two_writers(tmp_path: Path) -> None:
    (start_one, one), (start_two, two) = _iterator(tmp_path / "c"), _iterator(tmp_path / "c")
    words = "There appears to be a concurrent caching iterator running"
    with tf.Session() as session:
        session.run([start_one, start_two])
        session.run(one)
        with pytest.raises(tf.errors.AlreadyExistsError, match=words):
            session.run(two)
        assert _drain(session, one) == [1, 2]
        session.run(start_two)
        assert _drain(session, two) == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["c.cache"]


def test_a_writer_that_starts_over(tmp_path: Path) -> None:
    start, following = _iterator(tmp_path / "c")
    with tf.Session() as session:
        session.run(start)
        session.run(following)
        session.run(start)
        assert _drain(session, following) == [0, 1, 2]
        session.run(start)
        assert _drain(session, following) == [0, 1, 2]


HANDLES = [
    ("Incompatible shapes at component 0: expected \\[3\\] but got \\[2\\]", tf.float32, [3]),
    ("Data type mismatch", tf.int32, [2]),
    ("Number of components does not match: expected 2", (tf.float32, tf.float32), ([2], [2])),
]


@pytest.mark.parametrize(("words", "types", "shapes"), HANDLES)
def test_handles_of_other_iterators(words: str, types: Any, shapes: Any) -> None:
    handle = tf.data.Dataset.from_tensors([1.0, 2.0]).make_one_shot_iterator().string_handle()
    with tf.Session() as session:
        text = session.run(handle)
        other = tf.data.Iterator.from_string_handle(text, types, shapes)
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(other.get_next())
        fits = tf.data.Iterator.from_string_handle(text, tf.float32, [None])
        assert session.run(fits.get_next()).tolist() == [1.0, 2.0]
