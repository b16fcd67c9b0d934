"""Calls of one function by several steps, gathered into batches that are run once.

A call is a *task*: the tensors that it gives, of one size along their first dim.  Tasks are put in
one batch until it is full or its time is up.  There are no threads for batches: a step that waits
in a batch runs it for all the others when it is the batch's turn, and hands each its rows.

    step A: run(2 rows) ---- waits -------- runs 3 rows, padded to 4 -----> its 2 rows
    step B:      run(1 row) -- waits ------------------------------------> its 1 row

State: the batches that nobody runs yet, in order, of which only the last one is open; how many are
being run; one lock for both.  A step that is withdrawn (deadline, closed session) takes its task
out of a batch that does not run yet; what it gave to one that does is computed for nobody.

Source: the behaviour of op ``BatchFunction`` in TensorFlow 1.15.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors

# Runs the function on a batch: ``(inputs) -> outputs``.
Run = Callable[[list[Any]], Sequence[Any]]
# The seconds by which a batch may outlast the step that runs it for others.
_OTHERS = 1e9


class _Task:
    """What one step gave, and what became of it."""

    __slots__ = ("done", "error", "inputs", "outputs", "size", "waiter")

    def __init__(self, inputs: list[Any], size: int) -> None:
        self.inputs, self.size = inputs, size
        self.waiter = blocking.Waiter()
        self.outputs: list[Any] = []
        self.error: Exception | None = None
        self.done = False


class _Batch:
    """Tasks that are run together."""

    __slots__ = ("closed", "running", "tasks", "until")

    def __init__(self, until: float) -> None:
        self.until = until
        self.tasks: list[_Task] = []
        self.closed = self.running = False

    @property
    def size(self) -> int:
        return sum(task.size for task in self.tasks)

    def ready(self) -> bool:
        return self.closed or time.monotonic() >= self.until


class Batcher:
    """Gathers the calls of one function.

    Args:
      name: for messages.
      threads: how many batches run at once.
      largest: the most rows of a batch.
      seconds: how long a batch waits for further tasks.
      waiting_batches: the most batches that nobody runs yet.
      sizes: what the numbers of rows are padded to, ascending to ``largest``; empty: they are not.

    Raises:
      tf.errors.InvalidArgumentError: a number is out of range.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        largest: int,
        seconds: float,
        waiting_batches: int,
        sizes: Sequence[int] = (),
    ) -> None:
        for what, number in (
            ("num_batch_threads", threads), ("max_batch_size", largest),
            ("max_enqueued_batches", waiting_batches),
        ):  # fmt: skip
            if number < 1:
                raise errors.invalid(f"{what} must be positive; was {number}")
        if seconds < 0:
            raise errors.invalid("batch_timeout_micros must be non-negative")
        if any(a >= b for a, b in zip(sizes, sizes[1:], strict=False)):
            raise errors.invalid(
                f"allowed_batch_sizes entries must be monotonically increasing; found {list(sizes)}"
            )
        if sizes and sizes[-1] != largest:
            raise errors.invalid(
                "final entry in allowed_batch_sizes must equal max_batch_size; found"
                f" {list(sizes)} and {largest}"
            )
        self.name = name
        self._threads, self._largest, self._seconds = threads, largest, seconds
        self._most, self._sizes = waiting_batches, tuple(sizes)
        self._lock = threading.Lock()
        self._batches: deque[_Batch] = deque()
        self._running = 0

    def __call__(self, inputs: list[Any], run: Run) -> list[Any]:
        """Runs a function on a batch in which these inputs are.

        Args:
          inputs: tensors of one size along the first dim.
          run: what runs the whole batch, if this step does it.

        Returns:
          The rows of the outputs that belong to these inputs.

        Raises:
          tf.errors.InvalidArgumentError: inputs that cannot be batched.
          tf.errors.UnavailableError: too many batches wait already.
          tf.errors.FailedPreconditionError: outputs that cannot be taken apart.
        """
        task = _Task(inputs, self._rows(inputs))
        batch = self._put(task)
        try:
            while not task.done:
                if self._take(batch):
                    self._lead(batch, run)
                elif not task.done:
                    self._wait(batch, task)
        except BaseException:  # KeyboardInterrupt: the others must not wait for this step
            self._withdraw(batch, task)
            raise
        if task.error is not None:
            raise task.error
        return task.outputs

    def _rows(self, inputs: list[Any]) -> int:
        if any(not x.ndim for x in inputs):
            raise errors.invalid("Batching input tensors must have at least one dimension")
        rows = [int(x.shape[0]) for x in inputs]
        if len(set(rows)) > 1:
            raise errors.invalid(
                "Batching input tensors supplied in a given op invocation must have equal"
                f" 0th-dimension size; found {rows}"
            )
        if rows[0] > self._largest:
            raise errors.invalid(
                f"Task size {rows[0]} is larger than maximum batch size {self._largest}"
            )
        return rows[0]

    # ---- the line of batches ---------------------------------------------------------------------

    def _put(self, task: _Task) -> _Batch:
        with self._lock:
            last = self._batches[-1] if self._batches else None
            if last is None or last.closed or last.size + task.size > self._largest:
                if len(self._batches) >= self._most:
                    raise errors.UnavailableError(
                        None, None,
                        "The batch scheduling queue to which this task was submitted is full:"
                        f" {len(self._batches)} batches of {self.name!r} wait, which is the most",
                    )  # fmt: skip
                if last is not None:
                    last.closed = True
                last = _Batch(time.monotonic() + self._seconds)
                self._batches.append(last)
            last.tasks.append(task)
            if last.size >= self._largest:
                last.closed = True
            self._serve()
            return last

    def _take(self, batch: _Batch) -> bool:
        """Whether the batch is now the caller's to run."""
        with self._lock:
            if not self._may_begin(batch):
                return False
            self._batches.popleft()
            batch.running = True
            self._running += 1
            self._serve()
            return True

    def _may_begin(self, batch: _Batch) -> bool:
        """Whether it is the batch's turn; holds the lock."""
        if batch.running or self._running >= self._threads or not self._batches:
            return False
        return self._batches[0] is batch and batch.ready()

    def _serve(self) -> None:
        """Wakes a step of the batch whose turn it is; holds the lock."""
        if self._batches and self._running < self._threads and self._batches[0].ready():
            self._batches[0].tasks[0].waiter.wake()

    def _wait(self, batch: _Batch, task: _Task) -> None:
        """Until the task is done, may be run, or the batch's time is up."""
        with self._lock:
            ready = batch.ready()
            # Its time may have come since the caller looked, and nobody else tells.
            if task.done or ready and self._may_begin(batch):
                return
            timed = not (batch.closed or batch.running or ready)
            left = batch.until - time.monotonic() if timed else None
        mine = waiting.seconds_left()
        if left is not None and mine is not None and mine < left:
            left = None
        woken = task.waiter
        try:
            with waiting.running(seconds=None if left is None else max(left, 0.0)):
                blocking.wait(
                    woken,
                    lambda: left is not None or self._withdraw(batch, task),
                    lambda: f"a batch of {self.name!r}",
                )
        except errors.DeadlineExceededError:
            if left is None:
                raise
        except errors.CancelledError:
            if self._withdraw(batch, task):
                raise
        with self._lock:
            task.waiter = blocking.Waiter()
            if task.done or not batch.running:
                self._serve()

    def _withdraw(self, batch: _Batch, task: _Task) -> bool:
        with self._lock:
            if task.done:
                return False
            if task in batch.tasks and not batch.running:
                batch.tasks.remove(task)
                if not batch.tasks:
                    self._batches.remove(batch)
                self._serve()
            return True

    # ---- running one -----------------------------------------------------------------------------

    def _lead(self, batch: _Batch, run: Run) -> None:
        error: Exception | None = None
        try:
            with waiting.extended(_OTHERS):
                self._run(batch.tasks, run)
        except Exception as raised:
            error = raised
        except BaseException:
            message = "the step that ran the batch for others was interrupted"
            error = errors.CancelledError(None, None, message)
            raise
        finally:
            with self._lock:
                self._running -= 1
                for task in batch.tasks:
                    task.error, task.done = error, True
                    task.waiter.wake()
                self._serve()

    def _run(self, tasks: list[_Task], run: Run) -> None:
        sizes = [task.size for task in tasks]
        rows = sum(sizes)
        spare = next((n for n in self._sizes if n >= rows), rows) - rows if rows else 0
        joined = [_joined(parts, spare) for parts in zip(*(t.inputs for t in tasks), strict=True)]
        for output in run(joined):
            if not output.ndim:
                raise _unsplit("Batched output tensor has 0 dimensions")
            if output.shape[0] != rows + spare:
                raise _unsplit(
                    "Batched output tensor's 0th dimension does not equal the sum of the 0th"
                    f" dimension sizes of the input tensors: {output.shape[0]} of {rows + spare}"
                )
            start = 0
            for task in tasks:
                part = output[start : start + task.size]
                task.outputs.append(part.copy() if isinstance(part, np.ndarray) else part.clone())
                start += task.size


def _unsplit(message: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(None, None, message)


def _joined(parts: Sequence[Any], spare: int) -> Any:
    """The parts along the first dim, and so many more rows like the first."""
    shapes = [tuple(p.shape) for p in parts]
    other = next((s for s in shapes if s[1:] != shapes[0][1:]), None)
    if other is not None:
        first, second = (",".join(map(str, s)) for s in (shapes[0], other))
        raise errors.invalid(
            f"Dimensions of inputs should match: shape[0] = [{first}] vs. shape"
            f"[{shapes.index(other)}] = [{second}]"
        )
    filled = next((p for p in parts if p.shape[0]), parts[0])
    pieces = [*parts, *([filled[:1]] * spare)]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(pieces)
    return torch.cat(pieces)
