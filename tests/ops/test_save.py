"""Checkpoint and file ops on real files: what is written is what is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.build import make


def test_older_ops(tmp_path: Path) -> None:
    path = str(tmp_path / "old")
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        text = tf.constant(["x", "yy"])
        sess.run(make("Save", path, ["r", "t"], [tf.constant(rows), text]))
        restored = make("Restore", path, "r", dt=tf.float32)
        part = make("RestoreSlice", path, "r", "4 2 1,2:-", dt=tf.float32)
        assert part.shape.as_list() == [2, 2]
        values = sess.run([restored, part, make("Restore", path, "t", dt=tf.string)])
        np.testing.assert_array_equal(values[0], rows)
        np.testing.assert_array_equal(values[1], rows[1:3])
        assert values[2].tolist() == [b"x", b"yy"]


def test_merging_shards(tmp_path: Path) -> None:
    parts = [str(tmp_path / "tmp" / name) for name in "ab"]
    whole = str(tmp_path / "whole")
    with tf.Graph().as_default(), tf.Session() as sess:
        for path, value, piece in zip(parts, ([1.0, 2.0], [3.0]), ("0,2", "2,1"), strict=True):
            sess.run(make("SaveV2", path, ["w"], [f"3 {piece}"], [tf.constant(value)]))
        sess.run(make("MergeV2Checkpoints", parts, whole))
        restored = make("RestoreV2", whole, ["w", "w"], ["", "3 1,2"], dtypes=["float32"] * 2)
        first, second = sess.run(restored)
        np.testing.assert_array_equal(first, [1, 2, 3])
        np.testing.assert_array_equal(second, [2, 3])
    assert not (tmp_path / "tmp").exists()


def test_slices_must_fit(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(make("SaveV2", path, ["w"], [""], [tf.constant([1.0, 2.0])]))
        for spec in ("3 0,2", "2 1,2", "2"):
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                sess.run(make("RestoreV2", path, ["w"], [spec], dtypes=["float32"]))
        with pytest.raises(tf.errors.NotFoundError, match="mx"):
            sess.run(make("RestoreV2", path + "x", ["w"], [""], dtypes=["float32"]))


def test_files(tmp_path: Path) -> None:
    path = str(tmp_path / "made" / "file")
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.write_file(path, b"\x00\xff text"))
        assert sess.run(tf.read_file(path)) == b"\x00\xff text"
        found = sess.run(tf.matching_files(str(tmp_path / "made" / "f*")))
        assert found.tolist() == [path.encode()]
        contents = tf.read_file(path)
        assert sess.run(contents) == b"\x00\xff text"
        (tmp_path / "made" / "file").write_bytes(b"new")
        assert sess.run(contents) == b"new"


def test_matching_strings() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        words = tf.constant(["ab", "b"])
        assert sess.run(tf.strings.regex_full_match(words, "a.*")).tolist() == [True, False]
        pattern = tf.placeholder(tf.string, [])
        matched = tf.strings.regex_full_match(words, pattern)
        assert sess.run(matched, {pattern: "b"}).tolist() == [False, True]
