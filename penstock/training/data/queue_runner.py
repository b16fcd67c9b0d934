"""Threads that fill a queue: one a enqueue operation, each running it until the queue closes.

State of a ``QueueRunner``: for each session, how many of its threads still run (the last one to end
closes the queue, which is how an epoch's end reaches the consumers), and the errors that ended
threads without a coordinator to report to.

Source: the behaviour of ``tf.train.QueueRunner`` in TensorFlow 1.15.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats.schema import QueueRunnerDef
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.proto_functions import register_proto_function
from penstock.foundation.graph.scopes import get_default_graph, get_default_session
from penstock.training.data.coordinator import Coordinator


class QueueRunner:
    """Enqueue operations of one queue, and the threads that run them.

    Args:
      queue: the queue.
      enqueue_ops: operations; each gets a thread of its own.
      close_op: runs when the last thread has ended; default closes the queue.
      cancel_op: runs when the coordinator stops; default closes the queue and cancels enqueues.
      queue_closed_exception_types: errors that mean "no more elements"; default
        ``(tf.errors.OutOfRangeError,)``.
      queue_runner_def: a ``QueueRunnerDef`` to take all that from, for nodes of the default graph.
      import_scope: scope in front of its names.

    Raises:
      ValueError: arguments beside ``queue_runner_def``, or a missing queue or operation.
      TypeError: ``queue_closed_exception_types`` is no tuple of error types.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def goes with no queue and no enqueue_ops")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            if queue is None or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops")
            self._queue = queue
            self._enqueue_ops = list(enqueue_ops)
            self._close_op = queue.close() if close_op is None else close_op
            if cancel_op is None:
                cancel_op = queue.close(cancel_pending_enqueues=True)
            self._cancel_op = cancel_op
            self._queue_closed_exception_types = _error_types(queue_closed_exception_types)
        self._lock = threading.Lock()
        self._runs_per_session: Any = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[BaseException] = []

    def _init_from_proto(self, definition: Any, import_scope: str | None) -> None:
        if not isinstance(definition, QueueRunnerDef):
            raise TypeError(
                f"queue_runner_def must be a QueueRunnerDef; found {type(definition).__name__}"
            )
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

        self._queue = element(definition.queue_name)
        self._enqueue_ops = [element(name) for name in definition.enqueue_op_name]
        self._close_op = element(definition.close_op_name)
        self._cancel_op = element(definition.cancel_op_name)
        codes = definition.queue_closed_exception_types
        types = tuple(errors.exception_type_from_error_code(code) for code in codes)
        self._queue_closed_exception_types = types or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that fill it."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """What runs when the last thread has ended."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """What runs when the coordinator stops."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[errors.OpError], ...]:
        """The errors that mean "no more elements"."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """Errors that ended threads which had no coordinator to report to."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue's node."""
        return str(self._queue.name)

    # ---- threads -----------------------------------------------------------------------------

    def create_threads(
        self, sess: Any, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Makes the threads that run the enqueue operations in a session.

        Args:
          sess: the session.
          coord: stops the threads, and is told of their errors.
          daemon: whether the threads let the process end while they run.
          start: start them as well.

        Returns:
          The threads; none where this session has running ones already.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._run,
                args=(sess, index, coord),
                name=f"QueueRunnerThread-{self.name}-{op.name}",
            )
            for index, op in enumerate(self._enqueue_ops)
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon
            if start:
                thread.start()
        return threads

    def _enqueuing(self, sess: Any, index: int) -> Callable[[], Any]:
        """What runs an enqueue operation once."""
        enqueue: Callable[[], Any] = sess.make_callable(self._enqueue_ops[index])
        return enqueue

    def _run(self, sess: Any, index: int, coord: Coordinator | None) -> None:
        closes = False
        try:
            enqueue = self._enqueuing(sess, index)
            while not (coord is not None and coord.should_stop()):
                enqueue()
        except self._queue_closed_exception_types:
            closes = True
        except Exception as error:
            if _is_closed(sess):  # nobody is left to be told
                return
            if coord is None:
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
            coord.request_stop(error)
        finally:
            self._ended(sess, closes)

    def _ended(self, sess: Any, closes: bool) -> None:
        with self._lock:
            self._runs_per_session[sess] -= 1
            last = self._runs_per_session[sess] == 0
        if closes and last:
            try:
                sess.run(self._close_op)
            except (errors.OpError, RuntimeError):
                # The session was closed meanwhile, and its queues with it.
                return

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator) -> None:
        """What closes the queue when the coordinator stops; runners of packages call it, too."""
        coord.register_thread(threading.current_thread())
        coord.wait_for_stop()
        try:
            sess.run(cancel_op)
        except (errors.OpError, RuntimeError):
            return

    # ---- messages ----------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The runner as a ``QueueRunnerDef``; None when its queue is outside ``export_scope``."""
        if export_scope and not self.name.startswith(f"{export_scope}/"):
            return None

        def stripped(name: str) -> str:
            return name.removeprefix(f"{export_scope}/") if export_scope else name

        definition = QueueRunnerDef(
            queue_name=stripped(self._queue_name()),
            close_op_name=stripped(self._close_op.name),
            cancel_op_name=stripped(self._cancel_op.name),
        )
        definition.enqueue_op_name.extend(stripped(op.name) for op in self._enqueue_ops)
        definition.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(t) for t in self._queue_closed_exception_types
        )
        return definition

    def _queue_name(self) -> str:
        handle = getattr(self._queue, "queue_ref", None)
        return str(self._queue.name if handle is None else handle.op.name)

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The runner that a ``QueueRunnerDef`` describes."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _is_closed(sess: Any) -> bool:
    return bool(getattr(sess, "_closed", False))


def _error_types(types: Any) -> tuple[type[errors.OpError], ...]:
    if types is None:
        return (errors.OutOfRangeError,)
    fits = isinstance(types, tuple) and all(
        isinstance(t, type) and issubclass(t, errors.OpError) for t in types
    )
    if not types or not fits:
        raise TypeError(
            "queue_closed_exception_types must be a tuple of tf.errors types, such as"
            f" (tf.errors.OutOfRangeError,); found {types!r}"
        )
    return tuple(types)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Has ``start_queue_runners`` start this runner.

    Args:
      qr: the runner.
      collection: the graph's collection that keeps it.
    """
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph.

    Args:
      sess: the session; default is the default session.
      coord: stops the threads, and is told of their errors.
      daemon: whether the threads let the process end while they run.
      start: False makes the threads without starting them.
      collection: the collection that keeps the runners.

    Returns:
      All threads.

    Raises:
      ValueError: no session was given and there is no default one.
      TypeError: ``sess`` is no session.

    Example:
      >>> import penstock as tf
      >>> queue = tf.train.range_input_producer(3, shuffle=False)
      >>> index = queue.dequeue()
      >>> with tf.Session() as session:
      ...     coordinator = tf.train.Coordinator()
      ...     threads = tf.train.start_queue_runners(session, coordinator)
      ...     found = [int(session.run(index)) for _ in range(4)]
      ...     coordinator.request_stop()
      ...     coordinator.join(threads)
      >>> found
      [0, 1, 2, 0]
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with"
                " sess.as_default()` or pass an explicit session to"
                " tf.train.start_queue_runners(sess=sess)"
            )
    if getattr(sess, "_starts_queue_runners", False):
        return []  # it did so when it was made
    if not callable(getattr(sess, "make_callable", None)):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = get_default_graph().get_collection(collection)
    return [
        thread
        for runner in runners
        for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    ]


register_proto_function(
    GraphKeys.QUEUE_RUNNERS,
    proto_type=QueueRunnerDef,
    to_proto=QueueRunner.to_proto,
    from_proto=QueueRunner.from_proto,
)
