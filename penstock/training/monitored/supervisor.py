"""``tf.train.Supervisor``: TensorFlow's first trainer, which programs of its time still use.

It makes what initializes, checks, saves and summarizes a model, gets a session ready, and runs
threads that save and summarize every so often until somebody asks to stop.

State: the ops, the coordinator of the threads, the event writer and whether it has the graph.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.engine.session.session import Session
from penstock.foundation.base import errors
from penstock.foundation.formats.messages import SessionLog
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.handles import is_reference_variable
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import initialized, listing
from penstock.library.variables.global_step import global_step as value_of_global_step
from penstock.ops.control import control
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.export.graph_file import write_graph
from penstock.storage.export.meta_graph import export_meta_graph
from penstock.storage.summary.build import merge_all
from penstock.storage.summary.writer import FileWriter
from penstock.training.data.coordinator import Coordinator, LooperThread
from penstock.training.data.lookup_initializers import tables_initializer
from penstock.training.monitored.session_manager import SessionManager
from penstock.training.monitored.supervisor_threads import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)

_log = logging.getLogger("penstock")
_USE_DEFAULT: Any = 0


class Supervisor:
    """Gets a model ready, saves and summarizes it, and ends threads together.

    ``MonitoredTrainingSession`` does the same with hooks instead of threads.

    Args:
      graph: the graph; default is the default one.  It is finalized.
      ready_op: a 1-D string tensor that names what keeps the model from being ready.
      ready_for_local_init_op: the same, of what ``local_init_op`` needs.
      is_chief: whether this process initializes, saves and summarizes; others wait for it.
      init_op: initializes the model.
      init_feed_dict: what to feed to ``init_op``.
      local_init_op: initializes tables and local variables in each process.
      logdir: where a chief writes checkpoints, events and the graph.
      summary_op: all summaries, merged; None leaves them to ``summary_computed``.
      saver: the saver; None saves nothing.
      global_step: the global step.
      save_summaries_secs: seconds between summaries; 0 means none.
      save_model_secs: seconds between checkpoints; 0 means none.
      recovery_wait_secs: longest pause between two looks at whether the model is ready.
      stop_grace_secs: how long threads may take to end.
      checkpoint_basename: first part of the checkpoints' names.
      session_manager: the ``SessionManager``; default is one made of the above.
      summary_writer: the event writer; None writes nothing.
      init_fn: ``f(session)``, called after ``init_op``.
      local_init_run_options: ``RunOptions`` for ``local_init_op``.

    Raises:
      ValueError: this is no chief, and a variable has no device.

    Example:
      >>> import penstock as tf, tempfile
      >>> with tf.Graph().as_default():
      ...     train = tf.assign_add(tf.train.create_global_step(), 1)
      ...     supervisor = tf.train.Supervisor(logdir=tempfile.mkdtemp())
      ...     with supervisor.managed_session() as sess:
      ...         while not supervisor.should_stop():
      ...             if sess.run(train) == 3:
      ...                 supervisor.request_stop()
    """

    # What asks for a piece to be taken from its collection, or made.
    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = _USE_DEFAULT,
        ready_for_local_init_op: Any = _USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = _USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = _USE_DEFAULT,
        logdir: Any = None,
        summary_op: Any = _USE_DEFAULT,
        saver: Any = _USE_DEFAULT,
        global_step: Any = _USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = _USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph if graph is not None else scopes.get_default_graph()
        with self._graph.as_default():
            given = {
                "ready_op": ready_op, "ready_for_local_init_op": ready_for_local_init_op,
                "init_op": init_op, "local_init_op": local_init_op, "saver": saver,
                "summary_op": summary_op, "global_step": global_step,
            }  # fmt: skip
            self._pieces = {
                name: make() if given[name] is _USE_DEFAULT else given[name]
                for name, make in _PIECES
            }
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = os.fsdecode(logdir) if is_chief and logdir else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = self._logdir and os.path.join(self._logdir, checkpoint_basename)
        self._summary_writer: Any = None
        if is_chief and summary_writer is not _USE_DEFAULT:
            self._summary_writer = summary_writer
        elif self._logdir:
            self._summary_writer = FileWriter(self._logdir)
        self._graph_added_to_summary = False
        if not is_chief:
            self._check_devices()
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._pieces["local_init_op"],
            ready_op=self.ready_op,
            ready_for_local_init_op=self.ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._graph.finalize()

    def _check_devices(self) -> None:
        for op in self._graph.get_operations():
            if is_reference_variable(op) and not op.device:
                raise ValueError(
                    "with replicas, each variable must say on which device it is, as"
                    f" tf.train.replica_device_setter does; {op.name!r} does not"
                )

    # ---- what was given or made --------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        """Whether this process initializes, saves and summarizes."""
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        """What makes sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """What initializes the model."""
        return self._pieces["init_op"]

    @property
    def init_feed_dict(self) -> Any:
        """What is fed to ``init_op``."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Names what keeps the model from being ready."""
        return self._pieces["ready_op"]

    @property
    def ready_for_local_init_op(self) -> Any:
        """Names what ``local_init_op`` needs."""
        return self._pieces["ready_for_local_init_op"]

    @property
    def summary_writer(self) -> Any:
        """The event writer; None where there is none."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """All summaries, merged."""
        return self._pieces["summary_op"]

    @property
    def save_summaries_secs(self) -> float | None:
        """Seconds between summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The global step; None where there is none."""
        return self._pieces["global_step"]

    @property
    def saver(self) -> Any:
        """The saver."""
        return self._pieces["saver"]

    @property
    def save_model_secs(self) -> float | None:
        """Seconds between checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """First part of the checkpoints' paths."""
        return self._save_path

    # ---- sessions ----------------------------------------------------------------------------

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session whose model is ready: a chief makes it so, others wait.

        Args:
          master: target of the session.
          config: a ``ConfigProto`` for it.
          wait_for_checkpoint: whether a chief waits until there is a checkpoint.
          max_wait_secs: the longest wait, in seconds.
          start_standard_services: whether to start the threads that save and summarize, and the
            queue runners.

        Raises:
          tf.errors.DeadlineExceededError: the chief did not make the model ready in time.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs,
                config=config, init_feed_dict=self._init_feed_dict, init_fn=self._init_fn,
            )  # fmt: skip
            self._write_graph()
            if start_standard_services:
                _log.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            _log.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A context with a session that is ready; at its end all threads stop.

        Args:
          master: target of the session.
          config: a ``ConfigProto`` for it.
          start_standard_services: as of ``prepare_or_wait_for_session``.
          close_summary_writer: whether the event file is closed at the end.

        Raises:
          What the block or a thread raised, whichever came first, unless it says that data ended.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with contextlib.suppress(Exception):
                        sess.close()

    def _write_graph(self) -> None:
        if self._logdir:
            graph_def = self._graph.as_graph_def(add_shapes=True)
            write_graph(graph_def, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            saver_def = self.saver.saver_def if self.saver else None
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(
                export_meta_graph(graph=self._graph, saver_def=saver_def)
            )
            self._graph_added_to_summary = True

    # ---- threads -----------------------------------------------------------------------------

    def start_standard_services(self, sess: Session) -> list[LooperThread] | None:
        """Starts the threads of a chief that summarize, count steps and save.

        Args:
          sess: the session.

        Returns:
          The threads; None without ``logdir``.

        Raises:
          RuntimeError: this is no chief.
        """
        if not self._is_chief:
            raise RuntimeError("only a chief saves and summarizes; this Supervisor is no chief")
        if not self._logdir:
            _log.warning("the standard services of a Supervisor need its logdir; none was given")
            return None
        if self.global_step is not None and self._summary_writer:
            step = value_of_global_step(sess, self.global_step)
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self.summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self.global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Session, queue_runners: Sequence[Any] | None = None
    ) -> list[threading.Thread]:
        """Starts the threads of queue runners.

        Args:
          sess: the session.
          queue_runners: which; default is all of the graph.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Starts a thread that calls a function every so often, until a stop is requested.

        Args:
          timer_interval_secs: seconds between calls; None means without a pause.
          target: the function.
          args: its arguments.
          kwargs: its arguments by name.
        """
        looper = LooperThread(
            self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs
        )
        looper.start()
        return looper

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Ends all threads, and closes the event file.

        Args:
          threads: wait for these as well.
          close_summary_writer: whether the event file is closed.
          ignore_live_threads: say nothing about threads that do not end.

        Raises:
          What a thread reported, or RuntimeError for threads that do not end.
        """
        self._coord.request_stop()
        try:
            self._coord.join(threads, self._stop_grace_secs, ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; as of ``Coordinator``."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context in which any exception requests a stop; as of ``Coordinator``."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Session, summary: Any, global_step: Any = None) -> None:
        """Writes a summary to the event file.

        Args:
          sess: the session.
          summary: what running a summary op gave, or a ``Summary``.
          global_step: the step that it belongs to; default is read in ``sess``.

        Raises:
          RuntimeError: there is no event file.
        """
        if not self._summary_writer:
            raise RuntimeError(
                "summaries need an event file: give the Supervisor of a chief a logdir or a"
                " summary_writer"
            )
        if global_step is None and self.global_step is not None:
            global_step = value_of_global_step(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """Calls a function with a session until the supervisor stops; again where a task was lost.

    Args:
      supervisor: the supervisor.
      train_step_fn: ``f(session, *args, **kwargs)``.
      args: more arguments for it.
      kwargs: arguments for it by name.
      master: target of the sessions.
    """
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError as error:
            _log.info("A task was lost; training goes on with a new session. Error: %s", error)


# ---- the pieces that are made by default -------------------------------------------------------


def _first(key: str) -> Any:
    """The first member of a collection, or None."""
    found = collecting.get_collection(key)
    if len(found) > 1:
        _log.info("Found %d %s operations. Returning the first one.", len(found), key)
    return found[0] if found else None


def _kept(key: str, make: Callable[[], Any]) -> Any:
    """The first member of a collection, or what ``make`` gives, which is put there."""
    found = _first(key)
    if found is None:
        found = make()
        if found is not None:
            collecting.add_to_collection(key, found)
    return found


def _local_init_op() -> Any:
    return control.group(listing.local_variables_initializer(), tables_initializer())


def _tensor_called_global_step() -> Any:
    try:
        found = scopes.get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base_dtype.name not in ("int32", "int64"):
        _log.warning("Found 'global_step' is not an int type: %s", found.dtype)
        return None
    return found


# Pieces in the order in which their nodes are added.
_PIECES: list[tuple[str, Callable[[], Any]]] = [
    (
        "ready_op",
        lambda: _kept(GraphKeys.READY_OP, initialized.report_uninitialized_variables),
    ),
    ("ready_for_local_init_op", lambda: _first(GraphKeys.READY_FOR_LOCAL_INIT_OP)),
    ("init_op", lambda: _kept(GraphKeys.INIT_OP, listing.global_variables_initializer)),
    ("local_init_op", lambda: _kept(GraphKeys.LOCAL_INIT_OP, _local_init_op)),
    (
        "saver",
        lambda: _kept(GraphKeys.SAVERS, lambda: Saver() if listing.global_variables() else None),
    ),
    ("summary_op", lambda: _kept(GraphKeys.SUMMARY_OP, merge_all)),
    ("global_step", lambda: _kept(GraphKeys.GLOBAL_STEP, _tensor_called_global_step)),
]
