"""Positions of iterators: saved with checkpoints, gone on with after a killed process, too."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.resources.dataset import state as states
from tests.suite import warm

ROOT = Path(__file__).parents[3]
D, X = tf.data.Dataset, tf.data.experimental

PIPELINES: dict[str, Callable[[], Any]] = {
    "range": lambda: D.range(9),
    "slices": lambda: D.from_tensor_slices(np.arange(9.0)),
    "strings": lambda: D.from_tensor_slices(list("abcde")).shuffle(3, seed=1).batch(2),
    "shuffle": lambda: D.range(9).shuffle(4, seed=3).repeat(3).batch(2),
    "shuffle_and_repeat": lambda: D.range(9).apply(X.shuffle_and_repeat(4, 3, seed=2)),
    "map": lambda: D.range(9).map(lambda x: x * 2),
    "parallel_map": lambda: D.range(9).map(lambda x: x * 2, num_parallel_calls=3).prefetch(2),
    "prefetch": lambda: D.range(9).prefetch(3).batch(2).prefetch(2),
    "flat_map": lambda: D.range(5).flat_map(lambda x: D.range(x).shuffle(3, seed=1)),
    "interleave": lambda: D.range(1, 6).interleave(lambda x: D.range(x), 3, 2),
    "parallel_interleave": lambda: D.range(1, 6).interleave(
        lambda x: D.range(x), 3, 2, num_parallel_calls=2
    ),
    "generator": lambda: D.from_generator(lambda: iter(range(7)), tf.int64, []),
    "cache": lambda: D.range(5).shuffle(5, seed=4).cache().repeat(3),
    "window": lambda: D.range(9).window(3, 1).flat_map(lambda d: d.batch(3)),
    "windows_held": lambda: (
        D.range(9).window(3, 1).shuffle(4, seed=1).flat_map(lambda d: d.batch(3))
    ),
    "zip": lambda: D.zip((D.range(9).shuffle(3, seed=1), D.range(8))),
    "concatenate": lambda: D.range(4).concatenate(D.range(5)),
    "group": lambda: D.range(10).apply(
        X.group_by_window(lambda x: x % 3, lambda k, d: d.batch(4), window_size=2)
    ),
    "reducer": lambda: D.range(6).apply(
        X.group_by_reducer(
            lambda x: x % 3, X.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s)
        )
    ),
    "scan": lambda: D.range(9).apply(X.scan(np.int64(0), lambda s, x: (s + x, s))),
    "unbatch": lambda: D.range(9).batch(4).unbatch(),
    "sample": lambda: X.sample_from_datasets([D.range(5), D.range(10, 15)], seed=3),
    "parts": lambda: D.range(9).skip(2).take(5).shard(2, 1),
    "filter": lambda: D.range(9).filter(lambda x: x % 2 > 0),
    "unique": lambda: D.from_tensor_slices([1, 2, 1, 3, 2]).apply(X.unique()),
    "take_while": lambda: D.range(9).apply(X.take_while(lambda x: x < 7)),
    "sparse": lambda: D.from_tensor_slices(
        tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [3, 2])
    ).shuffle(3, seed=1),
}


def rest(session: Any, element: Any) -> str:
    found = []
    try:
        while len(found) < 100:
            found.append(session.run(element))
    except tf.errors.OutOfRangeError:
        return repr(found)
    raise AssertionError("no end")


@pytest.mark.parametrize("taken", [0, 1, 4])
@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_goes_on_at_the_next_element(name: str, taken: int, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        iterator = PIPELINES[name]().make_initializable_iterator()
        element = iterator.get_next()
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, X.make_saveable_from_iterator(iterator))
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(iterator.initializer)
            for _ in range(taken):
                try:
                    session.run(element)
                except tf.errors.OutOfRangeError:
                    break
            path = saver.save(session, str(tmp_path / "model"))
            wanted = rest(session, element)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert rest(session, element) == wanted
        with tf.Session() as session:
            saver.restore(session, path)
            with pytest.raises(tf.errors.FailedPreconditionError, match="where the checkpoint"):
                session.run(element)
            session.run(iterator.initializer)
            assert rest(session, element) == wanted
            session.run(iterator.initializer)
            # The second initialization is at the start again.
            if taken and wanted != "[]":
                assert rest(session, element) != wanted


_PROGRAM = """
import os, signal, sys
import penstock as tf
D, X = tf.data.Dataset, tf.data.experimental
path, kill_at = sys.argv[1], int(sys.argv[2])
data = D.range(20).shuffle(7, seed=5).repeat(2).map(lambda x: x * 3, num_parallel_calls=2)
element = data.prefetch(2).make_one_shot_iterator()
tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, X.make_saveable_from_iterator(element))
value = element.get_next()
saver = tf.train.Saver()
with tf.Session() as session:
    if tf.train.latest_checkpoint(path):
        saver.restore(session, tf.train.latest_checkpoint(path))
    count = 0
    while True:
        try:
            print(session.run(value), flush=True)
        except tf.errors.OutOfRangeError:
            break
        saver.save(session, path + "/model", global_step=count, write_meta_graph=False)
        count += 1
        if count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_a_killed_process_resumes_in_mid_epoch(tmp_path: Path) -> None:
    def run(folder: str, kill_at: int) -> tuple[int, list[str]]:
        done = warm.run(
            [sys.executable, "-c", _PROGRAM, str(tmp_path / folder), str(kill_at)],
            capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        return done.returncode, done.stdout.split()

    for folder in ("whole", "parts"):
        os.mkdir(tmp_path / folder)
    code, whole = run("whole", -1)
    assert code == 0
    assert len(whole) == 40
    code, first = run("parts", 13)
    assert code == -signal.SIGKILL
    code, second = run("parts", -1)
    assert code == 0
    assert first + second == whole


def test_bytes_that_are_no_position() -> None:
    with pytest.raises(tf.errors.DataLossError, match="no saved position"):
        states.decode(b"nonsense")


def test_a_position_is_plain_values() -> None:
    import torch

    value = {
        "a": [1, 2.5, None, "text", b"\xff", True],
        "t": torch.arange(3).to(torch.bfloat16),
        "s": np.array([b"x", b"\x00"], object),
    }
    back = states.decode(states.encode(value))
    assert back["a"] == value["a"]
    assert torch.equal(back["t"], value["t"])
    assert back["s"].tolist() == value["s"].tolist()
