"""Queue runners that feed: their functions make what each run of an enqueue operation is fed.

State: as of a queue runner, and the functions by enqueue operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import errors
from penstock.training.data.queue_runner import QueueRunner

FeedFn = Callable[[], dict[Any, Any]]


class FeedingQueueRunner(QueueRunner):
    """A queue runner whose enqueue operations are fed, NumPy arrays say.

    Args:
      queue: the queue.
      enqueue_ops: operations; each gets a thread of its own.
      close_op, cancel_op, queue_closed_exception_types: as of ``tf.train.QueueRunner``.
      feed_fns: for each operation a function that gives a feed_dict, called for each run; it raises
        ``tf.errors.OutOfRangeError`` when there is no more. None: nothing is fed.

    Raises:
      ValueError: a missing queue or operation, or another number of functions.

    Example:
      >>> import itertools, penstock as tf
      >>> x = tf.placeholder(tf.int32, [])
      >>> queue = tf.FIFOQueue(10, tf.int32, [[]])
      >>> numbers = itertools.count()
      >>> runner = FeedingQueueRunner(
      ...     queue, [queue.enqueue(x)], feed_fns=[lambda: {x: next(numbers)}]
      ... )
      >>> first = queue.dequeue_many(3)
      >>> with tf.Session() as sess:
      ...     threads = runner.create_threads(sess, daemon=True, start=True)
      ...     sess.run(first).tolist()
      [0, 1, 2]
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[FeedFn] | None = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
    ) -> None:
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._feed_fns: list[FeedFn] | None = None
        if feed_fns is not None:
            if len(feed_fns) != len(self.enqueue_ops):
                raise ValueError(
                    "If feed_fns is not None, it must have the same length as enqueue_ops."
                )
            self._feed_fns = list(feed_fns)

    def _enqueuing(self, sess: Any, index: int) -> Callable[[], Any]:
        if self._feed_fns is None:
            return super()._enqueuing(sess, index)
        op, feed = self.enqueue_ops[index], self._feed_fns[index]
        return lambda: sess.run(op, feed_dict=feed())

    def to_proto(self) -> Any:  # type: ignore[override]
        """Raises NotImplementedError: a message holds no Python functions."""
        raise NotImplementedError(
            "FeedingQueueRunner does not support serialization to proto: it has Python functions"
        )
