"""Which sessions ``start_queue_runners`` takes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import penstock as tf


def _runner() -> None:
    queue = tf.FIFOQueue(10, tf.int32)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)]))


@pytest.mark.parametrize("kind", ["MonitoredSession", "SingularMonitoredSession"])
def test_monitored_sessions_have_started_theirs(kind: str) -> None:
    _runner()
    with getattr(tf.train, kind)() as session:
        before = threading.active_count()
        assert tf.train.start_queue_runners(session) == []
        assert threading.active_count() == before


@pytest.mark.parametrize("found", ["session", 3, tf.train.Coordinator()])
def test_what_is_no_session_is_refused(found: Any) -> None:
    with pytest.raises(TypeError, match=r"sess must be a `tf\.Session` object. Given class"):
        tf.train.start_queue_runners(found)


def test_without_a_session() -> None:
    _runner()
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with tf.Session():
        assert len(tf.train.start_queue_runners(start=False)) == 1
