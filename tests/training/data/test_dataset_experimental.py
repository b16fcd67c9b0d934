"""``tf.data.experimental`` and ``tf.contrib.data``: what comes out, and file caches, statistics."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.peers import ROOT, TF115, needs
from tests.suite import warm

HERE = Path(__file__).parent
# What TensorFlow 1.15 gives; the long test holds it to that.
EXPECTED: dict[str, Any] = json.loads((HERE / "dataset_experimental.json").read_text())
DIFFERENT = {"dense_rank": "1.15 gives a batch up at its first bad element, we take it whole"}
Dataset = tf.data.Dataset
X = tf.data.experimental


def lines(python: Any, module: str, folder: Path) -> dict[str, Any]:
    begin = warm.run if python == sys.executable else subprocess.run
    run = begin(
        [python, HERE / "dataset_experimental.py", module, str(folder)],
        capture_output=True, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return dict(json.loads(line) for line in run.stdout.splitlines() if line[:2] == '["')


@pytest.mark.long
def test_pipelines(tmp_path: Path) -> None:
    found = lines(sys.executable, "penstock", tmp_path / "files")
    differing = {name for name in EXPECTED if found.get(name) != EXPECTED[name]}
    assert differing == set(DIFFERENT) and set(found) == set(EXPECTED)


@pytest.mark.long
def test_expected_is_what_tensorflow_gives(tmp_path: Path) -> None:
    needs(TF115)
    assert lines(TF115, "tensorflow", tmp_path / "files") == EXPECTED


@pytest.mark.parametrize("initial", [None, [0.25, 0.75]])
def test_rejection_resample_reaches_the_target(initial: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(4)
        numbers = Dataset.range(3000).map(lambda x: tf.cast(tf.not_equal(x % 4, 0), tf.int32))
        even = numbers.apply(X.rejection_resample(lambda kind: kind, [0.5, 0.5], initial, 3))
        element = even.take(1000).batch(2000).make_one_shot_iterator().get_next()
        kinds = session.run(element)[0].tolist()
    # Three standard deviations of a share of 1000, and the estimate's first steps.
    assert abs(Counter(kinds)[0] / len(kinds) - 0.5) < 0.07


def test_next_as_optional() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = Dataset.range(2).make_one_shot_iterator()
        following = X.get_next_as_optional(iterator)
        there = following.has_value()
        assert [bool(session.run(there)) for _ in range(4)] == [True, True, False, False]


def test_statistics() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        aggregator = X.StatsAggregator()
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        measured = Dataset.range(5).apply(X.bytes_produced_stats("b")).apply(X.latency_stats("t"))
        iterator = measured.with_options(options).make_initializable_iterator()
        element, summary = iterator.get_next(), aggregator.get_summary()
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(element)
        latency, size = sorted(
            tf.Summary.FromString(session.run(summary)).value, key=lambda v: v.tag != "t"
        )
        assert (size.tag, size.histo.num, size.histo.sum) == ("b", 3, 24)
        # The limits around 8 are TensorFlow's.
        assert size.histo.bucket_limit[:2] == pytest.approx([7.466637793, 8.213301572])
        assert list(size.histo.bucket) == [0, 3, 0] and latency.histo.num == 3


def test_records_are_written(tmp_path: Path) -> None:
    for kind in ("", "GZIP"):
        path = str(tmp_path / f"records{kind}")
        with tf.Graph().as_default(), tf.Session() as session:
            words = Dataset.from_tensor_slices(["a", "bb", ""])
            session.run(X.TFRecordWriter(path, kind).write(words))
            read = tf.data.TFRecordDataset(path, kind).batch(9).make_one_shot_iterator()
            assert session.run(read.get_next()).tolist() == [b"a", b"bb", b""]


def test_interleaving_in_parallel_is_bounded() -> None:
    lock, running, most = threading.Lock(), [0], [0]

    def work(value: Any) -> Any:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.005)
        with lock:
            running[0] -= 1
        return value

    def inner(x: Any) -> Any:
        return Dataset.range(6).map(lambda y: tf.py_func(work, [y + x * 10], tf.int64))

    with tf.Graph().as_default(), tf.Session() as session:
        serial = Dataset.range(7).interleave(inner, 5, 2).batch(99)
        parallel = Dataset.range(7).interleave(inner, 5, 2, num_parallel_calls=2).batch(99)
        first, second = (d.make_one_shot_iterator().get_next() for d in (serial, parallel))
        wanted = session.run(first).tolist()
        assert most == [1]
        assert session.run(second).tolist() == wanted and most == [2]


CACHED = """
import sys
import penstock as tf
made = tf.data.Dataset.range(4).map(lambda x: tf.py_func(lambda v: v + int(sys.argv[2]), [x],
                                                         tf.int64)).cache(sys.argv[1]).batch(9)
with tf.Session() as session:
    print(session.run(made.make_one_shot_iterator().get_next()).tolist())
"""


@pytest.mark.long
def test_file_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    calls: list[int] = []

    def counted(value: Any) -> Any:
        calls.append(int(value))
        return np.int64(value + 5)

    with tf.Graph().as_default(), tf.Session() as session:
        made = Dataset.range(4).map(lambda x: tf.py_func(counted, [x], tf.int64)).cache(path)
        iterator = made.make_initializable_iterator()
        element = iterator.get_next()
        session.run(iterator.initializer)
        assert [int(session.run(element)) for _ in range(2)] == [5, 6]
        # A pass that was given up leaves no elements behind; the next one begins anew.
        assert [found.name for found in tmp_path.iterdir()] == ["kept_0.lockfile"]
        session.run(iterator.initializer)
        assert [int(session.run(element)) for _ in range(4)] == [5, 6, 7, 8]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        assert calls == [0, 1, 0, 1, 2, 3] and list(tmp_path.iterdir())
        session.run(iterator.initializer)
        assert int(session.run(element)) == 5 and len(calls) == 6
    # Another process takes what is there: its own function would give other numbers.
    run = warm.run(
        [sys.executable, "-c", CACHED, path, "70"], capture_output=True, text=True,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.stdout.strip() == "[5, 6, 7, 8]", run.stderr
