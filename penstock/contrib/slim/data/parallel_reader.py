"""Several readers of one list of files, which fill one queue of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes as types
from penstock.foundation.formats import gfile
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.math.addn import add_n
from penstock.training.data.input import fullness, string_input_producer
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue, QueueBase, RandomShuffleQueue
from penstock.training.data.record_readers import ReaderBase

_WANTED = "common_queue.dtypes must be [tf.string, tf.string]"


class ParallelReader(ReaderBase):
    """Readers whose records meet in one queue.

    It has no handle, and so no state to save, restore or reset.

    Args:
      reader_class: makes a reader.
      common_queue: a queue of pairs of strings: key and value of a record.  Which reader's record
        comes next is left to chance.
      num_readers: how many readers there are.
      reader_kwargs: arguments of each.

    Raises:
      TypeError: the queue holds something else.
    """

    def __init__(
        self,
        reader_class: Callable[..., ReaderBase],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        found = common_queue.dtypes
        if len(found) != 2 or any(not t.is_compatible_with(types.string) for t in found):
            raise TypeError(f"{_WANTED}; found {[t.name for t in found]}")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        """The queue of records."""
        return self._common_queue

    def _fill_from(self, queue: Any) -> None:
        """Adds the queue runner in which every reader puts its records into the common queue."""
        filling = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, filling))

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record of any reader.

        Args:
          queue: a queue of file names, or its handle.

        Returns:
          (key, value): two strings.
        """
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next records, at most ``num_records``; the common queue must have shapes.

        Args:
          queue: a queue of file names, or its handle.
          num_records: int32 scalar.

        Returns:
          (keys, values): two string vectors.
        """
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """An int64 scalar: how many records all readers have given out."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """An int64 scalar: how many files all readers have finished."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Callable[..., ReaderBase],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """The records of files, several of which are read at a time.

    Args:
      data_sources: files, or patterns of their names; see ``get_data_files``.
      reader_class: makes a reader.
      num_epochs: how often each file is read; None for ever.  The count is a local variable.
      num_readers: how many readers there are.
      reader_kwargs: arguments of each.
      shuffle: whether files and records come in random order; ``seed`` is the seed of it.
      dtypes: of a record's parts; default two strings, key and value.
      capacity: most records that wait.
      min_after_dequeue: records that stay, for a good order, when they are shuffled.
      scope: of the nodes.

    Returns:
      (key, value): two strings.

    Raises:
      ValueError: there is no such file.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(files, num_epochs, shuffle, seed, name="filenames")
        parts = dtypes or [types.string, types.string]
        queue: QueueBase
        if shuffle:
            queue = RandomShuffleQueue(
                capacity, min_after_dequeue, parts, seed=seed, name="common_queue"
            )
        else:
            queue = FIFOQueue(capacity, parts, name="common_queue")
        fullness(queue.size(), capacity, f"fraction_of_{capacity}_full")
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(
    data_sources: Any,
    reader_class: Callable[..., ReaderBase],
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """The records of files in order, once; then OutOfRangeError.

    Args:
      data_sources, reader_class, reader_kwargs, scope: as for ``parallel_read``.

    Returns:
      (key, value): two string scalars.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Any) -> list[str]:
    """The files of data sources.

    Args:
      data_sources: a name or a pattern with ``*``, ``?`` or ``[``; or a list or tuple of them,
        which may be nested.

    Raises:
      ValueError: a pattern matches no file, or there is no source.
    """
    files: list[str] = []
    if isinstance(data_sources, list | tuple):
        for source in data_sources:
            files += get_data_files(source)
    elif any(sign in data_sources for sign in "*?["):
        files = gfile.Glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
