"""What extends ``MonitoredSession.run``: the hook, and what it is told and answers.

begin()                           once, while the graph may still grow
after_create_session(sess, coord) after each session is made, also one that replaces a lost one
before_run(context)               before each step: may add fetches, feeds and options
after_run(context, values)        after each step that succeeded
end(sess)                         once, unless an error ended the session
"""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook adds to a step, and what the user asked of it.

    Args:
      fetches: what to run, as for ``Session.run``; None adds nothing.
      feed_dict: values to feed.
      options: a ``RunOptions``, merged into the step's.
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a step gave to one hook.

    Args:
      results: values of the hook's fetches, in their nesting; None where it asked for nothing.
      options: the ``RunOptions`` of the step.
      run_metadata: the ``RunMetadata`` of the step.
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """One call of ``MonitoredSession.run``, as hooks see it.

    Args:
      original_args: what the user asked for, as ``SessionRunArgs``.
      session: the session that runs it; runs of a hook in it call no hooks.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the user asked for."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session that runs the step."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked that this step be the last."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Asks that this step be the last: ``should_stop`` of the session becomes True."""
        self._stop_requested = True


class SessionRunHook:
    """Base of hooks; each method does nothing until it is overridden.

    Example:
      >>> import penstock as tf
      >>> class Count(tf.train.SessionRunHook):
      ...     steps = 0
      ...     def after_run(self, run_context, run_values):
      ...         self.steps += 1
      >>> count = Count()
      >>> with tf.Graph().as_default():
      ...     one = tf.constant(1)
      ...     with tf.train.MonitoredSession(hooks=[count]) as sess:
      ...         _ = sess.run(one), sess.run(one)
      >>> count.steps
      2
    """

    def begin(self) -> None:
        """Called once, before the session is made; nodes may be added to the default graph."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called after a session is made or made anew; the graph is finalized.

        Args:
          session: the session.
          coord: the ``Coordinator`` of its threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each step.

        Args:
          run_context: the call.

        Returns:
          What to add to the step, or None.
        """
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each step that raised nothing.

        Args:
          run_context: the call.
          run_values: what this hook's part of the step gave.
        """

    def end(self, session: Any) -> None:
        """Called before the session is closed, unless an error ended it.

        Args:
          session: the session, which still runs steps.
        """
