"""Batches: queues that collect single examples, or parts of batches, into batches.

The eight public functions are one: a queue of the examples' types, enqueue operations for a runner
(one of several threads, or one of each list of tensors), a summary of how full the queue is, and a
dequeue of ``batch_size`` elements, or fewer at the end.  They differ in the queue (in order,
padded, shuffled) and in where the examples come from.

State of the graph: the runner in QUEUE_RUNNERS, the summary in SUMMARIES.

Source: the batching functions of TensorFlow 1.15 (nodes, names, collections, checks).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import documented_as
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.control_flow.cond import smart_cond
from penstock.ops.array import cast, stitch
from penstock.ops.control import control
from penstock.ops.math.binary import maximum
from penstock.training.data import sparse_queues
from penstock.training.data.input import fullness
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue

# Makes the queue from its capacity, types, shapes and shared name.
_MakeQueue = Callable[..., QueueBase]


# ---- what goes in --------------------------------------------------------------------------------


def listed_tensors(tensors: Any) -> list[Any]:
    """The tensors of one example; those of a dict in the order of its keys."""
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors)


def _all_listed(tensors_list: Any) -> list[list[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(set(t) != set(first) for t in tensors_list[1:]):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [listed_tensors(tensors) for tensors in tensors_list]


def _some(values: list[Any], asker: str) -> list[Any]:
    if not values:
        raise ValueError(f"Expected at least one tensor in {asker}().")
    return values


def keep_condition(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep = convert_to_tensor(keep_input)
    rank = keep.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def types_of(lists: Sequence[Sequence[Tensor]]) -> list[dtypes.DType]:
    found = [[t.dtype.base_dtype for t in tensors] for tensors in lists]
    for other in found[1:]:
        if other != found[0]:
            names = (", ".join(t.name for t in types) for types in (found[0], other))
            raise TypeError("Expected types to be consistent: {} vs. {}.".format(*names))
    return found[0]


def element_shapes_of(
    lists: Sequence[Sequence[Tensor]], given: Any, enqueue_many: bool
) -> list[Any]:
    """The shape of each component: those given, or of the first list, to which all must fit.

    What others leave open, the queue checks; what the first leaves open may differ in the others.
    """
    if given is not None:
        return list(given)
    merged = []
    for parts in zip(*lists, strict=True):
        for tensor in parts:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
        known = [t.shape.with_rank_at_least(1)[1:] if enqueue_many else t.shape for t in parts]
        for other in known[1:]:
            known[0].merge_with(other)
        merged.append(known[0])
    return merged


def stored_tensors(
    lists: list[list[Any]], enqueue_many: bool, keep: Tensor, asker: str
) -> tuple[list[list[Tensor]], list[list[sparse_queues.Stored | None]]]:
    """All lists as dense tensors; what was sparse shares the maps of the first list."""
    tensors: list[list[Tensor]] = []
    known: list[list[sparse_queues.Stored | None]] = []
    for values in lists:
        first = known[0] if known else None
        made, of_them = sparse_queues.stored(_some(values, asker), enqueue_many, keep, first)
        tensors.append(made)
        known.append(of_them)
    sparse_queues.check_alike(known, lists)
    return tensors, known


def _enqueue_op(queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, keep: Tensor) -> Any:
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.shape.ndims == 1:
        chosen = cast.cast(keep, dtypes.int32)
        return enqueue([stitch.dynamic_partition(t, chosen, 2)[1] for t in tensors])
    return smart_cond(keep, lambda: enqueue(tensors), control.no_op)


# ---- the queue and what comes out ----------------------------------------------------------------


def _in_order(dynamic_pad: bool) -> _MakeQueue:
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def _shuffled(min_after_dequeue: int, seed: int | None, capacity: int) -> _MakeQueue:
    if capacity <= min_after_dequeue:
        raise ValueError(
            f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}."
        )

    def make_queue(**arguments: Any) -> QueueBase:
        return RandomShuffleQueue(min_after_dequeue=min_after_dequeue, seed=seed, **arguments)

    return make_queue


def _summarize(queue: QueueBase, capacity: int, min_after_dequeue: int | None) -> None:
    if min_after_dequeue is None:
        fullness(queue.size(), capacity, f"fraction_of_{capacity}_full")
        return
    spare = capacity - min_after_dequeue
    size: Any = queue.size()
    over = maximum(0, size - min_after_dequeue)
    fullness(over, spare, f"fraction_over_{min_after_dequeue}_of_{spare}_full")


def _batches(
    default_name: str,
    lists: list[list[Any]],
    like: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int,
    enqueue_many: bool,
    shapes: Any,
    allow_smaller_final_batch: bool,
    shared_name: str | None,
    name: str | None,
    *,
    make_queue: _MakeQueue,
    threads: int = 1,
    min_after_dequeue: int | None = None,
) -> Any:
    """Everything that the public functions do.

    Args:
      default_name: of the scope.
      lists: the examples' tensors; each list gets an enqueue operation.
      like: a dict where the result is to be one.
      keep_input .. name, min_after_dequeue: as the public functions take them.
      make_queue: makes the queue.
      threads: how many threads run each enqueue operation.
    """
    given = [value for values in lists for value in values]
    with name_scope(name, default_name, [*given, keep_input]) as scope:
        keep = keep_condition(keep_input, enqueue_many)
        tensors, known = stored_tensors(lists, enqueue_many, keep, default_name)
        queue = make_queue(
            capacity=capacity,
            dtypes=types_of(tensors),
            shapes=element_shapes_of(tensors, shapes, enqueue_many),
            shared_name=shared_name,
        )
        enqueues = [_enqueue_op(queue, one, enqueue_many, keep) for one in tensors]
        add_queue_runner(QueueRunner(queue, enqueues * threads))
        _summarize(queue, capacity, min_after_dequeue)
        dequeue = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        taken = dequeue(batch_size, name=scope)
        parts = sparse_queues.restored(taken if isinstance(taken, list) else [taken], known)
    if isinstance(like, dict):
        return dict(zip(sorted(like), parts, strict=True))
    return parts if len(parts) > 1 else parts[0]


# ---- public functions ----------------------------------------------------------------------------


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples, in the order in which they come.

    Args:
      tensors: list or dict of tensors: one example, or with ``enqueue_many`` several.
      batch_size: examples of a batch; an int32 scalar.
      num_threads: threads that run the enqueue operation; with several the order may change.
      capacity: of the queue.
      enqueue_many: whether the first dim of each tensor counts examples.
      shapes: of an example's tensors; default is what is statically known.
      dynamic_pad: pad dims of unknown size with zeros to the largest of a batch.
      allow_smaller_final_batch: give out what is left at the end, where that is fewer.
      shared_name: sessions that share state share the queue under this name.

    Returns:
      Like one example: a tensor where it has one, else a list or dict, with a dim in front.

    Raises:
      ValueError: the rank of a tensor is not known and ``shapes`` is not given.
      OutOfRangeError: when it runs, and the examples have come to an end.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     number = tf.train.range_input_producer(4, shuffle=False).dequeue()
      ...     batch = tf.train.batch([number], 2)
      ...     coord = tf.train.Coordinator()
      ...     threads = tf.train.start_queue_runners(sess, coord)
      ...     print(sess.run(batch).tolist(), sess.run(batch).tolist())
      ...     coord.request_stop()
      ...     coord.join(threads)
      [0, 1] [2, 3]
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@documented_as(batch)
def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As ``batch``, of the examples that ``keep_input`` says.

    Args:
      keep_input: bool: whether the example counts; with ``enqueue_many`` a vector may say it
        for each.
    """
    return _batches(
        "batch", [listed_tensors(tensors)], tensors, keep_input, batch_size, capacity, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name,
        make_queue=_in_order(dynamic_pad), threads=num_threads,
    )  # fmt: skip


@documented_as(batch)
def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples from several lists of tensors, one thread for each.

    Args:
      tensors_list: list of lists or dicts as ``batch`` takes; each gets a thread of its own.

    Example:
      >>> import penstock as tf
      >>> readers = [[tf.constant(1)], [tf.constant(2)]]  # a list of tensors a thread
      >>> batch = tf.train.batch_join(readers, batch_size=4)
      >>> batch.shape.as_list(), batch.dtype
      ([4], tf.int32)
    """
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@documented_as(batch_join, maybe_batch)
def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As ``batch_join``, of the examples that ``keep_input`` says."""
    return _batches(
        "batch_join", _all_listed(tensors_list), tensors_list[0], keep_input, batch_size, capacity,
        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        make_queue=_in_order(dynamic_pad),
    )  # fmt: skip


@documented_as(batch)
def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples in random order.

    Args:
      min_after_dequeue: examples that stay in the queue, so that batches are well mixed.
      seed: of the order.

    Raises:
      ValueError: ``capacity`` is not above ``min_after_dequeue``, or the rank of a tensor is not
        known and ``shapes`` is not given.
      OutOfRangeError: when it runs, and the examples have come to an end.

    Example:
      >>> import penstock as tf
      >>> (number,) = tf.train.slice_input_producer([np.arange(20)], num_epochs=1)
      >>> batch = tf.train.shuffle_batch([number], 5, capacity=30, min_after_dequeue=10)
      >>> with tf.train.MonitoredSession() as session:
      ...     seen = np.concatenate([session.run(batch) for _ in range(4)])
      >>> sorted(seen) == list(range(20))
      True
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@documented_as(shuffle_batch, maybe_batch)
def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As ``shuffle_batch``, of the examples that ``keep_input`` says."""
    return _batches(
        "shuffle_batch", [listed_tensors(tensors)], tensors, keep_input, batch_size, capacity,
        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        make_queue=_shuffled(min_after_dequeue, seed, capacity), threads=num_threads,
        min_after_dequeue=min_after_dequeue,
    )  # fmt: skip


@documented_as(shuffle_batch, batch_join)
def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches in random order from several lists of tensors, one thread for each."""
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@documented_as(shuffle_batch, maybe_batch_join)
def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As ``shuffle_batch_join``, of the examples that ``keep_input`` says."""
    return _batches(
        "shuffle_batch_join", _all_listed(tensors_list), tensors_list[0], keep_input, batch_size,
        capacity, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name,
        make_queue=_shuffled(min_after_dequeue, seed, capacity),
        min_after_dequeue=min_after_dequeue,
    )  # fmt: skip
