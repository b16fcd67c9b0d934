"""Whether nodes that write summaries do so, and by which writer: a choice of each thread.

State: of a thread, the condition and the writer.  A condition is a bool, a tensor, or a function
that gives one, which is called for each summary.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.scopes import device
from penstock.library.variables.global_step import get_or_create_global_step
from penstock.ops.math import comparison


class _Choice(threading.local):
    def __init__(self) -> None:
        self.condition: Any = None
        self.writer: Any = None


_chosen = _Choice()


def default_writer() -> Any:
    """The writer of this thread, or None."""
    return _chosen.writer


def set_default_writer(writer: Any) -> None:
    """Makes a writer, or None, that of this thread."""
    _chosen.writer = writer


def should_record_summaries() -> Any:
    """A bool tensor: whether summaries are written; they are not where nothing was said.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.contrib.summary.always_record_summaries():
      ...     tf.contrib.summary.should_record_summaries().dtype.name
      'bool'
    """
    condition = _chosen.condition
    if callable(condition):
        condition = condition()
    # The first of the two is what a replica says in TensorFlow: all of them write here.
    return comparison.logical_and(True, False if condition is None else condition)


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Has summaries written under a condition, inside ``with``.

    Args:
      condition: a bool, a bool scalar tensor, or a function that gives one.
    """
    before, _chosen.condition = _chosen.condition, condition
    try:
        yield
    finally:
        _chosen.condition = before


def always_record_summaries() -> Any:
    """Has summaries written, inside ``with``."""
    return record_if(True)


def never_record_summaries() -> Any:
    """Has no summaries written, inside ``with``."""
    return record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """Has summaries written in every n-th step, inside ``with``.

    Args:
      n: steps between two.
      global_step: an integer scalar; default the global step, which is made if there is none.
    """
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):

        def due() -> Any:
            return comparison.equal(step % n, 0)

        return record_if(due if executing_eagerly() else due())
