"""Databases of LMDB as datasets and by a reader, where the package lmdb is installed."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import penstock as tf

RECORDS = [(b"k1", b"v1"), (b"k2", b"v2v2"), (b"k3", b"v3v3v3")]


@pytest.fixture
def databases(tmp_path: Path) -> list[str]:
    """One database in a folder, one in a file of its own; put in backwards."""
    lmdb = pytest.importorskip("lmdb")
    paths = [tmp_path / "folder", tmp_path / "file.mdb"]
    for path in paths:
        with lmdb.open(str(path), subdir=path.suffix == "", map_size=1 << 20) as database:
            with database.begin(write=True) as transaction:
                for key, value in reversed(RECORDS):
                    transaction.put(key, value)
    return [str(path) for path in paths]


def _all(session: Any, element: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(tuple(session.run(element)))
        except tf.errors.OutOfRangeError:
            return found


def test_records_of_one_database_after_the_other(databases: list[str]) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        dataset = tf.contrib.data.LMDBDataset(databases)
        # As TensorFlow 1.15's, as are the records.
        assert [(op.name, op.type) for op in graph.get_operations()] == [
            ("filenames", "Const"), ("LMDBDataset", "LMDBDataset"),
        ]  # fmt: skip
        assert dataset.element_spec == (tf.TensorSpec([], tf.string),) * 2
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert _all(session, element) == RECORDS * 2


def test_two_iterators_read_one_database_at_once(databases: list[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = [tf.contrib.data.LMDBDataset(databases[1]) for _ in range(2)]
        element = tf.data.make_one_shot_iterator(tf.data.Dataset.zip(tuple(made))).get_next()
        assert _all(session, element) == [(one, one) for one in RECORDS]


def test_what_is_no_database_is_refused(databases: list[str], tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"x" * 9000)
    for name, words in (("none", "No such file or directory"), ("other", "MDB_INVALID")):
        with tf.Graph().as_default(), tf.Session() as session:
            dataset = tf.contrib.data.LMDBDataset([databases[0], str(tmp_path / name)])
            element = tf.data.make_one_shot_iterator(dataset).get_next()
            for one in RECORDS:
                assert tuple(session.run(element)) == one
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(element)


def test_a_reader(databases: list[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.LMDBReader()
        queue = tf.FIFOQueue(9, [tf.string], [()])
        pair, several = reader.read(queue), reader.read_up_to(queue, 2)
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        session.run(queue.enqueue_many([databases]))
        session.run(queue.close())
        assert [tuple(session.run(pair)) for _ in range(3)] == RECORDS
        assert session.run(counts) == [3, 0]
        assert session.run(several.keys).tolist() == [b"k1", b"k2"]
        assert session.run(several.values).tolist() == [b"v3v3v3"]
        assert session.run(counts) == [6, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(pair)
        with pytest.raises(tf.errors.UnimplementedError):
            session.run(reader.serialize_state())


def test_the_reader_s_nodes() -> None:
    with tf.Graph().as_default() as graph:
        reader = tf.LMDBReader(name="r")
        reader.read(tf.FIFOQueue(9, [tf.string], [()]))
        reader.reset()
        assert reader.reader_ref.dtype.is_ref and not reader.supports_serialize
        assert [(op.name, op.type) for op in graph.get_operations()] == [
            ("r", "LMDBReader"), ("fifo_queue", "FIFOQueueV2"), ("FakeQueue", "FakeQueue"),
            ("ReaderRead", "ReaderRead"), ("ReaderReset", "ReaderReset"),
        ]  # fmt: skip


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(ImportError):
        import_module("lmdb")
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = tf.contrib.data.LMDBDataset("any")
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        with pytest.raises(tf.errors.UnimplementedError, match="LMDBDataset requires lmdb: pip"):
            session.run(element)
        queue = tf.FIFOQueue(1, [tf.string], [()])
        session.run(queue.enqueue("any"))
        record = tf.LMDBReader().read(queue)
        with pytest.raises(tf.errors.UnimplementedError, match="LMDBReader requires lmdb: pip"):
            session.run(record)
