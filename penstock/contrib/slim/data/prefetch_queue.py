"""A queue that keeps batches ready."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.scopes import name_scope
from penstock.training.data.input import fullness
from penstock.training.data.queue_runner import QueueRunner, add_queue_runner
from penstock.training.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of what tensors are in one step after the other, filled by a queue runner.

    Args:
      tensors: a list or dict of tensors; of a dict, ``dequeue`` gives a dict.
      capacity: of the queue.
      num_threads: how many threads fill it.
      dynamic_pad: whether dims may be unknown; batches of elements are then padded.
      shared_name: sessions that share state share the queue under this name.
      name: of the nodes' scope.

    Returns:
      The queue; its QueueRunner is in the collection QUEUE_RUNNERS.

    Example:
      >>> import penstock as tf
      >>> slim = tf.contrib.slim
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     ready = slim.prefetch_queue.prefetch_queue({"x": tf.constant([1, 2])}).dequeue()
      ...     with slim.queues.QueueRunners(session):
      ...         session.run(ready)["x"].tolist()
      [1, 2]
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = tensors if names is None else [tensors[key] for key in names]
    make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    with name_scope(name, "prefetch_queue", listed):
        queue = make(
            capacity,
            [tensor.dtype for tensor in listed],
            [tensor.shape for tensor in listed],
            names,
            shared_name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        fullness(queue.size(), capacity, f"fraction_of_{capacity}_full")
        return queue
