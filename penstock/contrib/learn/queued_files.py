"""Records of files in batches: a queue of names, readers, a queue of records, one of features.

``read_batch_examples`` gives records as strings, ``read_batch_features`` what is parsed of them;
the keyed ones say where each came from.  Those of a shared queue put the names of files one at a
time into a queue that the tasks of a job share, so that each file is read by one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.formats import gfile
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.variable import Variable
from penstock.ops.array.cast import cast
from penstock.ops.array.gather import gather
from penstock.ops.state.counting import count_up_to
from penstock.ops.state.state_update import assign_add
from penstock.storage.summary.build import scalar
from penstock.training.data.batching import batch_join, shuffle_batch_join
from penstock.training.data.features import parse_example
from penstock.training.data.input import string_input_producer
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue
from penstock.training.data.record_readers import TFRecordReader

_EXAMPLES, _FEATURES = "read_batch_examples", "read_batch_features"


def read_batch_examples(
    file_pattern: Any, batch_size: int, reader: Callable[[], Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1,
    read_batch_size: int = 1, parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None, seed: int | None = None,
) -> Any:  # fmt: skip
    """Records of files, in batches.

    Args:
      file_pattern: a glob, or a list of them.
      batch_size: records of a batch.
      reader: makes a reader: ``tf.TFRecordReader``, say.
      randomize_input: whether files and records come in random order.
      num_epochs: how often each file is read; None for ever.
      queue_capacity: the most records in the queue.
      num_threads: how many readers there are.
      read_batch_size: how many records are read at once.
      parse_fn: is given each record.
      seed: of the order.

    Returns:
      A vector of strings, or what ``parse_fn`` makes, by name where that returns a dict.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
        num_threads, read_batch_size, parse_fn, name, seed,
    )[1]  # fmt: skip


def read_keyed_batch_examples(
    file_pattern: Any, batch_size: int, reader: Callable[[], Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1,
    read_batch_size: int = 1, parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None, seed: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Records of files with their keys, in batches.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
        read_batch_size, parse_fn, seed: as of ``read_batch_examples``.

    Returns:
      The keys, which say file and place, and the records.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    return _keyed(
        _own_queue, file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
        num_threads, read_batch_size, parse_fn, name, seed,
    )  # fmt: skip


def read_keyed_batch_examples_shared_queue(
    file_pattern: Any, batch_size: int, reader: Callable[[], Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1,
    read_batch_size: int = 1, parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None, seed: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Records of files with their keys, in batches; tasks share the queue of files.

    Args:
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
        read_batch_size, parse_fn, seed: as of ``read_batch_examples``.

    Returns:
      The keys, which say file and place, and the records.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    return _keyed(
        _shared_queue, file_pattern, batch_size, reader, randomize_input, num_epochs,
        queue_capacity, num_threads, read_batch_size, parse_fn, name, seed,
    )  # fmt: skip


def read_batch_features(
    file_pattern: Any, batch_size: int, features: Mapping[str, Any], reader: Callable[[], Any],
    randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
    feature_queue_capacity: int = 100, reader_num_threads: int = 1, num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None, name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Features of ``Example`` messages in files, in batches.

    Args:
      features: what is parsed of a message, as of ``tf.parse_example``.
      feature_queue_capacity: the most batches in the queue of features.
      reader_num_threads: how many readers there are.
      num_enqueue_threads: how many threads parse.
      parse_fn: is given each record before it is parsed.
      read_batch_size: how many records are read at once; default a batch's.
      file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity: as of
        ``read_batch_examples``.

    Returns:
      Tensors and sparse tensors by name.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name,
        read_batch_size,
    )[1]  # fmt: skip


def read_batch_record_features(
    file_pattern: Any, batch_size: int, features: Mapping[str, Any], randomize_input: bool = True,
    num_epochs: int | None = None, queue_capacity: int = 10000, reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:  # fmt: skip
    """Features of ``Example`` messages in TFRecord files, in batches.

    Args:
      file_pattern, batch_size, features, randomize_input, num_epochs, queue_capacity,
        reader_num_threads: as of ``read_batch_features``.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    return read_batch_features(
        file_pattern, batch_size, features, TFRecordReader, randomize_input, num_epochs,
        queue_capacity, reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip


def read_keyed_batch_features(
    file_pattern: Any, batch_size: int, features: Mapping[str, Any], reader: Callable[[], Any],
    randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
    reader_num_threads: int = 1, feature_queue_capacity: int = 100, num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None, name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """Features of ``Example`` messages in files with their keys, in batches.

    Args:
      file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn,
        read_batch_size: as of ``read_batch_features``.

    Returns:
      The keys, and tensors and sparse tensors by name.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    with scopes.name_scope(name, _FEATURES, [file_pattern]) as scope:
        keys, records = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
            reader_num_threads, read_batch_size or batch_size, parse_fn, scope,
        )  # fmt: skip
        return _queued(keys, records, features, feature_queue_capacity, num_enqueue_threads)


def read_keyed_batch_features_shared_queue(
    file_pattern: Any, batch_size: int, features: Mapping[str, Any], reader: Callable[[], Any],
    randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
    reader_num_threads: int = 1, feature_queue_capacity: int = 100, num_queue_runners: int = 2,
    parse_fn: Callable[[Any], Any] | None = None, name: str | None = None,
) -> tuple[Any, dict[str, Any]]:  # fmt: skip
    """Features of ``Example`` messages with their keys; tasks share the queue of files.

    Args:
      num_queue_runners: how many threads parse.
      file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads, feature_queue_capacity, parse_fn: as of ``read_batch_features``.

    Returns:
      The keys, and tensors and sparse tensors by name.

    Raises:
      ValueError: no file fits, or a number is not allowed.
    """
    with scopes.name_scope(name, _FEATURES, [file_pattern]) as scope:
        keys, records = read_keyed_batch_examples_shared_queue(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
            reader_num_threads, batch_size, parse_fn, scope,
        )  # fmt: skip
        return _queued(keys, records, features, feature_queue_capacity, num_queue_runners)


# ---- files ---------------------------------------------------------------------------------------


def _files(file_pattern: Any) -> list[str]:
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    found: list[str] = []
    for pattern in patterns:
        there = gfile.Glob(pattern)
        if not there:
            raise ValueError(f"No files match {pattern}.")
        found += there
    return sorted(found)


def _check(
    batch_size: Any, capacity: Any, num_threads: Any, read_batch_size: Any, num_epochs: Any
) -> None:
    if not capacity or capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {capacity}.")
    if batch_size is None or not 0 < batch_size <= capacity:
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {capacity}.")
    if not read_batch_size or read_batch_size <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _own_queue(names: Sequence[str], epochs: Any, shuffled: bool, seed: Any, scope: str) -> Any:
    del scope
    return string_input_producer(
        convert_to_tensor(names, name="input"), epochs, shuffled, seed, name="file_name_queue"
    )


def _shared_queue(names: Sequence[str], epochs: Any, shuffled: bool, seed: Any, scope: str) -> Any:
    """A queue with a name for all tasks, into which the next file's name is put by a counter."""
    del shuffled, seed
    with scopes.name_scope("file_name_queue"):
        queue: Any = FIFOQueue(1, [dtypes.string], [[]], shared_name=scope)
        with scopes.name_scope("obtain_next"):
            counted = [GraphKeys.LOCAL_VARIABLES] if epochs else None
            counter = Variable(
                0, dtype=dtypes.int64, trainable=False, name="obtain_next_counter",
                collections=counted,
            )  # fmt: skip
            if epochs:
                index = count_up_to(counter, len(names) * epochs)
            else:
                index = assign_add(counter, 1, use_locking=True) - 1
            following = gather(convert_to_tensor(names), index % len(names))
        add_queue_runner(QueueRunner(queue, [queue.enqueue(following)]))
        return queue


# ---- records -------------------------------------------------------------------------------------


def _keyed(
    queue_of: Callable[..., Any], file_pattern: Any, batch_size: int, reader: Callable[[], Any],
    shuffled: bool, num_epochs: Any, capacity: int, num_threads: int, read_batch_size: int,
    parse_fn: Any, name: Any, seed: Any,
) -> tuple[Any, Any]:  # fmt: skip
    files = _files(file_pattern)
    _check(batch_size, capacity, num_threads, read_batch_size, num_epochs)
    with scopes.name_scope(name, _EXAMPLES, [file_pattern]) as scope:
        queue = queue_of(files, num_epochs, shuffled, seed, scope)
        with scopes.name_scope("read"):
            read = [_read(reader, queue, read_batch_size, parse_fn) for _ in range(num_threads)]
        several = read_batch_size > 1
        if shuffled:
            least = max(capacity - 3 * batch_size, batch_size)
            join: Any = functools.partial(shuffle_batch_join, min_after_dequeue=least, seed=seed)
        else:
            join = batch_join
        found = join(
            read, batch_size, capacity=capacity, enqueue_many=several, name=scope,
            allow_smaller_final_batch=num_epochs is not None,
        )  # fmt: skip
        if isinstance(found, dict):
            return found.pop(_KEY), found
        return found[0], found[1]


_KEY = "__record_key__"


def _read(reader: Callable[[], Any], queue: Any, count: int, parse_fn: Any) -> Any:
    if count > 1:
        keys, records = reader().read_up_to(queue, count)
    else:
        keys, records = reader().read(queue)
    if parse_fn is not None:
        records = parse_fn(records)
        if isinstance(records, dict):
            return {_KEY: keys, **records}
    return [keys, records]


# ---- features ------------------------------------------------------------------------------------


def _queued(
    keys: Any, records: Any, features: Mapping[str, Any], capacity: int, num_threads: int
) -> tuple[Any, dict[str, Any]]:
    """Keys and features, parsed by threads and taken from a queue."""
    parsed = parse_example(records, dict(features))
    flat: list[Any] = []
    for name in sorted(parsed):
        value = parsed[name]
        sparse = isinstance(value, SparseTensor)
        flat += [value.indices, value.values, value.dense_shape] if sparse else [value]
    flat.append(keys)
    queue = FIFOQueue(capacity, [each.dtype for each in flat])
    scalar(
        f"queue/parsed_features/{queue.name}/fraction_of_{capacity}_full",
        cast(queue.size(), dtypes.float32) * (1.0 / capacity),
    )
    add_queue_runner(QueueRunner(queue, [queue.enqueue(flat) for _ in range(num_threads)]))
    taken = list(queue.dequeue())
    for each, given in zip(taken, flat, strict=True):
        each.set_shape(given.shape)
    found: dict[str, Any] = {}
    place = iter(taken)
    for name in sorted(parsed):
        if isinstance(parsed[name], SparseTensor):
            found[name] = SparseTensor(next(place), next(place), next(place))
        else:
            found[name] = next(place)
    return next(place), found
