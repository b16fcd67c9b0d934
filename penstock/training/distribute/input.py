"""Data sets whose elements are shared out among replicas.

One iterator a task; ``get_next`` takes one element of it for all replicas, so an epoch ends for all
of them in the same step.  Of a batch for all replicas, replica r of n gets the r-th of n runs of
rows, the last ones being shorter where the batch does not divide.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import shape as shape_ops, slicing
from penstock.training.distribute.values import PerReplica


class _Elements:
    """What is known of the elements of ``_dataset``, as users ask for it."""

    _dataset: Any

    @property
    def output_types(self) -> Any:
        """Types of the elements."""
        return self._dataset.output_types

    @property
    def output_shapes(self) -> Any:
        """Shapes of the elements, of all replicas together."""
        return self._dataset.output_shapes

    @property
    def output_classes(self) -> Any:
        """Classes of the elements."""
        return self._dataset.output_classes


class DistributedDataset(_Elements):
    """A data set of batches for all replicas.

    Args:
      strategy: says how many replicas there are, and which are of this task.
      dataset: its elements are batches: tensors with the same first dim.

    Raises:
      ValueError: the elements are not batched.
    """

    def __init__(self, strategy: Any, dataset: Any) -> None:
        self._strategy, self._dataset = strategy, dataset
        self._check()

    def _check(self) -> None:
        for spec in nest.flatten(self._dataset.output_shapes):
            if spec.rank == 0:
                raise ValueError(
                    "the data set has scalars as elements; it must be batched, with the batch size"
                    " of all replicas together, to be shared out among replicas"
                )

    def make_one_shot_iterator(self) -> DistributedIterator:
        """An iterator that needs no initialization."""
        return DistributedIterator(self, self._dataset.make_one_shot_iterator())

    def make_initializable_iterator(self, shared_name: str | None = None) -> DistributedIterator:
        """An iterator whose ``initializer`` must run first, and can run again."""
        return DistributedIterator(self, self._dataset.make_initializable_iterator(shared_name))

    def _share(self, iterator: Any) -> Any:
        """What each replica gets of the next element."""
        extended = self._strategy.extended
        devices = extended.worker_devices
        total = self._strategy.num_replicas_in_sync
        batch = iterator.get_next()
        if total == 1:
            return batch
        parts = []
        for i, device in enumerate(devices):
            with scopes.device(device):
                parts.append(
                    nest.map_structure(
                        lambda x, at=extended.first_replica + i: _rows(x, at, total), batch
                    )
                )
        return _per_replica(parts, devices)


class DatasetOfReplicas(DistributedDataset):
    """A data set of this task, of batches for one replica; each element goes to one replica."""

    def _check(self) -> None:
        """Elements are given as they are."""

    def _share(self, iterator: Any) -> Any:
        devices = self._strategy.extended.worker_devices
        if len(devices) == 1:
            return iterator.get_next()
        parts: list[Any] = []
        for device in devices:
            # In order: the first replica gets the first element.
            before = [t for t in nest.flatten(parts) if isinstance(t, Tensor)]
            with scopes.device(device), scopes.control_dependencies(before):
                parts.append(iterator.get_next())
        return _per_replica(parts, devices)


class DistributedIterator(_Elements):
    """Gives each replica its part of the next element.

    Args:
      dataset: the data set.
      iterator: the iterator over all of it.
    """

    def __init__(self, dataset: DistributedDataset, iterator: Any) -> None:
        self._dataset, self._iterator = dataset, iterator

    @property
    def initializer(self) -> Any:
        """The operation that begins (again) at the first element."""
        return self._iterator.initializer

    def initialize(self) -> list[Any]:
        """The operations that begin (again) at the first element."""
        return [self._iterator.initializer]

    def get_next(self, name: str | None = None) -> Any:
        """PerReplica values of the next element (of one replica: the element)."""
        with scopes.control_dependencies(None):
            return self._dataset._share(self._iterator)


def _per_replica(parts: list[Any], devices: Any) -> Any:
    flat = [nest.flatten(part) for part in parts]
    columns = [PerReplica(column, devices) for column in zip(*flat, strict=True)]
    return nest.pack_sequence_as(parts[0], columns)


def _rows(batch: Any, index: int, total: int) -> Any:
    """The rows of ``batch`` that replica ``index`` of ``total`` gets."""
    if not isinstance(batch, Tensor):
        raise TypeError(
            f"batches of tensors can be shared out among replicas; found {type(batch).__name__}:"
            " use experimental_distribute_datasets_from_function"
        )
    known = dimension_value(batch.shape[0]) if batch.shape.rank else None
    if known is not None:
        length = -(-known // total)
        return slicing.getitem(
            batch, slice(min(index * length, known), min((index + 1) * length, known))
        )
    rows = slicing.getitem(shape_ops.shape(batch), 0)
    size = (rows + (total - 1)) // total
    return slicing.getitem(batch, slice(size * index, size * (index + 1)))
