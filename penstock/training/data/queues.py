"""The queues as users see them: classes that make a queue node and the nodes that use it.

A ``QueueBase`` holds nothing but the handle of its queue and what is static about its elements;
the elements are state of a session (``engine/resources/queue.py``).

Source: the queues of TensorFlow 1.15 (names of nodes, checks, what dequeue returns).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.seeds import get_seed
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import gather, join
from penstock.training.data.components import HoldsTuples


def _as_types(types: Any) -> list[dtypes.DType]:
    listed = types if isinstance(types, list | tuple) else [types]
    return [dtypes.as_dtype(t) for t in listed]


def _as_shapes(given: Any, types: Sequence[dtypes.DType]) -> list[shapes.TensorShape]:
    if given is None:
        return [shapes.TensorShape(None)] * len(types)
    one = isinstance(given, shapes.TensorShape) or (
        isinstance(given, list | tuple) and all(isinstance(d, int | None) for d in given)
    )
    # [[]] is one scalar component, while [] and [2] are the one shape of one component.
    listed = [given] if one and len(types) == 1 else list(given)
    made = [shapes.as_shape(s) for s in listed]
    if len(made) != len(types):
        raise ValueError(
            f"queue shapes must have the same length as dtypes: {len(types)} component(s), but"
            f" {len(made)} shape(s)"
        )
    return made


def _as_defined_shapes(given: Any, types: Sequence[dtypes.DType]) -> list[shapes.TensorShape]:
    known = _as_shapes(given, types)
    if given is not None and not all(s.is_fully_defined() for s in known):
        raise ValueError(
            f"All shapes must be fully defined: {known}; a PaddingFIFOQueue takes elements"
            " that vary in size"
        )
    return known


def _as_names(names: Any, types: Sequence[dtypes.DType]) -> list[str] | None:
    if not names:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != len(types):
        raise ValueError(
            f"list of names must have the same length as the list of dtypes: {len(listed)} names"
            f" for {len(types)} component(s)"
        )
    return listed


def _common(one: shapes.TensorShape, two: shapes.TensorShape) -> shapes.TensorShape:
    first, second = one.sizes, two.sizes
    if first is None or second is None or len(first) != len(second):
        return shapes.TensorShape(None)
    return shapes.TensorShape([a if a == b else None for a, b in zip(first, second)])


class QueueBase(HoldsTuples):
    """What all queues share; use one of its subclasses.

    Args:
      dtypes: types of an element's components.
      shapes: their shapes, a list of TensorShape; unknown where nothing is declared.
      names: names of the components, or None; with names, elements are dicts.
      queue_ref: the handle of the queue.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes = _as_types(dtypes)
        self._shapes = _as_shapes(shapes, self._dtypes)
        self._names = _as_names(names, self._dtypes)
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue of that index; an operation on it looks the index up when it runs.

        Args:
          index: an int32 scalar.
          queues: queues of the same component types and names.

        Returns:
          A queue, whose static shapes are what all of them have in common.

        Raises:
          TypeError: not queues, or of different types or names.
          InvalidArgumentError: when it runs, an index out of range.
        """
        if not queues or not isinstance(queues, list | tuple):
            raise TypeError(f"A list of queues expected; found {queues!r}")
        if not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected; found something else in it")
        for what in ("dtypes", "names"):
            found = [getattr(q, what) for q in queues]
            if any(one != found[0] for one in found):
                raise TypeError(f"Queues do not have matching component {what}: {found}")
        first = queues[0]
        chosen = gather.gather(join.stack([q.queue_ref for q in queues]), index)
        alike = [functools.reduce(_common, parts) for parts in zip(*[q.shapes for q in queues])]
        return QueueBase(first.dtypes, alike, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's node."""
        return self._queue_ref.op.name

    # ---- nodes that use the queue ------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """An operation that puts one element in, waiting while the queue is full.

        Args:
          vals: a tensor, a list of tensors, or a dict where the queue has names.

        Raises:
          ValueError: names, number or shapes of the components do not fit the queue.
        """
        with name_scope(name, f"{self._name}_enqueue", self._values(vals)) as scope:
            components = self._components(vals)
            for tensor, shape in zip(components, self._shapes):
                tensor.get_shape().assert_is_compatible_with(shape)
            return make("QueueEnqueueV2", self._queue_ref, components, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """An operation that puts in the slices of each component along its first dim.

        Args:
          vals: as for ``enqueue``, with one more dim in front.

        Raises:
          ValueError: as ``enqueue``, or the components' first dims differ.
        """
        with name_scope(name, f"{self._name}_EnqueueMany", self._values(vals)) as scope:
            components = self._components(vals)
            size = dimension.Dimension(None)
            for tensor, shape in zip(components, self._shapes):
                size = size.merge_with(tensor.get_shape().with_rank_at_least(1)[0])
                tensor.get_shape()[1:].assert_is_compatible_with(shape)
            return make("QueueEnqueueManyV2", self._queue_ref, components, name=scope)

    def dequeue(self, name: str | None = None) -> Any:
        """Takes one element out, waiting while there is none.

        Returns:
          The tensor of a single component, a list of several, a dict where the queue has names;
          for a queue of no component its operation.
        """
        taken = make(
            "QueueDequeueV2",
            self._queue_ref,
            name=name or f"{self._name}_Dequeue",
            component_types=self._dtypes,
        )
        return self._element(taken, [])

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes ``n`` elements out as one batch, waiting until there have been as many.

        Args:
          n: how many; an int32 scalar.

        Returns:
          As ``dequeue``, with a dim of size ``n`` in front.
        """
        return self._dequeue_batch("QueueDequeueManyV2", n, name or f"{self._name}_DequeueMany")

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As ``dequeue_many``, but once the queue is closed, what is left where that is fewer.

        Args:
          n: the most elements; an int32 scalar.

        Returns:
          As ``dequeue_many``, the size of the first dim unknown.
        """
        return self._dequeue_batch("QueueDequeueUpToV2", n, name or f"{self._name}_DequeueUpTo")

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """An operation that closes the queue.

        Enqueues fail from then on with CancelledError; dequeues go on while there are enough
        elements and then fail with OutOfRangeError.

        Args:
          cancel_pending_enqueues: have enqueues that wait for room fail as well.
        """
        return make(
            "QueueCloseV2",
            self._queue_ref,
            name=name or f"{self._name}_Close",
            cancel_pending_enqueues=cancel_pending_enqueues,
        )

    def is_closed(self, name: str | None = None) -> Any:
        """A bool scalar: whether the queue is closed."""
        return make("QueueIsClosedV2", self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Any:
        """An int32 scalar: the number of elements in the queue."""
        return make("QueueSizeV2", self._queue_ref, name=name or f"{self._name}_Size")

    # ---- elements ----------------------------------------------------------------------------

    def _values(self, vals: Any) -> list[Any]:
        if isinstance(vals, list | tuple):
            return list(vals)
        return list(vals.values()) if isinstance(vals, Mapping) else [vals]

    def _components(self, vals: Any) -> list[Tensor]:
        if isinstance(vals, Mapping):
            if self._names is None:
                raise ValueError("queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError(
                    "keys in dictionary to enqueue do not match names of queue."
                    f" Dictionary: {sorted(vals)}, queue: {sorted(self._names)}"
                )
            listed = [vals[n] for n in self._names]
        else:
            if self._names is not None:
                raise ValueError(
                    f"you must enqueue a dictionary in a queue with names; its names: {self._names}"
                )
            listed = list(vals) if isinstance(vals, list | tuple) else [vals]
        if len(listed) != len(self._dtypes):
            raise ValueError(
                f"queue {self._name!r} has {len(self._dtypes)} component(s) an element; found"
                f" {len(listed)}"
            )
        return [
            convert_to_tensor(value, dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(listed, self._dtypes))
        ]

    def _dequeue_batch(self, op_type: str, n: Any, name: str) -> Any:
        with name_scope(name) as scope:
            count = convert_to_tensor(n, dtypes.int32, name="n")
            taken = make(op_type, self._queue_ref, count, name=scope, component_types=self._dtypes)
        # A closed queue may hand out fewer elements than `dequeue_up_to` asks for.
        known = None if "UpTo" in op_type else static.constant_value(count)
        return self._element(taken, [None if known is None else int(known)])

    def _element(self, tensors: Any, outer: list[int | None]) -> Any:
        listed = tensors if isinstance(tensors, list) else [tensors]
        for tensor, shape in zip(listed, self._shapes):
            tensor.set_shape(shapes.TensorShape(outer).concatenate(shape))
        if self._names is not None:
            return dict(zip(self._names, listed))
        return listed[0] if len(listed) == 1 else listed


class FIFOQueue(QueueBase):
    """Elements come out in the order in which they were put in.

    Args:
      capacity: the most elements that it holds; negative: no bound.
      dtypes: types of an element's components.
      shapes: their static shapes; needed by ``dequeue_many``.
      names: names of the components; elements are then dicts.
      shared_name: sessions that share state share the queue under this name.

    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    ...     _ = session.run(queue.enqueue_many([[1, 2, 3]]))
    ...     session.run(queue.dequeue_many(2)).tolist()
    [1, 2]
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types = _as_types(dtypes)
        handle = _queue("FIFOQueueV2", capacity, types, shapes, shared_name, name)
        super().__init__(types, shapes, names, handle)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose batches are padded with zeros along dims of unknown size.

    Args:
      capacity, dtypes, names, shared_name, name: as for ``FIFOQueue``.
      shapes: of each component, with None for dims that vary from element to element.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _as_types(dtypes)
        if not (isinstance(shapes, list | tuple) and len(shapes) == len(types)):
            raise ValueError(
                "When providing partial shapes, a list of shapes must be provided.:"
                f" PaddingFIFOQueue of {len(types)} component(s) was given {shapes!r}"
            )
        if any(_has_no_rank(s) for s in shapes):
            raise ValueError(
                f"All shapes must have a defined rank: {shapes}: PaddingFIFOQueue needs a list with"
                " the shape of each component"
            )
        handle = _queue("PaddingFIFOQueueV2", capacity, types, shapes, shared_name, name)
        super().__init__(types, shapes, names, handle)


class RandomShuffleQueue(QueueBase):
    """Elements come out in random order.

    Args:
      capacity, dtypes, shapes, names, shared_name, name: as for ``FIFOQueue``.
      min_after_dequeue: elements that stay in the queue while it is open, so that what comes out
        is well mixed.
      seed: of the order.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = _as_types(dtypes)
        first, second = get_seed(seed)
        if seed is None and first is not None and shared_name is not None:
            # Every graph that shares the queue must ask for the same order.
            digest = hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()
            second = int(digest[:8], 16) & 0x7FFFFFFF
        handle = _queue(
            "RandomShuffleQueueV2",
            capacity,
            types,
            shapes,
            shared_name,
            name,
            min_after_dequeue=min_after_dequeue,
            seed=first or 0,
            seed2=second or 0,
        )
        super().__init__(types, shapes, names, handle)


class PriorityQueue(QueueBase):
    """The element of the smallest priority comes out first; the priority is its first component.

    Args:
      capacity, names, shared_name, name: as for ``FIFOQueue``.
      types, shapes: of the components after the priority, which is an int64 scalar.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        own = _as_types(types)
        known = _as_shapes(shapes, own)
        handle = _queue("PriorityQueueV2", capacity, own, shapes, shared_name, name)
        super().__init__([dtypes.int64, *own], [[], *known], names, handle)


def _has_no_rank(shape: Any) -> bool:
    unknown = isinstance(shape, shapes.TensorShape) and shape.ndims is None
    return unknown or shape is None or isinstance(shape, int)


def _queue(
    op_type: str,
    capacity: int,
    types: list[dtypes.DType],
    given: Any,
    shared_name: str | None,
    name: str,
    **attrs: Any,
) -> Any:
    declared = []
    if given is not None:
        check = _as_shapes if op_type.startswith("Padding") else _as_defined_shapes
        declared = check(given, types)
    return make(
        op_type,
        component_types=types,
        shapes=declared,
        capacity=capacity,
        shared_name=shared_name or "",
        name=name,
        **attrs,
    )
