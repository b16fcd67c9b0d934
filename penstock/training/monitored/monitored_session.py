"""Sessions for training: they call hooks, run queue runners, recover, and close in order.

State: the hooks, the session that stands now with its coordinator, and whether the graph was
finalized before (else closing makes it writable again).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.training.data.coordinator import Coordinator
from penstock.training.data.queue_runner import start_queue_runners
from penstock.training.monitored import wrapped_sessions
from penstock.training.monitored.creators import ChiefSessionCreator, SessionCreator
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.monitored.scaffold import Scaffold

# What says "no more data" and ends a ``with`` block without being an error.
_CLEAN = (errors.OutOfRangeError, StopIteration)


class _CoordinatedCreator(SessionCreator):
    """Makes sessions with their coordinator, queue runners and hooks."""

    def __init__(
        self, creator: SessionCreator, hooks: list[SessionRunHook], stop_grace_period_secs: float
    ) -> None:
        self._creator = creator
        self._hooks = hooks
        self._grace = stop_grace_period_secs
        self.tf_sess: Any = None
        self.coord: Coordinator | None = None

    def create_session(self) -> wrapped_sessions.CoordinatedSession:
        self.tf_sess = self._creator.create_session()
        # Also the end of a queue is to be seen by those who asked the threads to be watched.
        self.coord = Coordinator(clean_stop_exception_types=())
        if collecting.get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        hooked = wrapped_sessions.HookedSession(self.tf_sess, self._hooks)
        return wrapped_sessions.CoordinatedSession(hooked, self.coord, self._grace)


class _MonitoredSession:
    """What both kinds share.

    Args:
      session_creator: makes sessions; default is a ``ChiefSessionCreator``.
      hooks: the hooks.
      should_recover: whether a lost session is replaced.
      stop_grace_period_secs: how long threads may take to end when the session closes.
    """

    StepContext = wrapped_sessions.StepContext

    # ``start_queue_runners`` has nothing left to do.
    _starts_queue_runners = True

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Iterable[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = scopes.get_default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        creator = session_creator or ChiefSessionCreator()
        self._coordinated_creator = _CoordinatedCreator(
            creator, self._hooks, stop_grace_period_secs
        )
        self._sess: wrapped_sessions.WrappedSession | None
        if should_recover:
            seconds = getattr(creator, "max_wait_secs", wrapped_sessions.RECOVERY_SECS)
            self._sess = wrapped_sessions.RecoverableSession(
                self._coordinated_creator.create_session, seconds
            )
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph; None once the session is closed."""
        return None if self._tf_sess() is None else self._tf_sess().graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step with the hooks; arguments and result are those of ``Session.run``.

        Raises:
          RuntimeError: the session is closed, or a stop was requested.
        """
        return self._open().run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        """Calls a function that may run several steps, with and without hooks.

        Args:
          step_fn: ``f(step_context)``, called with a ``StepContext``; called again, where this kind
            of session recovers, when its session is lost meanwhile.

        Returns:
          What it returns.

        Raises:
          ValueError: ``step_fn`` takes other arguments.
          StopIteration: it called ``step_context.request_stop()``.

        Example:
          >>> import penstock as tf
          >>> with tf.Graph().as_default():
          ...     c = tf.constant(3)
          ...     with tf.train.MonitoredSession() as sess:
          ...         sess.run_step_fn(lambda step_context: step_context.session.run(c))
          np.int32(3)
        """
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and"
                f" `step_context`; found {names}"
            )
        return self._open().run_step_fn(step_fn, self._tf_sess)

    def should_stop(self) -> bool:
        """Whether the loop around this session should end."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Calls the hooks' ``end`` and closes the session."""
        self._close_after(None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> bool:
        if kind in _CLEAN:
            kind = None
        self._close_after(kind)
        return kind is None

    def _close_after(self, kind: type[BaseException] | None) -> None:
        try:
            if kind is None:
                for hook in self._hooks:
                    hook.end(self._tf_sess())
        finally:
            try:
                self._open().close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    scopes.get_default_graph()._unsafe_unfinalize()

    def _open(self) -> wrapped_sessions.WrappedSession:
        if self._sess is None:
            raise RuntimeError("the session is closed already")
        return self._sess

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that calls hooks, runs queue runners and replaces sessions that are lost.

    While tasks are lost (AbortedError, UnavailableError), a new session is made and the step is run
    again there.  Where that does not help for the creator's ``max_wait_secs`` (two hours, if it has
    none), the wait ends with DeadlineExceededError.  OutOfRangeError and StopIteration end its
    ``with`` block without being raised.

    Args:
      session_creator: makes sessions; default is a ``ChiefSessionCreator``.
      hooks: the hooks.
      stop_grace_period_secs: how long threads may take to end when the session closes.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     step = tf.train.get_or_create_global_step()
      ...     train = tf.assign_add(step, 1)
      ...     with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(3)]) as sess:
      ...         while not sess.should_stop():
      ...             last = sess.run(train)
      >>> int(last)
      3
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A session that calls hooks and runs queue runners, and ends with the first error.

    Args:
      hooks: the hooks.
      scaffold: supplies the ops; default is one that makes them all.
      master: target of the session.
      config: a ``ConfigProto`` for it.
      checkpoint_dir: the latest checkpoint of this directory is restored.
      stop_grace_period_secs: how long threads may take to end when the session closes.
      checkpoint_filename_with_path: this checkpoint is restored.
    """

    def __init__(
        self,
        hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session without hooks."""
        return self._tf_sess()
