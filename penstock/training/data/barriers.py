"""Barriers as users see them: a class that makes a barrier node and the nodes that use it.

The elements are state of a session (``engine/resources/barrier.py``).

Source: the barrier of TensorFlow 1.15 (names of nodes, static shapes).
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.training.data.queues import _as_shapes, _as_types


class Barrier:
    """Elements with keys, put together component by component and taken out when whole.

    Args:
      types: types of an element's components.
      shapes: their shapes, wholly known; None where nothing is declared.
      shared_name: sessions that share state share the barrier under this name.

    Raises:
      ValueError: a shape without elements.
    """

    def __init__(
        self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"
    ) -> None:
        self._types = _as_types(types)
        self._shapes = _as_shapes(shapes, self._types)
        for i, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(
                    f"empty tensors are not supported; component {i} has shape {shape}"
                )
        self._barrier_ref: Tensor = make(
            "Barrier",
            component_types=self._types,
            shapes=self._shapes,
            shared_name=shared_name or "",
            name=name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        """The handle of the barrier."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's node."""
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: Any, values: Any, name: str | None = None
    ) -> Any:
        """An operation that sets one component of the elements of these keys.

        Args:
          component_index: which component.
          keys: string vector [n].
          values: [n, ...]; the row for each key.
        """
        return make(
            "BarrierInsertMany",
            self._barrier_ref,
            keys,
            values,
            name=name or f"{self._name}_BarrierInsertMany",
            component_index=component_index,
        )

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Takes whole elements out, those whose keys came first first; waits for them.

        Args:
          num_elements: how many; an int32 scalar.
          allow_small_batch: of a closed barrier, take what is whole if that is anything.
          timeout: milliseconds; only None (no limit) is supported when it runs.

        Returns:
          A namedtuple: ``indices`` int64 [n], the number of the insertion that first named the
          key, from -2^63; ``keys`` [n]; ``values``, a list of batches, one a component.
        """
        taken = make(
            "BarrierTakeMany",
            self._barrier_ref,
            num_elements,
            name=name or f"{self._name}_BarrierTakeMany",
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
        )
        op = taken[0].op
        count = None if allow_small_batch else static.constant_value(op.inputs[1])
        batch = shapes.TensorShape([None if count is None else int(count)])
        op.outputs[0].set_shape(batch)
        op.outputs[1].set_shape(batch)
        for output, shape in zip(op.outputs[2:], self._shapes):
            output.set_shape(batch.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An operation that closes the barrier: no new keys from then on.

        Elements that are incomplete may still be completed, and takes go on while there can be
        enough elements; those that cannot get theirs fail with OutOfRangeError.

        Args:
          cancel_pending_enqueues: drop incomplete elements, too.
        """
        return make(
            "BarrierClose",
            self._barrier_ref,
            name=name or f"{self._name}_BarrierClose",
            cancel_pending_enqueues=cancel_pending_enqueues,
        )

    def ready_size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of whole elements."""
        return make(
            "BarrierReadySize", self._barrier_ref, name=name or f"{self._name}_BarrierReadySize"
        )

    def incomplete_size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of elements that lack components."""
        return make(
            "BarrierIncompleteSize",
            self._barrier_ref,
            name=name or f"{self._name}_BarrierIncompleteSize",
        )
