"""``Sequence``, and what reads it or a generator ahead, in threads.

State of an enqueuer: its threads, and the batches that are ready, in order.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Iterator
from typing import Any

_END = object()


class Sequence:
    """Batches by number: a subclass gives ``__getitem__`` and ``__len__``.

    Example:
      >>> import penstock as tf
      >>> class Squares(tf.keras.utils.Sequence):
      ...     def __len__(self):
      ...         return 3
      ...     def __getitem__(self, index):
      ...         return index * index
      >>> list(Squares())
      [0, 1, 4]
    """

    def __getitem__(self, index: int) -> Any:
        """The batch of that number."""
        raise NotImplementedError

    def __len__(self) -> int:
        """How many batches there are."""
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Called after each pass."""

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self[index]


class SequenceEnqueuer:
    """Base of what reads ahead.

    Args:
      sequence: what is read.
      use_multiprocessing: accepted; threads read, since batches would have to be copied between
        processes.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self._ready: queue.Queue[Any] = queue.Queue()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Whether it reads."""
        return self._thread is not None and not self._stopped.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begins to read.

        Args:
          workers: accepted; one thread reads, so that batches come in order.
          max_queue_size: how many batches it is ahead at most.
        """
        self._stopped = threading.Event()
        self._ready = queue.Queue(max(1, max_queue_size))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stops reading; waits ``timeout`` seconds for the thread, or until it has ended."""
        self._stopped.set()
        while self._thread is not None and self._thread.is_alive():
            try:
                self._ready.get_nowait()  # it may wait for a place
            except queue.Empty:
                self._thread.join(0.01 if timeout is None else timeout)
                if timeout is not None:
                    break
        self._thread = None

    def get(self) -> Iterator[Any]:
        """The batches.

        Raises:
          Whatever reading one has raised.
        """
        while self.is_running():
            kind, value = self._ready.get()
            if kind is _END:
                self._stopped.set()
                if value is not None:
                    raise value
                return
            yield value

    def _read(self) -> None:
        error: BaseException | None = None
        try:
            for batch in self._batches():
                if not self._put(("batch", batch)):
                    return
        except Exception as raised:
            error = raised
        self._put((_END, error))

    def _put(self, item: Any) -> bool:
        while not self._stopped.is_set():
            try:
                self._ready.put(item, timeout=0.05)
            except queue.Full:
                continue
            return True
        return False

    def _batches(self) -> Iterator[Any]:
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """Reads a ``Sequence`` ahead, pass after pass.

    Args:
      sequence, use_multiprocessing: as of the base.
      shuffle: whether each pass has a new order.
    """

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _batches(self) -> Iterator[Any]:
        while True:
            order = list(range(len(self.sequence)))
            if self.shuffle:
                random.shuffle(order)
            for index in order:
                yield self.sequence[index]
            self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Reads a generator ahead.

    Args:
      sequence, use_multiprocessing: as of the base.
      random_seed: accepted; the one thread draws the program's random numbers.
    """

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, random_seed: int | None = None
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _batches(self) -> Iterator[Any]:
        return iter(self.sequence)


def terminate_keras_multiprocessing_pools(
    grace_period: float = 0.1, use_sigkill: bool = False
) -> list[str]:
    """Ends the processes that make batches, of which there are none here: threads make them.

    Args:
      grace_period, use_sigkill: how long processes have to end, and whether they are killed then.

    Returns:
      What went wrong: nothing.

    Example:
      >>> import penstock as tf
      >>> tf.keras.experimental.terminate_keras_multiprocessing_pools()
      []
    """
    return []
