"""Batches of examples that are alike: one queue a bucket, and one of the batches.

The nodes, queues and runners are those of TensorFlow 1.15: ``bucket_queue_0`` and so on collect
examples; a runner moves whole batches of them into ``top_queue``, from which a step takes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.library.control_flow.cond import cond, smart_cond
from penstock.library.ragged_tensors.dispatched import (
    cast,
    equal,
    less,
    less_equal,
    logical_and,
    reduce_min,
    where,
)
from penstock.ops.array.constant import constant
from penstock.ops.array.static_values import get_static_value
from penstock.ops.control.control import group, no_op
from penstock.storage.summary.build import scalar
from penstock.training.data import batching, sparse_queues
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue, PaddingFIFOQueue


def _per_bucket(batch_size: Any, num_buckets: int) -> list[Any]:
    if not isinstance(batch_size, list | tuple):
        return [batch_size] * num_buckets
    if len(batch_size) != num_buckets:
        raise ValueError(
            "If batch_size is a list it must have num_buckets elements; found"
            f" {len(batch_size)} for {num_buckets}"
        )
    return list(batch_size)


def _static(size: Any) -> Any:
    """A batch size as int where it is known, else as a tensor."""
    tensor = convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
    value = get_static_value(tensor)
    return tensor if value is None else int(value)


def _like(tensors: Any, parts: list[Any]) -> Any:
    if isinstance(tensors, dict):
        return dict(zip(sorted(tensors), parts, strict=True))
    return parts


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of examples of one bucket each.

    Args:
      tensors: list or dict of tensors: one example.
      which_bucket: int32 scalar: where it belongs.
      batch_size: examples of a batch, or a list of one number a bucket.
      num_buckets: the number of buckets.
      num_threads: threads that enqueue examples.
      capacity: of the queue of batches, and of each bucket's.
      bucket_capacities: capacity of each bucket's queue.
      shapes: of an example's tensors; default is what is statically known.
      dynamic_pad: pad dims of unknown size with zeros to the largest of a batch.
      allow_smaller_final_batch: give out what is left at the end, where that is fewer.
      keep_input: bool scalar: whether the example counts.
      shared_name: sessions that share state share the queues under this name.
      name: name scope.

    Returns:
      The bucket, and a list or dict of tensors with a dim in front; a tensor in place of a list of
      one.

    Raises:
      ValueError: lists of other lengths than ``num_buckets``, no tensors, unknown ranks.
    """
    sizes = _per_bucket(batch_size, num_buckets)
    one_size = not isinstance(batch_size, list | tuple)
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({capacities}) must have exactly num_buckets"
            f" ({num_buckets}) elements."
        )
    given = batching.listed_tensors(tensors)
    with name_scope(name, "bucket", given):
        keep = batching.keep_condition(keep_input, enqueue_many=False)
        lists, known = batching.stored_tensors([given], False, keep, "bucket")
        values = lists[0]
        sizes = [_static(size) for size in sizes]
        types = batching.types_of(lists)
        element_shapes = batching.element_shapes_of(lists, shapes, False)
        place = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        make_queue = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [
            make_queue(
                capacity=capacities[i],
                dtypes=types,
                shapes=element_shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        fixed = one_size and not allow_smaller_final_batch and isinstance(sizes[-1], int)
        rows = TensorShape([sizes[-1] if fixed else None])
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[TensorShape([]), *(rows.concatenate(s) for s in queues[0].shapes)],
            shared_name=shared_name,
            name="top_queue",
        )
        enqueue = _enqueue_op(keep, place, queues, values)
        moves = _moves(queues, top, sizes, allow_smaller_final_batch)
        _add_runners(queues, top, moves, [enqueue] * num_threads)
        _summarize(queues, top, capacity)
        taken = top.dequeue(name="dequeue_top")
        parts = sparse_queues.restored(taken[1:], known)
    if len(parts) == 1 and not isinstance(tensors, dict):
        return taken[0], parts[0]
    return taken[0], _like(tensors, parts)


def _enqueue_op(keep: Any, place: Any, queues: list[Any], values: list[Any]) -> Any:
    def enqueue_where() -> Any:
        ops = [
            cond(equal(place, i), lambda q=q: q.enqueue(values), no_op)  # type: ignore[misc]
            for i, q in enumerate(queues)
        ]
        return group(*ops, name="group_enqueues")

    return smart_cond(keep, enqueue_where, no_op)


def _moves(queues: list[Any], top: Any, sizes: list[Any], smaller: bool) -> list[Any]:
    """For each bucket, the op that moves a batch into the queue of batches."""
    made = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        bucket_number = constant(i)
        dequeue = queue.dequeue_up_to if smaller else queue.dequeue_many
        taken = dequeue(size, name=f"read_bucket_{i}")
        parts = list(taken) if isinstance(taken, list | tuple) else [taken]
        made.append(top.enqueue([bucket_number, *parts], name=f"enqueue_from_bucket_{i}"))
    return made


def _add_runners(queues: list[Any], top: Any, moves: list[Any], enqueues: list[Any]) -> None:
    ends = (errors.OutOfRangeError, errors.CancelledError)
    add_queue_runner(
        QueueRunner(
            queues[0],
            moves,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=ends,
        )
    )
    add_queue_runner(
        QueueRunner(
            top,
            enqueues,
            close_op=group(*[q.close() for q in queues]),
            cancel_op=group(*[q.close(cancel_pending_enqueues=True) for q in queues]),
            queue_closed_exception_types=ends,
        )
    )


def _summarize(queues: list[Any], top: Any, capacity: int) -> None:
    for queue in queues:
        scalar(f"bucket/{queue.name}/size", cast(top.size(), dtypes.float32))
    full: Any = cast(top.size(), dtypes.float32)
    scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full * (1.0 / capacity))


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of examples of about one length; other arguments as ``bucket``.

    Args:
      input_length: int32 scalar: the example's length.
      bucket_boundaries: increasing lengths; each begins a bucket.

    Returns:
      [batch] lengths, and a list or dict of tensors with a dim in front.

    Raises:
      TypeError: boundaries that are no ints or no list.
      ValueError: no boundaries, or ones that do not increase.
    """
    given = batching.listed_tensors(tensors)
    _check_boundaries(bucket_boundaries)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *given]):
        length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        least = [limits.min, *bucket_boundaries]
        end = [*bucket_boundaries, limits.max]
        within = logical_and(less_equal(least, length), less(length, end))
        place = cast(reduce_min(where(within)), dtypes.int32)
        _, parts = bucket(
            tensors=[length, *given],
            which_bucket=place,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return parts[0], _like(tensors, parts[1:])


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, list | tuple):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for one, following in zip(boundaries[:-1], boundaries[1:]):
        if not isinstance(one, int) or not isinstance(following, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {one} and {following}")
        if one >= following:
            raise ValueError(
                "Buckets must contain sequential increasing lengths, but saw:"
                f" {one} before {following}"
            )
