"""Runs of a graph's tensors by name, with variables from a checkpoint or fresh."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.graph.scopes import default_graph_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.listing import (
    global_variables_initializer,
    local_variables_initializer,
)
from penstock.ops.control.control import group
from penstock.storage.checkpoint.saver import Saver
from penstock.training.data.coordinator import Coordinator
from penstock.training.data.lookup_initializers import tables_initializer
from penstock.training.data.queue_runner import start_queue_runners


def run_feeds_iter(
    output_dict: Mapping[str, Any], feed_dicts: Iterable[Any],
    restore_checkpoint_path: str | None = None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The values of tensors, for one feed after another.

    Args:
      output_dict: tensors of one graph by name.
      feed_dicts: what is fed in each run.
      restore_checkpoint_path: a checkpoint of the variables; None initializes them.

    Yields:
      Values by name.

    Raises:
      ValueError: there are no tensors, or no feeds.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    return _runs(output_dict, feed_dicts, restore_checkpoint_path)


def _runs(
    output_dict: Mapping[str, Any], feed_dicts: Iterable[Any], path: str | None
) -> Iterator[dict[str, Any]]:
    first = next(iter(output_dict.values()))
    graph = first.graph if isinstance(first, Tensor) else first.op.graph
    with default_graph_scope(graph):
        if path is None:
            ready = [global_variables_initializer()]
        else:
            ready = []
            saver = Saver()
        ready += [local_variables_initializer(), tables_initializer()]
        start = group(*ready)
        with Session(graph=graph) as session:
            if path is not None:
                saver.restore(session, path)
            session.run(start)
            coordinator = Coordinator()
            threads = start_queue_runners(session, coord=coordinator)
            for feed in feed_dicts:
                yield session.run(dict(output_dict), feed)
            coordinator.request_stop()
            coordinator.join(threads, ignore_live_threads=True)


def run_feeds(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
    """The values of tensors, for one feed after another, as a list.

    Args:
      *args, **kwargs: tensors by name, the feeds, and ``restore_checkpoint_path``.

    Raises:
      ValueError: there are no tensors, or no feeds.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.placeholder(tf.int32, [])
      ...     runs = tf.contrib.learn.run_feeds({"y": x + 1}, [{x: 1}, {x: 4}])
      ...     [int(each["y"]) for each in runs]
      [2, 5]
    """
    return list(run_feeds_iter(*args, **kwargs))


def run_n(
    output_dict: Mapping[str, Any], feed_dict: Any = None,
    restore_checkpoint_path: str | None = None, n: int = 1,
) -> list[dict[str, Any]]:  # fmt: skip
    """The values of tensors of ``n`` runs.

    Args:
      output_dict, restore_checkpoint_path: as of ``run_feeds``.
      feed_dict: what is fed in every run.
      n: number of runs.

    Raises:
      ValueError: there are no tensors.
    """
    feeds = itertools.repeat(feed_dict, n)
    return run_feeds(output_dict, feeds, restore_checkpoint_path)


def infer(
    restore_checkpoint_path: str | None, output_dict: Mapping[str, Any], feed_dict: Any = None
) -> dict[str, Any]:
    """The values of tensors.

    Args:
      restore_checkpoint_path: a checkpoint of the variables; None initializes them.
      output_dict: tensors of one graph by name.
      feed_dict: what is fed.

    Raises:
      ValueError: there are no tensors.
    """
    return run_n(output_dict, feed_dict, restore_checkpoint_path)[0]
