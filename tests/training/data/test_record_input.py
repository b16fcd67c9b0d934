"""``RecordInput``; the nodes and errors are TensorFlow 1.15's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.contrib.framework import RecordInput
from penstock.python.ops import data_flow_ops


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    numbers = iter(range(15))
    for file in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{file}.rec")) as writer:
            for _ in range(5):
                writer.write(b"%d" % next(numbers))
    return str(tmp_path / "*.rec")


def _epochs(pattern: str, count: int, **more: Any) -> list[list[int]]:
    batch = RecordInput(pattern, batch_size=5, **more).get_yield_op()
    with tf.Session() as session:
        return [[int(r) for _ in range(3) for r in session.run(batch)] for _ in range(count)]


def test_each_epoch_has_each_record_once_in_another_order(pattern: str) -> None:
    found = _epochs(pattern, 4, buffer_size=15, shift_ratio=0.4, seed=3)
    assert [sorted(epoch) for epoch in found] == [list(range(15))] * 4
    assert len(set(map(tuple, found))) == 4
    assert found == _epochs(pattern, 4, buffer_size=15, shift_ratio=0.4, seed=3)
    assert found != _epochs(pattern, 4, buffer_size=15, shift_ratio=0.4, seed=4)


def test_a_small_buffer_keeps_files_together(pattern: str) -> None:
    (found,) = _epochs(pattern, 1, buffer_size=1)
    assert sorted(found) == list(range(15))
    assert [found[i : i + 5] for i in (0, 5, 10)] == [
        sorted(found[i : i + 5]) for i in (0, 5, 10)
    ]  # fmt: skip


def test_two_nodes_read_on_their_own(pattern: str) -> None:
    one, other = (RecordInput(pattern, batch_size=15).get_yield_op() for _ in range(2))
    with tf.Session() as session:
        for found in session.run([one, other]):
            assert sorted(map(int, found)) == list(range(15))


def test_nodes() -> None:
    made = RecordInput("f", 4, 3, 2, 0.5, 7, "q", batches=2).get_yield_op()
    assert [[t.name for t in dealt] for dealt in made] == [
        ["q_1/Reshape:0", "q_1/Reshape_2:0", "q_1/Reshape_4:0", "q_1/Reshape_6:0"],
        ["q_1/Reshape_1:0", "q_1/Reshape_3:0", "q_1/Reshape_5:0", "q_1/Reshape_7:0"],
    ]
    op = tf.get_default_graph().get_operation_by_name("q")
    named = {
        "file_pattern": b"f", "file_random_seed": 7, "file_shuffle_shift_ratio": 0.5,
        "file_buffer_size": 3, "file_parallelism": 2, "batch_size": 8, "compression_type": b"",
    }  # fmt: skip
    assert {key: op.get_attr(key) for key in named} == named
    assert op.outputs[0].shape.ndims is None
    assert data_flow_ops.RecordInput is RecordInput


def test_lists_of_scalars(pattern: str) -> None:
    dealt = RecordInput(pattern, batch_size=3, batches=5).get_yield_op()
    with tf.Session() as session:
        found = session.run(dealt)
    assert [len(each) for each in found] == [3] * 5
    assert sorted(int(record) for each in found for record in each) == list(range(15))


def test_compressed_files(tmp_path: Path) -> None:
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    path = str(tmp_path / "a")
    with tf.python_io.TFRecordWriter(path, options) as writer:
        writer.write(b"packed")
    kind = tf.python_io.TFRecordCompressionType.GZIP
    batch = RecordInput(path, compression_type=kind).get_yield_op()
    with tf.Session() as session:
        assert session.run(batch).tolist() == [b"packed"]


def test_no_files_and_no_records(tmp_path: Path) -> None:
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="Found no files at"):
            session.run(RecordInput(str(tmp_path / "none*")).get_yield_op())
        tf.python_io.TFRecordWriter(str(tmp_path / "empty")).close()
        with pytest.raises(tf.errors.OutOfRangeError, match="no records"):
            session.run(RecordInput(str(tmp_path / "empty")).get_yield_op())
