"""Lookup tables over several steps: programs against TensorFlow, files of checkpoints both ways."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.peers import TF115, needs
from tests.training.data import lookup_programs

LOOKUP = tf.contrib.lookup


@pytest.mark.long
def test_programs_give_what_they_give_in_tensorflow(tmp_path: Path) -> None:
    needs(TF115)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [str(TF115), lookup_programs.__file__, str(theirs)],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    expected = json.loads(done.stdout.splitlines()[-1])
    found = json.loads(json.dumps(lookup_programs.results(tf, str(tmp_path))))
    for name, wanted in expected.items():
        assert found[name] == wanted, name
    # What TensorFlow saved is restored here.
    with tf.Graph().as_default(), tf.Session() as session:
        table = LOOKUP.MutableHashTable(tf.string, tf.int64, -1)
        tf.train.Saver().restore(session, str(theirs / "mutable"))
        assert session.run(table.lookup(["a", "b", "c"])).tolist() == [3, 2, 7]
    with tf.Graph().as_default(), tf.Session() as session:
        dense = LOOKUP.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -1)
        tf.train.Saver().restore(session, str(theirs / "dense"))
        assert session.run(dense.lookup([1, 9, 17, 3])).tolist() == [10, 90, 170, 30]


def test_programs_run(tmp_path: Path) -> None:
    found = lookup_programs.results(tf, str(tmp_path))
    assert found["static"] == [
        [0],
        [[[1, -1], [2, -1]], [[[0, 0], [1, 2]], [2, -1], [2, 3]]],
        [["a", 1], ["b", 2]],
    ]
    assert found["in_datasets"][0][0] == 1
    assert found["mutable"][-1] == [["a", 3], ["b", 2], ["c", 7]]


def _mutable(session: Any, count: int) -> Any:
    table = LOOKUP.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    keys = np.arange(count)
    session.run(table.insert(keys, np.stack([keys, -keys], 1).astype(np.float32)))
    return table


def test_rows_of_removed_keys_are_used_again() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = _mutable(session, 100)
        session.run(table.remove(np.arange(0, 100, 2)))
        keys = np.arange(200, 230)
        session.run(table.insert(keys, np.ones((30, 2), np.float32)))
        assert session.run(table.size()) == 80
        assert session.run(table.lookup([1, 2, 201, 99])).tolist() == [
            [1, -1], [0, 0], [1, 1], [99, -99],
        ]  # fmt: skip


def test_steps_at_the_same_time_lose_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = LOOKUP.MutableHashTable(tf.int64, tf.int64, -1)
        keys = tf.placeholder(tf.int64, [None])
        insert, size = table.insert(keys, keys), table.size()

        def work(first: int) -> None:
            for start in range(first, first + 1000, 50):
                session.run(insert, {keys: np.arange(start, start + 50)})

        threads = [threading.Thread(target=work, args=(n * 1000,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(size) == 4000
        every = np.arange(4000)
        assert session.run(table.lookup(every)).tolist() == every.tolist()


def test_tables_of_one_name_must_be_of_one_type() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        start = LOOKUP.KeyValueTensorInitializer(["a"], [1])
        other = LOOKUP.KeyValueTensorInitializer([1], ["a"])
        tables = LOOKUP.HashTable(start, -1, "one"), LOOKUP.HashTable(other, "", "one", "again")
        session.run(tables[0].init)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Conflicting key/value dtypes"):
            session.run(tables[1].init)


def test_a_table_that_nothing_filled_names_what_to_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = LOOKUP.index_table_from_tensor(["a"])
        with pytest.raises(tf.errors.FailedPreconditionError, match="tables_initializer"):
            session.run(table.lookup(tf.constant(["a"])))


def test_keys_of_another_type_are_refused_early() -> None:
    with tf.Graph().as_default():
        table = LOOKUP.index_table_from_tensor(["a"])
        with pytest.raises(TypeError, match="Keys must be dtype"):
            table.lookup(tf.constant([1]))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: LOOKUP.index_table_from_file(""), ValueError),
        (lambda: LOOKUP.index_table_from_file("x", vocab_size=0), ValueError),
        (lambda: LOOKUP.index_table_from_file("x", num_oov_buckets=-1), ValueError),
        (lambda: LOOKUP.index_table_from_file("x", key_dtype=tf.float32), TypeError),
        (lambda: LOOKUP.index_table_from_tensor(None), ValueError),
        (lambda: LOOKUP.index_table_from_tensor(["a"], dtype=tf.int64), ValueError),
        (lambda: LOOKUP.IdTableWithHashBuckets(None, 0), ValueError),
        (lambda: LOOKUP.IdTableWithHashBuckets(None, 2, hasher_spec=3), TypeError),
        (lambda: LOOKUP.StrongHashSpec([1]), ValueError),
        (lambda: LOOKUP.StrongHashSpec(["a", 2]), TypeError),
        (lambda: LOOKUP.TextFileInitializer("x", tf.int64, -3, tf.int64, -1), ValueError),
        (lambda: LOOKUP.TextFileInitializer("x", tf.string, -1, tf.int64, -1), ValueError),
        (lambda: tf.lookup.StaticVocabularyTable(None, 0), ValueError),
    ],
)
def test_wrong_arguments_are_refused(make: Any, error: type[Exception]) -> None:
    with tf.Graph().as_default(), pytest.raises(error):
        make()


def test_the_dense_table_under_its_newer_name() -> None:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    assert isinstance(table, LOOKUP.MutableDenseHashTable)
    keys = np.array([3, 4, 5], np.int64)
    with tf.Session() as session:
        session.run(table.insert_or_assign(keys, keys * 10))
        session.run(table.erase(keys[1:2]))
        assert session.run(table.lookup(keys)).tolist() == [30, -1, 50]
