"""Sessions around sessions, each for one purpose; a ``MonitoredSession`` stacks them.

    RecoverableSession     makes a new session when one is lost, and runs the step again
      CoordinatedSession   sees errors of the coordinator's threads; ends the threads when it closes
        HookedSession      calls the hooks before and after each step
          Session

A session is lost when AbortedError or UnavailableError is raised: by the step, by a hook, or by a
thread that reported it to the coordinator.  Other errors go to the caller.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.session.options import RunMetadata, RunOptions
from penstock.training.data.coordinator import Coordinator
from penstock.training.monitored.hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.training.monitored.waiting import PREEMPTION_ERRORS, Wait

_log = logging.getLogger("penstock")
# How long one step, or the making of one session, is tried again while tasks stay lost, and the
# longest pause between two tries; in seconds.
RECOVERY_SECS = 7200.0
_RECOVERY_PAUSE = 5.0


class StepContext:
    """What a step function is given by ``run_step_fn``.

    Args:
      session: the session without hooks.
      run_with_hooks_fn: runs with the hooks.
    """

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The session without hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """As ``MonitoredSession.run``."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the loop: raises ``StopIteration``, which the session's ``with`` block takes."""
        raise StopIteration("the step function has asked to stop")


class WrappedSession:
    """A session around another one; hands everything on.

    State: the inner session; None once closed.
    """

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        """The target."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether this or an inner session should run no more steps."""
        if self.check_stop() or self._sess is None:
            return True
        return isinstance(self._sess, WrappedSession) and self._sess.should_stop()

    def check_stop(self) -> bool:
        """Whether this one should, regardless of the inner ones."""
        return False

    def close(self) -> None:
        """Closes the inner session; that a task is lost meanwhile is no error."""
        if self._sess is None:
            return
        try:
            self._sess.close()
        except PREEMPTION_ERRORS as error:
            _log.warning("a task was lost while its session was closed: %s", error)
        finally:
            self._sess = None

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step."""
        return self._sess.run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[[Any], Any], raw_session: Callable[[], Any]) -> Any:
        """Calls ``step_fn`` with a ``StepContext``.

        Args:
          step_fn: the function.
          raw_session: gives the session without hooks.
        """
        return step_fn(StepContext(raw_session(), self.run))


class RecoverableSession(WrappedSession):
    """Makes a new session when the one it has is lost.

    Args:
      create: makes a session.
      seconds: how long one step, or the making of one session, is tried again.
    """

    def __init__(self, create: Callable[[], WrappedSession], seconds: float) -> None:
        self._create = create
        self._seconds = seconds
        super().__init__(self._created())

    def _wait(self, what: str) -> Wait:
        return Wait(what, self._seconds, _RECOVERY_PAUSE, at_once=1)

    def _created(self) -> WrappedSession:
        wait = None
        while True:
            try:
                return self._create()
            except PREEMPTION_ERRORS as error:
                _log.info(
                    "A task was lost while a session was being created; another one will be"
                    " created. Error: %s", error,
                )  # fmt: skip
                wait = wait or self._wait("no session could be created")
                wait.pause(error)

    def _lost(self, error: BaseException) -> None:
        _log.info(
            "A task was lost (preempted, restarted or cut off). The session is closed and a new"
            " one will be created. Error: %s", error,
        )  # fmt: skip
        self.close()

    def check_stop(self) -> bool:
        """What the session says; one that is lost is replaced and goes on."""
        if self._sess is None:
            return True
        try:
            return bool(self._sess.check_stop())
        except PREEMPTION_ERRORS as error:
            self._lost(error)
            self._sess = self._created()
            return False
        except Exception:
            return True

    def _until_kept(self, call: Callable[[], Any]) -> Any:
        """Calls until a session is not lost meanwhile."""
        wait = None
        while True:
            try:
                if self._sess is None:
                    self._sess = self._created()
                return call()
            except PREEMPTION_ERRORS as error:
                self._lost(error)
                wait = wait or self._wait("a step could not be run")
                wait.pause(error)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step, again in a new session where one is lost.

        Raises:
          tf.errors.DeadlineExceededError: sessions are lost again and again.
        """
        return self._until_kept(
            lambda: self._sess.run(
                fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
            )
        )

    def run_step_fn(self, step_fn: Callable[[Any], Any], raw_session: Callable[[], Any]) -> Any:
        """Calls ``step_fn``, again with a new session where one is lost."""
        return self._until_kept(lambda: self._sess.run_step_fn(step_fn, raw_session))


class CoordinatedSession(WrappedSession):
    """Sees the errors of a coordinator's threads, and ends the threads when it closes.

    Args:
      sess: the inner session.
      coord: the coordinator.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float) -> None:
        super().__init__(sess)
        self._coord = coord
        self._grace = stop_grace_period_secs

    def check_stop(self) -> bool:
        """Whether a stop was requested; raises the error that a thread reported."""
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Ends the threads, then closes; raises the error that a thread reported."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as error:
                _log.info("closing the session failed: %s", error)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step.  Where it fails because a thread lost its task, that is what is raised."""
        try:
            return super().run(fetches, feed_dict, options, run_metadata)
        except PREEMPTION_ERRORS:
            raise
        except Exception:
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception as reported:
                _log.info("a thread had reported before: %s", reported)
            raise


class HookedSession(WrappedSession):
    """Calls hooks before and after each step.

    Args:
      sess: the inner session.
      hooks: the hooks.
    """

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def check_stop(self) -> bool:
        """Whether a hook has asked to stop."""
        return self._should_stop

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs one step for the user and all hooks.

        Raises:
          RuntimeError: a stop was requested before, or two feed the same tensor.
        """
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        merged = RunOptions()
        if options is not None:
            merged.CopyFrom(options)
        requests = [hook.before_run(context) for hook in self._hooks]
        feeds = _merged_feeds(feed_dict, requests)
        asked = [fetches]
        for request in requests:
            if request is not None:
                if request.fetches is not None:
                    asked.append(request.fetches)
                if request.options is not None:
                    _merge_options(merged, request.options)
        run_metadata = RunMetadata() if run_metadata is None else run_metadata
        # Options that ask for nothing are left out: a step without any takes the fast way.
        values = iter(
            super().run(asked, feeds, merged if merged.ByteSize() else None, run_metadata)
        )
        value = next(values)
        for hook, request in zip(self._hooks, requests, strict=True):
            asks = request is not None and request.fetches is not None
            result = next(values) if asks else None
            hook.after_run(context, SessionRunValues(result, merged, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return value


def _merged_feeds(user: Any, requests: Sequence[SessionRunArgs | None]) -> Any:
    feeds: dict[Any, Any] = {}
    for request in requests:
        if request is not None and request.feed_dict:
            _refuse_both(feeds, request.feed_dict, "two hooks")
            feeds.update(request.feed_dict)
    if not feeds:
        return user
    if user:
        _refuse_both(user, feeds, "a hook and the caller")
        feeds.update(user)
    return feeds


def _refuse_both(one: Any, other: Any, who: str) -> None:
    both = [getattr(key, "name", key) for key in one if key in other]
    if both:
        raise RuntimeError(f"the same tensor is fed by {who}: {both}")


# Fields of RunOptions of which the larger value holds.
_LARGER = (
    "trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs",
    "report_tensor_allocations_upon_oom",
)  # fmt: skip


def _merge_options(options: Any, more: Any) -> None:
    for name in _LARGER:
        larger = max(getattr(options, name), getattr(more, name))
        if larger != getattr(options, name):
            setattr(options, name, larger)
    debug = more.debug_options
    if debug.debug_tensor_watch_opts:
        options.debug_options.debug_tensor_watch_opts.extend(debug.debug_tensor_watch_opts)
    if debug.reset_disk_byte_usage:
        options.debug_options.reset_disk_byte_usage = True
