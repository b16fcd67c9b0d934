"""Making sessions whose model is ready: initialized, restored from a checkpoint, or waited for.

    prepare_session   the chief: restore the latest checkpoint, else initialize; then local init;
                      where the model lives in a cluster and is ahead of the checkpoint, join it
    recover_session   restore the latest checkpoint, and say whether that sufficed
    wait_for_session  everybody else: look again and again whether the chief has done its part

State: the ops to run; nothing that changes.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.engine.session.session import Session
from penstock.foundation.base import errors
from penstock.foundation.graph import scopes
from penstock.storage.checkpoint import management
from penstock.training.monitored.joining import has_gone_on
from penstock.training.monitored.waiting import Wait

_log = logging.getLogger("penstock")
# What errors of reading a variable that has no value say.
_NOT_INITIALIZED = ("uninitialized", "before it has a value")


class SessionManager:
    """Makes sessions and gets their model ready.

    Args:
      local_init_op: run in each new session, for tables and local variables.
      ready_op: a 1-D string tensor that names what keeps the model from being ready; None asks
        nothing.
      ready_for_local_init_op: the same, of what ``local_init_op`` needs.
      graph: the graph; default is the default graph.
      recovery_wait_secs: the longest pause between two looks at whether the model is ready; the
        first ones are shorter.
      local_init_run_options: ``RunOptions`` for ``local_init_op``.

    Raises:
      ValueError: ``ready_for_local_init_op`` without ``local_init_op``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     v = tf.Variable(2.0)
      ...     manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
      ...     sess = manager.prepare_session("", init_op=tf.global_variables_initializer())
      ...     sess.run(v)
      np.float32(2.0)
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "ready_for_local_init_op says when local_init_op may run, so give both; found"
                f" ready_for_local_init_op={ready_for_local_init_op!r} and no local_init_op"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph if graph is not None else scopes.get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Session:
        """Makes a session and restores its model from a checkpoint, or initializes it.

        Args:
          master: target of the session.
          init_op: initializes the model, where nothing was restored.
          saver: restores it.
          checkpoint_dir: the latest checkpoint of this directory is restored, unless the model
            lives on servers and has gone on from there.
          checkpoint_filename_with_path: this checkpoint is restored.
          wait_for_checkpoint: wait until there is one in the directory.
          max_wait_secs: the longest such wait, in seconds; after it the model is initialized.
          config: a ``ConfigProto`` for the session.
          init_feed_dict: what to feed to ``init_op``.
          init_fn: ``f(session)``, called after ``init_op``.

        Returns:
          The session.

        Raises:
          RuntimeError: the model is not ready after all that, or there is nothing to do it with.
          ValueError: both kinds of checkpoints are given.
        """
        sess, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        try:
            if not restored:
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            self._make_ready(sess, init_op, init_fn)
        except BaseException:
            _close_quietly(sess)
            raise
        return sess

    def _initialize(self, sess: Session, init_op: Any, feeds: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given:"
                " the model is not initialized, and none of init_op, init_fn and local_init_op was"
                " given to do it"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(sess)

    def _make_ready(self, sess: Session, init_op: Any, init_fn: Any) -> None:
        reason = self._run_local_init(sess)
        what = "ready for local_init"
        if reason is None:
            reason, what = self._not_ready(sess), "ready"
        if reason is not None:
            raise RuntimeError(
                f"Init operations did not make model {what}.  Init op:"
                f" {getattr(init_op, 'name', init_op)}, init fn: {init_fn}, local_init_op:"
                f" {getattr(self._local_init_op, 'name', None)}, error: {reason}"
            )

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """Makes a session and restores its model from a checkpoint, if that is possible.

        Args:
          As of ``prepare_session``.

        Returns:
          The session, and whether its model was restored and is ready.

        Raises:
          ValueError: both kinds of checkpoints are given.
        """
        sess, restored = self._restored(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        try:
            reason = self._run_local_init(sess)
            if not restored:
                return sess, False
            source = checkpoint_dir or checkpoint_filename_with_path
            what = "ready for local init"
            if reason is None:
                reason, what = self._not_ready(sess), "ready"
        except BaseException:
            _close_quietly(sess)
            raise
        if reason is not None:
            _log.info("Restoring model from %s did not make model %s: %s", source, what, reason)
            return sess, False
        _log.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float | None = math.inf
    ) -> Session:
        """Makes sessions, again and again, until one finds the model made ready by the chief.

        Args:
          master: target of the session.
          config: a ``ConfigProto`` for it.
          max_wait_secs: the longest wait, in seconds; None means any time.

        Returns:
          The session.

        Raises:
          tf.errors.DeadlineExceededError: the model was not ready in time.
        """
        wait = Wait(
            f"Session was not ready (target {master!r})", max_wait_secs, self._recovery_wait_secs
        )
        while True:
            sess = Session(master, graph=self._graph, config=config)
            try:
                local_reason = self._run_local_init(sess)
                reason = self._not_ready(sess) if local_reason is None else None
            except BaseException:
                _close_quietly(sess)
                raise
            if local_reason is None and reason is None:
                return sess
            _close_quietly(sess)
            _log.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                local_reason, reason,
            )  # fmt: skip
            wait.pause(reason or local_reason)

    # ---- steps of the above ------------------------------------------------------------------

    def _restored(
        self,
        master: str,
        saver: Any,
        directory: Any,
        filename: Any,
        wait_for_checkpoint: bool,
        max_wait_secs: float,
        config: Any,
    ) -> tuple[Session, bool]:
        """A session, and whether a checkpoint was restored in it, or needed not to be."""
        if directory and filename:
            raise ValueError(
                "checkpoint_dir and checkpoint_filename_with_path cannot both be given; found"
                f" {directory!r} and {filename!r}"
            )
        sess = Session(master, graph=self._graph, config=config)
        try:
            if not saver or not (directory or filename):
                return sess, False
            if filename:
                saver.restore(sess, filename)
                return sess, True
            state = self._checkpoint(directory, max_wait_secs if wait_for_checkpoint else 0)
            if state is None:
                return sess, False
            missing = self._ready_for_local_init_op
            if missing is None:
                missing = self._ready_op
            if not has_gone_on(sess, missing, state.model_checkpoint_path):
                saver.restore(sess, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        except BaseException:
            _close_quietly(sess)
            raise
        return sess, True

    def _checkpoint(self, directory: Any, seconds: float) -> Any:
        """The state file of a directory, waited for so long; None when there is none."""
        wait = Wait(f"no checkpoint in {directory}", seconds, self._recovery_wait_secs)
        while True:
            state = management.get_checkpoint_state(directory)
            if state and state.model_checkpoint_path:
                return state
            if wait.over:
                return None
            _log.info("Waiting for checkpoint to be available.")
            with contextlib.suppress(errors.DeadlineExceededError):  # one more look, then None
                wait.pause("no checkpoint")

    def _run_local_init(self, sess: Session) -> str | None:
        """Runs ``local_init_op``; None, or why it may not run yet."""
        if self._local_init_op is None:
            return None
        reason = _reason(self._ready_for_local_init_op, sess, "Model not ready for local init")
        if reason is not None:
            return reason
        _log.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        _log.info("Done running local_init_op.")
        return None

    def _not_ready(self, sess: Session) -> str | None:
        """None, or why the model is not ready."""
        return _reason(self._ready_op, sess, "Model not ready")


def _reason(op: Any, sess: Session, what: str) -> str | None:
    """What an op that tells of readiness says: None, or the reason why it is not."""
    if op is None:
        return None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        # A ready_op may also be one that reads the variables.
        if not any(said in str(error) for said in _NOT_INITIALIZED):
            _log.warning("%s : error [%s]", what, error)
            raise
        return str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return None
    return "Variables not initialized: " + ", ".join(name.decode() for name in np.ravel(value))


def _close_quietly(sess: Session) -> None:
    with contextlib.suppress(Exception):
        sess.close()
