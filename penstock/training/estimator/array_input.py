"""``tf.estimator.inputs``: arrays and data frames fed through a queue.

Threads feed rows to a queue, from which the model takes batches; nodes are those of
TensorFlow 1.15's ``enqueue_input``.
"""

from __future__ import annotations

import logging
import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.array.cast import cast
from penstock.ops.array.constant import placeholder
from penstock.ops.math.binary import maximum
from penstock.storage.summary.build import scalar
from penstock.training.data.feeding_queue_runner import FeedingQueueRunner
from penstock.training.data.queue_runner import add_queue_runner
from penstock.training.data.queues import FIFOQueue, RandomShuffleQueue

_log = logging.getLogger("penstock")
_DIRECT = "__direct_np_input__"
_TARGET = "__target_key__"


# ---- rows to a queue -----------------------------------------------------------------------------


class _Rows:
    """Chooses the rows of one batch after the other, over epochs.

    State: the next row and the epochs done.
    """

    def __init__(
        self, length: int, batch_size: int, random_start: bool, num_epochs: int | None
    ) -> None:
        self._length, self._batch_size, self._num_epochs = length, batch_size, num_epochs
        self._next = random.randrange(length) if random_start else 0
        self._left = None if num_epochs is None else num_epochs * length

    def take(self) -> list[int]:
        """Numbers of the next rows.

        Raises:
          tf.errors.OutOfRangeError: all epochs are done.
        """
        count = self._batch_size if self._left is None else min(self._batch_size, self._left)
        if count == 0:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._num_epochs} epochs.")
        rows = [(self._next + i) % self._length for i in range(count)]
        self._next = (self._next + count) % self._length
        if self._left is not None:
            self._left -= count
        return rows


class _InputRunner(FeedingQueueRunner):
    """What feeds the queue of an ``input_fn``; checkpoints' graphs leave it out."""

    def to_proto(self, export_scope: str | None = None) -> Any:
        """None: functions have no message."""
        return None


def _enqueue(
    columns: Sequence[Any],
    take_rows: Callable[[list[int]], list[Any]],
    capacity: int,
    shuffle: bool,
    min_after_dequeue: int | None,
    num_threads: int,
    batch_size: int,
    num_epochs: int | None,
) -> Any:
    """A queue of rows that threads fill.

    Args:
      columns: arrays of one length, the first of the rows' numbers.
      take_rows: gives the columns' values of some rows.
      capacity, shuffle, min_after_dequeue: of the queue.
      num_threads: how many threads fill it.
      batch_size: rows that a thread enqueues at a time.
      num_epochs: of each thread; None is no end.
    """
    with name_scope("enqueue_input"):
        types = [dtypes.as_dtype(column.dtype) for column in columns]
        dims = [column.shape[1:] for column in columns]
        _warn_of_threads(num_threads, shuffle, num_epochs)
        least = 0
        queue: Any
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = RandomShuffleQueue(capacity, least, dtypes=types, shapes=dims)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=dims)
        ops, feeds = [], []
        for _ in range(num_threads):
            fed = [placeholder(dtype) for dtype in types]
            ops.append(queue.enqueue_many(fed))
            rows = _Rows(len(columns[0]), batch_size, shuffle, num_epochs)
            feeds.append(_feed_function(fed, rows, take_rows))
        add_queue_runner(_InputRunner(queue, ops, feed_fns=feeds))
        waiting = maximum(0, queue.size() - least)
        full = cast(waiting, dtypes.float32) * (1.0 / (capacity - least))
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full", full)
    return queue


def _feed_function(
    fed: list[Any], rows: _Rows, take_rows: Callable[[list[int]], list[Any]]
) -> Callable[[], dict[Any, Any]]:
    return lambda: dict(zip(fed, take_rows(rows.take())))


def _warn_of_threads(num_threads: int, shuffle: bool, num_epochs: int | None) -> None:
    if num_threads > 1 and num_epochs is not None:
        _log.warning("num_epochs counts for each of the %d threads that read", num_threads)
    if num_threads > 1 and not shuffle:
        _log.warning("without shuffle, %d threads read the rows in no certain order", num_threads)


def _batch(queue: Any, batch_size: int, num_epochs: int | None) -> list[Any]:
    take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
    found: list[Any] = take(batch_size)[1:]  # all but the row's number
    return found


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as"
            f" True for training); got {shuffle!r}"
        )


# ---- arrays --------------------------------------------------------------------------------------


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An ``input_fn`` that feeds arrays.

    Args:
      x: an array, or a dict of arrays, of the features; rows are examples.
      y: the labels, alike; None for features alone.
      batch_size: rows of a batch; the last of all may have fewer.
      num_epochs: how often all rows are read; None is without end.
      shuffle: whether rows are shuffled; must be said.
      queue_capacity: rows that may wait in the queue.
      num_threads: threads that fill the queue; one keeps the order.

    Returns:
      The function; it returns features, or (features, labels).

    Raises:
      ValueError: ``shuffle`` is not said; when called: arrays are empty or differ in length, or x
        and y have keys in common.
      TypeError: when called: x is something else.

    Example:
      >>> import penstock as tf, numpy as np
      >>> read = tf.estimator.inputs.numpy_input_fn(
      ...     {"x": np.arange(4)}, np.arange(4), batch_size=2, shuffle=False)
      >>> with tf.Graph().as_default():
      ...     features, labels = read()
      ...     with tf.train.MonitoredSession() as sess:
      ...         sess.run([features["x"], labels])
      [array([0, 1]), array([0, 1])]
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        columns = _feature_columns(x)
        names = list(columns)
        targets = _add_targets(columns, y)
        lengths = {column.shape[0] for column in columns.values()}
        if len(lengths) != 1:
            shapes = {name: column.shape for name, column in columns.items()}
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the"
                f" same length. Shapes: {shapes}"
            )
        arrays = list(columns.values())
        queue = _enqueue(
            [np.arange(lengths.pop(), dtype=np.int64), *arrays],
            lambda rows: [rows, *(array[rows] for array in arrays)],
            queue_capacity, bool(shuffle), None, num_threads, batch_size, num_epochs,
        )  # fmt: skip
        values = _batch(queue, batch_size, num_epochs)
        features = dict(zip(names, values))
        if isinstance(x, np.ndarray):
            features = values[0]
        if targets is None:
            return features
        if isinstance(targets, str):
            return features, values[-1]
        return features, dict(zip(targets, values[len(names) :]))

    return input_fn


def _feature_columns(x: Any) -> dict[str, Any]:
    if isinstance(x, Mapping):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {_DIRECT: x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _add_targets(columns: dict[str, Any], y: Any) -> str | list[str] | None:
    """Adds the labels to the columns; the key of one array, or those of a dict."""
    if y is None:
        return None
    if isinstance(y, Mapping):
        if not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        both = set(columns) & set(y)
        if both:
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        columns.update(sorted(y.items()))
        return sorted(y)
    key = _TARGET
    while key in columns:
        key += "_n"
    columns[key] = y
    return key


# ---- data frames ---------------------------------------------------------------------------------


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An ``input_fn`` that feeds the columns of a ``pandas.DataFrame``.

    Args:
      x: the data frame of the features.
      y: labels: a series or data frame with the same index; None for features alone.
      batch_size, num_epochs, shuffle, num_threads: as of ``numpy_input_fn``.
      queue_capacity: rows that may wait in the queue; None has all of ``x`` wait.
      target_column: a name for ``y`` that no column of ``x`` has.

    Returns:
      The function; it returns a dict of features, or (features, labels).

    Raises:
      ValueError: ``shuffle`` is not said, the name is taken, or the indices differ.
      TypeError: ``target_column`` is no string, or ``x`` no data frame.
    """
    if not hasattr(x, "iloc"):
        raise TypeError(f"x must be a pandas.DataFrame; got {type(x).__name__}")
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError(f"target_column must be a string type; found {target_column!r}")
    frame, targets = _with_targets(x.copy(), y, target_column)
    capacity = queue_capacity
    if capacity is None:
        capacity = 4 * len(frame) if shuffle else len(frame)
    names = list(frame.columns)
    columns = [frame.index.values, *(frame[name].values for name in names)]

    def input_fn() -> Any:
        queue = _enqueue(
            columns,
            lambda rows: [column[rows] for column in columns],
            capacity, bool(shuffle), int(max(capacity / 4, 1)), num_threads, batch_size, num_epochs,
        )  # fmt: skip
        features = dict(zip(names, _batch(queue, batch_size, num_epochs)))
        if targets is None:
            return features
        if isinstance(targets, str):
            label = features.pop(targets)
            return features, label
        return features, {name: features.pop(column) for name, column in targets.items()}

    return input_fn


def _with_targets(frame: Any, y: Any, column: str) -> tuple[Any, str | dict[str, str] | None]:
    """The frame with the labels beside the features, and which columns these are."""
    if y is None:
        return frame, None
    if column in frame:
        raise ValueError(
            f"Cannot use name {column} for target column: DataFrame already has a column with that"
            f" name: {frame.columns}"
        )
    if not np.array_equal(frame.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {frame.index}\nIndex for y: {y.index}"
        )
    if not hasattr(y, "columns"):
        frame[column] = y
        return frame, column
    named = {name: f"{name}_{uuid.uuid4()}" if name in frame else name for name in y.columns}
    for name, free in named.items():
        frame[free] = y[name]
    return frame, named
