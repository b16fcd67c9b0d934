"""Queue runners in a ``with`` block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph import collecting
from penstock.foundation.graph.keys import GraphKeys
from penstock.training.data.coordinator import Coordinator

_running = threading.local()


class NestedQueueRunnerError(Exception):
    """``QueueRunners`` inside another of the same thread."""


@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Starts the queue runners of the graph, and stops them at the end of a ``with`` block.

    Args:
      session: the session that they run in.

    Raises:
      NestedQueueRunnerError: inside another.
    """
    if getattr(_running, "open", False):
        raise NestedQueueRunnerError("QueueRunners may not be nested.")
    coord = Coordinator()
    threads: list[Any] = []
    _running.open = True
    try:
        for runner in collecting.get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coord, daemon=True, start=True)
        yield
    finally:
        coord.request_stop()
        try:
            coord.join(threads, stop_grace_period_secs=120)
        finally:
            _running.open = False
