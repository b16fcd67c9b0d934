"""Conditional accumulators: sums of gradients that drop what was computed too long ago.

An accumulator has a step.  A gradient of an earlier local step is *stale* and silently dropped;
others are added.  Taking waits until enough gradients have been added, gives their mean or sum,
begins anew at zero and moves the step by one.  Takes are served in the order in which they came.

A sparse accumulator adds rows by their index, and the mean of a row is over the gradients that had
that row.  The two lists of indices are merged as if they were sorted, which is TensorFlow's result
for lists that are not.

State: the sum (rows: indices, values and how often each was added), the number of gradients in it,
the step, the line of takes that wait, one lock.

Source: the conditional accumulators of TensorFlow 1.15 (order of checks, staleness, the merge).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Any

import numpy as np
import torch

from penstock.engine.resources import blocking
from penstock.foundation.base import errors
from penstock.foundation.base.mismatch import show

Dims = tuple[int | None, ...] | None
Rows = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class _Take:
    __slots__ = ("required", "waiter", "result", "done")

    def __init__(self, required: int) -> None:
        self.required = required
        self.waiter: blocking.Waiter | None = None
        self.result: Any = None
        self.done = False


class Accumulator:
    """What dense and sparse accumulators share.

    Args:
      name: for messages.
      dtype: torch dtype of the gradients.
      dims: their static dims; None where they are not declared.
      mean: whether the mean is taken, or the sum.
    """

    def __init__(self, name: str, dtype: torch.dtype, dims: Dims, mean: bool) -> None:
        self.name, self.dtype, self.dims, self.mean = name, dtype, dims, mean
        self._lock = threading.Lock()
        self._takes: deque[_Take] = deque()
        self._count = 0
        self._step = 0

    @property
    def count(self) -> int:
        """The number of gradients added since the last take."""
        return self._count

    def set_global_step(self, step: int) -> None:
        """Sets the step; warns when that goes backwards."""
        with self._lock:
            if step < self._step:
                logging.getLogger("penstock").warning(
                    "%s: attempt to set the global step to %d, which is before %d",
                    self._named(), step, self._step,
                )  # fmt: skip
            self._step = step

    def take(self, required: int) -> Any:
        """The mean or sum, as soon as ``required`` gradients have been added.

        Raises:
          tf.errors.InvalidArgumentError: ``required`` is not positive.
        """
        if required <= 0:
            raise errors.invalid(
                f"{self._named()}: argument num_required must be positive, but was {required}"
            )
        take = _Take(required)
        with self._lock:
            self._takes.append(take)
            self._serve()
            if not take.done:
                take.waiter = blocking.Waiter()
        if take.waiter is not None:
            blocking.wait(take.waiter, lambda: self._withdraw(take), lambda: self._told(required))
        return take.result

    # ---- under the lock ----------------------------------------------------------------------

    def _fresh(self, local_step: int) -> bool:
        return local_step >= self._step

    def _added(self) -> None:
        self._count += 1
        self._serve()

    def _serve(self) -> None:
        while self._takes and self._count >= self._takes[0].required:
            take = self._takes.popleft()
            take.result = self._reduced()
            take.done = True
            self._count = 0
            self._step += 1
            if take.waiter is not None:
                take.waiter.wake()

    def _reduced(self) -> Any:
        raise NotImplementedError

    def _withdraw(self, take: _Take) -> bool:
        with self._lock:
            if take.done:
                return False
            self._takes.remove(take)
            self._serve()
            return True

    def _named(self) -> str:
        return f"accumulator {self.name!r}"

    def _told(self, required: int) -> str:
        return f"{required} gradient(s) in {self._named()}, which has {self._count}"


class DenseAccumulator(Accumulator):
    """Adds tensors of one shape."""

    _sum: torch.Tensor | None = None

    def apply(self, local_step: int, gradient: torch.Tensor) -> None:
        """Adds a gradient, or drops a stale one.

        Raises:
          tf.errors.InvalidArgumentError: its dtype or shape does not fit.
        """
        _check_dtype(self._named(), gradient, self.dtype)
        with self._lock:
            if not self._fresh(local_step):
                return
            wanted = self.dims if self._sum is None else tuple(self._sum.shape)
            if not _fits(tuple(gradient.shape), wanted):
                raise errors.invalid(
                    f"{self._named()}: shape mismatch: expected {show(wanted)}, got"
                    f" {list(gradient.shape)}"
                )
            if self._sum is None:
                self._sum = gradient.clone(memory_format=torch.contiguous_format)
            else:
                self._sum.add_(gradient)
            self._added()

    def _reduced(self) -> torch.Tensor:
        total, self._sum = self._sum, None
        assert total is not None
        return _divided(total, self._count) if self.mean else total


class SparseAccumulator(Accumulator):
    """Adds rows, by index."""

    _rows: Rows | None = None

    def apply(
        self, local_step: int, indices: torch.Tensor, values: torch.Tensor, shape: Dims
    ) -> None:
        """Adds a gradient of rows ``values`` at ``indices``, or drops a stale one.

        Args:
          local_step: the step at which it was computed.
          indices: int64 [n].
          values: [n, ...].
          shape: of the dense gradient; None where it is not known.

        Raises:
          tf.errors.InvalidArgumentError: operands that do not fit each other or the accumulator.
        """
        _check_dtype(self._named(), values, self.dtype)
        with self._lock:
            if not self._fresh(local_step):
                return
            self._check(indices, values, shape)
            ones = torch.ones(len(indices), dtype=torch.int64)
            new = (indices.clone(), values.clone(), ones)
            self._rows = new if self._rows is None else _merged(self._rows, new)
            self._added()

    def _check(self, indices: torch.Tensor, values: torch.Tensor, shape: Dims) -> None:
        if indices.dim() != 1:
            self._refuse(f"indices must be a vector; found shape {list(indices.shape)}")
        if not values.dim():
            self._refuse("values cannot be 0-dimensional")
        if len(values) != len(indices):
            self._refuse(f"expected {len(indices)} rows of values, got {len(values)}")
        own: Dims = self.dims
        if self._rows is not None:
            rest = tuple(self._rows[1].shape[1:])
            own = (own[0] if own else None, *rest)
        if shape is not None:
            self._compare("shape", tuple(shape), self.dims)
        self._compare("values", tuple(values.shape), (None, *own[1:]) if own else None)
        first = own[0] if own else None
        if first is not None and len(indices) and int(indices.max()) >= first:
            at = int((indices >= first).nonzero()[0])
            self._refuse(
                f"index of slice {at} exceeded limits of shape; index is {int(indices[at])},"
                f" the shape has {first} rows"
            )

    def _compare(self, what: str, found: Any, wanted: Dims) -> None:
        if wanted is None:
            return
        if len(found) < len(wanted):  # a declared shape may leave the inner dims open
            self._refuse(f"expected {what} of rank at least {len(wanted)}, got {len(found)}")
        for i, (f, w) in enumerate(zip(found, wanted)):
            if w is not None and f != w:
                self._refuse(f"expected {what} dim {i} to be {w}, got {f}")

    def _refuse(self, why: str) -> None:
        raise errors.invalid(f"{self._named()}: {why}")

    def _reduced(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rows, self._rows = self._rows, None
        assert rows is not None
        indices, values, counts = rows
        if self.mean:
            values = _divided(values, counts.view(-1, *[1] * (values.dim() - 1)))
        # Only the number of rows is what was declared; the rows themselves say the rest.
        count = self.dims[0] if self.dims else None
        dims = (-1 if count is None else count, *values.shape[1:])
        shape = torch.tensor(dims, dtype=torch.int64)
        return indices, values, shape


def _merged(old: Rows, new: Rows) -> Rows:
    """Rows of both, in one pass over both lists; rows that meet are added."""
    first, second = old[0].tolist(), new[0].tolist()
    indices: list[int] = []
    places: tuple[list[int], list[int]] = ([], [])  # of the rows of each list in the result
    i = j = 0
    while i < len(first) or j < len(second):
        from_first = j == len(second) or (i < len(first) and first[i] <= second[j])
        from_second = i == len(first) or (j < len(second) and second[j] <= first[i])
        indices.append(first[i] if from_first else second[j])
        if from_first:
            places[0].append(len(indices) - 1)
            i += 1
        if from_second:
            places[1].append(len(indices) - 1)
            j += 1
    size = len(indices)
    values = old[1].new_zeros((size, *old[1].shape[1:]))
    counts = torch.zeros(size, dtype=torch.int64)
    for place, (_, rows, added) in zip(places, (old, new)):
        at = torch.tensor(place, dtype=torch.int64)
        values.index_add_(0, at, rows)
        counts.index_add_(0, at, added)
    return torch.tensor(indices, dtype=torch.int64), values, counts


def _divided(total: torch.Tensor, count: Any) -> torch.Tensor:
    """``total`` by ``count``; ``total`` is nobody else's."""
    if total.is_floating_point() or total.is_complex():
        return total.div_(count.to(total.dtype) if isinstance(count, torch.Tensor) else count)
    if isinstance(count, torch.Tensor):
        return torch.div(total, count.to(total.dtype), rounding_mode="trunc")
    return torch.from_numpy(np.asarray(total.numpy() // count, total.numpy().dtype))


def _fits(found: tuple[int, ...], dims: Dims) -> bool:
    return dims is None or (
        len(dims) == len(found) and all(d is None or d == f for d, f in zip(dims, found))
    )


def _check_dtype(named: str, gradient: torch.Tensor, dtype: torch.dtype) -> None:
    if gradient.dtype is not dtype:
        raise errors.invalid(
            f"{named} adds {str(dtype).removeprefix('torch.')}; found a gradient of"
            f" {str(gradient.dtype).removeprefix('torch.')}"
        )
