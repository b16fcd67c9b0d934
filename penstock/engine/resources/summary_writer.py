"""Writers of summaries that nodes of a graph use: a name, and what is open under it.

A handle names the writer before anything is open.  The node that creates it opens it, unless it is
open already; closing forgets what was open, and creating opens anew.

State: what is open (a *sink*), None before and after.

Source: the ``SummaryWriter`` resource of TensorFlow 1.15.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol


class Sink(Protocol):
    """Where events go."""

    def write(self, event: bytes) -> None:
        """Takes a serialized ``Event``."""

    def flush(self) -> None:
        """Returns when all events are where readers find them."""

    def close(self) -> None:
        """Flushes, and takes no more."""


class SummaryWriter:
    """What a handle stands for.

    Args:
      name: for messages.
      missing: ``missing(words)`` makes the error of a writer that is not open.
    """

    def __init__(self, name: str, missing: Callable[[str], Exception]) -> None:
        self.name = name
        self._missing = missing
        self._sink: Sink | None = None
        self._lock = threading.Lock()

    def open(self, make: Callable[[], Sink]) -> None:
        """Opens what ``make()`` gives, if nothing is open."""
        with self._lock:
            if self._sink is None:
                self._sink = make()

    def write(self, event: bytes) -> None:
        """Writes a serialized ``Event``."""
        with self._lock:
            self._opened().write(event)

    def flush(self) -> None:
        """Flushes what is open."""
        with self._lock:
            self._opened().flush()

    def close(self) -> None:
        """Closes what is open."""
        with self._lock:
            sink = self._opened()
            self._sink = None
            sink.close()

    def _opened(self) -> Sink:
        if self._sink is None:
            raise self._missing(
                f"Resource localhost/{self.name}/SummaryWriter does not exist: run the writer's"
                " initializer first"
                " (tf.contrib.summary.summary_writer_initializer_op()), and not after closing it"
            )
        return self._sink
