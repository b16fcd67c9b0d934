"""Steps that look for an element for ever: closing the session and the step's time end them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import PATIENCE, wait_until


def _begun(started: list[int]) -> Callable[[Any], Any]:
    """Says when an element has come by."""

    def mapped(x: Any) -> Any:
        def note(value: np.ndarray) -> np.ndarray:
            started.append(1)
            return value

        made = tf.py_func(note, [x], tf.int64)
        made.set_shape([])
        return made

    return mapped


def _next(dataset: tf.data.Dataset) -> Any:
    return tf.data.make_one_shot_iterator(dataset).get_next()


def _sum(dataset: tf.data.Dataset) -> Any:
    return dataset.reduce(np.int64(0), lambda a, b: a + b)


def _windows(dataset: tf.data.Dataset) -> Any:
    group = tf.data.experimental.group_by_window(lambda x: x % 2, lambda _, d: d.batch(5), 10**9)
    return _next(dataset.apply(group))


_ENDLESS: dict[str, Callable[[tf.data.Dataset], Any]] = {
    "reduce": _sum,
    "filter": lambda d: _next(d.filter(lambda x: x > 5)),
    "skip": lambda d: _next(d.skip(10**12)),
    "flat_map": lambda d: _next(d.flat_map(lambda _: tf.data.Dataset.range(0))),
    "interleave": lambda d: _next(d.interleave(lambda _: tf.data.Dataset.range(0), 2)),
    "shuffle": lambda d: _next(d.shuffle(10**9)),
    "batch": lambda d: _next(d.filter(lambda x: x < 0).batch(3)),
    "unique": lambda d: _next(d.apply(tf.data.experimental.unique()).skip(5)),
    "group_by_window": _windows,
    "prefetch": lambda d: _next(d.filter(lambda x: x < 0).prefetch(2)),
    "ahead": lambda d: _next(d.map(lambda x: x, num_parallel_calls=2).filter(lambda x: x < 0)),
}


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("kind", _ENDLESS)
def test_closing_the_session_ends_it(kind: str, counted: bool) -> None:
    started: list[int] = []
    with tf.Graph().as_default():
        numbers = tf.data.Dataset.range(10**15) if counted else tf.data.Dataset.range(3).repeat()
        if counted and kind in ("filter", "batch", "unique", "prefetch", "ahead"):
            numbers = numbers.map(lambda x: -x if kind == "filter" else x % 3)
        fetched = _ENDLESS[kind](numbers.map(_begun(started)))
        session = tf.Session()
        ended: list[Exception] = []

        def run() -> None:
            try:
                session.run(fetched)
            except Exception as error:
                ended.append(error)

        step = threading.Thread(target=run, daemon=True)
        step.start()
        wait_until(lambda: len(started) > 3)
        session.close()
        step.join(PATIENCE)
        assert not step.is_alive()
        (error,) = ended
        assert isinstance(error, tf.errors.CancelledError)


@pytest.mark.parametrize("kind", ["reduce", "filter", "skip", "shuffle"])
def test_the_time_of_the_step_ends_it(kind: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fetched = _ENDLESS[kind](tf.data.Dataset.range(3).repeat())
        options = tf.RunOptions(timeout_in_ms=200)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(fetched, options=options)
        assert session.run(tf.constant(3)) == 3
