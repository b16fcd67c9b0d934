"""A master: it prunes, places and partitions each step once, and runs it by handle ever after.

State of a session: its graph, where stateful nodes were put, and the registered parts of each step
that it has prepared.  A session that has lost state, because a task that it uses was started anew,
ends every later step with AbortedError: whoever holds it makes a new one and restores.

    prepare: graph -> prune -> place -> partition -> Register at each task
    run:     feeds -> Run at each task (the own one in the caller's thread) -> fetches
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.cluster.distributed.running_step import GRACE_SECONDS, RunningStep
from penstock.cluster.distributed.step_table import Step
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.partition.part import Part
from penstock.compiler.partition.split import partition
from penstock.compiler.placement.available import DeviceAttributes
from penstock.compiler.placement.place import Placer
from penstock.engine.resources import waiting
from penstock.engine.session.options import ConfigProto, Options, options_of
from penstock.engine.session.task_parts import step_to_place
from penstock.foundation.base import errors
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

Answer = Callable[[Any, Any], None]


class Peers(Protocol):
    """The other tasks, as a master reaches them."""

    def tasks(self, job: str | None, index: int | None, replica: int | None) -> list[str]:
        """Full names of the cluster's tasks that have these parts."""

    def devices(self, task: str) -> list[DeviceAttributes]:
        """A task's devices; waits for its server to be up."""

    def register(self, task: str, session: str, part: Part, config: bytes) -> str:
        """Registers a part there; returns its handle."""

    def start(
        self, task: str, handle: str, number: int, args: Sequence[Any], seconds: float | None,
        trace: int, answer: Answer,
    ) -> None:  # fmt: skip
        """Runs a part there; ``answer(values, metadata)`` or ``answer(OpError, None)`` follows."""

    def explain(self, task: str, handle: str) -> str:
        """The program of a part there."""

    def cancel(self, task: str, number: int, error: errors.OpError) -> None:
        """Tells a task to stop its part of a step; does not wait."""

    def deregister(self, task: str, handles: Sequence[str]) -> None:
        """Forgets parts there; does not wait."""

    def clear_containers(self, task: str, containers: Sequence[str]) -> None:
        """Drops state there."""


class _Task(Protocol):
    """This server as a task of a cluster."""

    worker: Worker
    peers: Any


Leave = Callable[[Callable[[], None]], None]
Lead = Callable[[Any, str], tuple[_Task, Leave]]


@dataclass(frozen=True)
class _Registered:
    task: str
    handle: str
    feeds: list[int]
    fetches: list[int]


class PreparedStep:
    """A step whose parts are registered."""

    __slots__ = ("alone", "feed_count", "fetch_count", "local", "parts", "remote")

    def __init__(
        self, parts: Sequence[_Registered], me: str, feed_count: int, fetch_count: int
    ) -> None:
        self.parts = list(parts)
        self.local = next((part for part in parts if part.task == me), None)
        self.remote = [part for part in parts if part.task != me]
        self.feed_count, self.fetch_count = feed_count, fetch_count
        # The only part, if it takes and gives all in the order of the step.
        only = self.local if len(self.parts) == 1 else None
        whole = list(range(feed_count)), list(range(fetch_count))
        self.alone = only if only is not None and (only.feeds, only.fetches) == whole else None


class Master:
    """The master of one server.

    Args:
      worker: of the same server.
      peers: the other tasks.
      defaults: a ConfigProto with what holds for sessions whose own does not say it.
      lead: ``(config, target) -> (task, leave)`` makes the server a task of the cluster that a
        session's config names; ``propagated.Memberships.lead``.
    """

    def __init__(
        self, worker: Worker, peers: Peers, defaults: Any = None, lead: Lead | None = None
    ) -> None:
        self._lead = lead
        self.worker, self.peers = worker, peers
        self._defaults = defaults if defaults is not None and defaults.ByteSize() else None
        self._numbers = itertools.count((secrets.randbits(31) << 32) + 1)
        self._sessions: dict[str, MasterSession] = {}

    def session(
        self, graph: Graph, options: Options, config: Any, target: str = ""
    ) -> MasterSession:
        """A new session; ``target`` is the "host:port" by which its client knows this server."""
        if self._defaults is not None:
            config = _merged(self._defaults, config)
            options = options_of(config)
        made = self._made(graph, options, config, target)
        self._sessions[made.handle] = made
        return made

    def _made(self, graph: Graph, options: Options, config: Any, target: str) -> MasterSession:
        if config is None or not config.HasField("cluster_def") or self._lead is None:
            return MasterSession(self, graph, options, config, self._forget)
        task, leave = self._lead(config, target)

        def ended(session: MasterSession) -> None:
            self._forget(session)
            # Its steps tell others that they end, and hear of it.
            leave(session.settle)

        return MasterSession(Master(task.worker, task.peers), graph, options, config, ended)

    def session_count(self) -> int:
        """How many sessions have not ended."""
        return len(self._sessions)

    def next_number(self) -> int:
        """A number for a step, of which no other master makes the same."""
        return next(self._numbers)

    def _forget(self, session: MasterSession) -> None:
        self._sessions.pop(session.handle, None)

    def list_devices(self, filters: Sequence[str] = ()) -> list[DeviceAttributes]:
        """All devices of the cluster, or of the tasks that the filters let through."""
        found = []
        for task in self.tasks_seen(filters):
            own = task == self.worker.task
            found.extend(self.worker.devices if own else self.peers.devices(task))
        return found

    def tasks_seen(self, filters: Sequence[str]) -> list[str]:
        """The tasks of the cluster that a session with these device filters uses."""
        tasks = self.peers.tasks(None, None, None)
        if not filters:
            return tasks
        specs = [_filter(each) for each in filters]
        chosen = {
            task for spec in specs for task in self.peers.tasks(spec.job, spec.task, spec.replica)
        }
        return [task for task in tasks if task in chosen or task == self.worker.task]

    def reset(self, containers: Sequence[str], filters: Sequence[str] = ()) -> None:
        """Ends all sessions and drops the state in the containers.

        Args:
          containers: their names; the job's name, or none at all, means what has no other.
          filters: device filters that choose the tasks.
        """
        for session in list(self._sessions.values()):
            session.end(
                errors.AbortedError(
                    None, None, f"Session {session.handle} is not found: the server's containers"
                    " were reset",
                )
            )  # fmt: skip
        for task in self.tasks_seen(filters):
            if task == self.worker.task:
                self.worker.clear_containers(containers)
            else:
                self.peers.clear_containers(task, containers)


def _filter(text: str) -> DeviceSpec:
    try:
        return DeviceSpec.from_string(text)
    except ValueError as error:
        raise errors.invalid(
            f"Invalid device filter {text!r} in the session's config: {error}"
        ) from None


class MasterSession:
    """A session that a master runs.

    Args:
      master: of the server whose target the session names.
      graph: the user's graph, or a copy of it that ``extend`` replaces.
      options, config: the session's; ``config`` a ConfigProto or None.
      ended: called with the session when it has ended.
    """

    def __init__(
        self,
        master: Master,
        graph: Graph,
        options: Options,
        config: Any,
        ended: Callable[[MasterSession], None],
    ) -> None:
        worker = master.worker
        self.handle = f"{secrets.token_hex(8)}.{worker.incarnation:x}@{worker.task}"
        self.graph = graph
        self._master, self._options, self._on_end = master, options, ended
        self._config: bytes = config.SerializeToString() if config is not None else b""
        self._filters = list(config.device_filters) if config is not None else []
        master.tasks_seen(self._filters)  # refuses what is no filter
        # The ToFP16 and ToFP32 of the talks, around every edge between tasks.
        self._compress = bool(config is not None and config.graph_options.enable_bfloat16_sendrecv)
        self._isolated = bool(config is not None and config.isolate_session_state)
        self._seconds = options.timeout_in_ms / 1000 if options.timeout_in_ms > 0 else None
        self._lock = waiting.StepLock()
        self._placer = Placer(
            worker.devices,
            worker.task,
            soft=bool(config is not None and config.allow_soft_placement),
            log=bool(config is not None and config.log_device_placement),
        )
        self._handles: dict[str, list[str]] = {}
        # Which process each task was when the session first used it, as handles name it.
        self._pinned: dict[str, str] = {}
        self._ended: errors.AbortedError | errors.CancelledError | None = None
        self._over = False
        # What cancels each step that is prepared or run now.
        self._cancels: dict[object, Callable[[errors.OpError], None]] = {}
        self._cancels_lock = threading.RLock()
        self._cancels_changed = threading.Condition(self._cancels_lock)

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of all tasks that the session may use."""
        with waiting.running(seconds=self._default_seconds()):
            return self._master.list_devices(self._filters)

    # ---- preparing ---------------------------------------------------------------------------

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        done: frozenset[Operation] = frozenset(),
    ) -> PreparedStep:
        """Prunes, places, partitions and registers a step.

        Raises:
          tf.errors.OpError: it cannot be placed, or a task that it needs cannot be reached.
        """
        cancellation = waiting.Cancellation()
        with (
            self._until_ended(lambda error: cancellation.cancel(error.message)),
            waiting.running(cancellation, self._default_seconds()),
            self._lock,
        ):
            self._check_open()
            step = step_to_place(self.graph, feeds, fetches, targets, done)
            placement = self._placed(step)
            parts = partition(step, placement, compress=self._compress)
            registered = [self._register(part) for part in parts]
            return PreparedStep(registered, self._master.worker.task, len(feeds), len(fetches))

    def _placed(self, step: StepGraph) -> dict[Operation, str]:
        worker = self._master.worker
        self._placer.devices = tuple(
            device
            for task in self._tasks_of(step)
            for device in (worker.devices if task == worker.task else self._devices_of(task))
        )
        return self._placer.place(step)

    def _devices_of(self, task: str) -> list[DeviceAttributes]:
        devices = self._master.peers.devices(task)
        if task in self._pinned and devices:
            self._watched(self._pin, task, f"{devices[0].incarnation:x}")
        return devices

    def _pin(self, task: str, incarnation: str) -> None:
        """The session uses a task, which must be the same process each time.

        What it has left there would else be missing, or be what others made anew.
        """
        if self._pinned.setdefault(task, incarnation) != incarnation:
            raise errors.AbortedError(
                None, None, f"{task} has been restarted since the session first used it, and its"
                " state is lost; make a new session",
            )  # fmt: skip

    def _tasks_of(self, step: StepGraph) -> list[str]:
        """The own task and those that the step's devices name."""
        me = self._master.worker.task
        seen = self._master.tasks_seen(self._filters)
        names = {op.device for op in step.every_operation()} - {""}
        chosen = {me}
        for spec in map(DeviceSpec.from_string, names):
            if (spec.job, spec.replica, spec.task) != (None, None, None):
                chosen.update(self._master.peers.tasks(spec.job, spec.task, spec.replica))
        return [me, *(task for task in seen if task in chosen and task != me)]

    def _register(self, part: Part) -> _Registered:
        master = self._master
        if part.task == master.worker.task:
            handle = master.worker.register(
                self.handle, part, self._options, isolated=self._isolated
            )
        else:
            handle = self._watched(
                master.peers.register, part.task, self.handle, part, self._config
            )
        self._handles.setdefault(part.task, []).append(handle)
        self._watched(self._pin, part.task, handle.partition("/")[0])
        return _Registered(part.task, handle, part.feeds, part.fetches)

    # ---- running -----------------------------------------------------------------------------

    def run(
        self, step: PreparedStep, args: Sequence[Any], trace: int = 0
    ) -> tuple[list[Any], dict[str, Any]]:
        """Runs a prepared step in this thread, under its ``resources.waiting`` bounds.

        Returns:
          Run-time values of the fetches, and for a traced step what each task recorded.

        Raises:
          tf.errors.OpError: a part failed, a task was lost, or the step was cancelled.
        """
        # Tensors for the caller come to this task under the step's number.
        table, seconds = self._master.worker.table, self._default_seconds()
        entered = table.open(self._master.next_number())
        try:
            with self._until_ended(entered.fail):
                alone = None if trace else step.alone
                if alone is not None and seconds is None:
                    return self._run_alone(entered, alone, args), {}
                with waiting.running(entered.cancellation, seconds):
                    if alone is not None:
                        return self._run_alone(entered, alone, args), {}
                    return self._run_entered(entered, step, args, trace)
        finally:
            table.close(entered)

    def _run_alone(self, entered: Step, part: _Registered, args: Sequence[Any]) -> list[Any]:
        """Runs a step that no other task has a part of: there is nobody to agree with."""
        worker = self._master.worker
        try:
            registered = self._watched(worker.registered, part.handle)
            return list(worker.run_entered(registered, entered, args))
        except errors.OpError as error:
            entered.fail(error)
            raise _why(entered, error) from None

    def _run_entered(
        self, entered: Step, step: PreparedStep, args: Sequence[Any], trace: int
    ) -> tuple[list[Any], dict[str, Any]]:
        number = entered.number
        worker, peers = self._master.worker, self._master.peers
        running = RunningStep(
            [part.task for part in step.parts],
            lambda task, error: (
                entered.fail(error) if task == worker.task else peers.cancel(task, number, error)
            ),
        )
        try:
            self._start_remote(step, running, number, args, trace)
            if step.local is not None:
                self._run_local(step.local, running, number, args, trace)
            self._watched(running.wait)
        except errors.OpError as error:
            # What other tasks still send to the step is to be dropped.
            entered.fail(error)
            raise _why(entered, error) from None
        values: list[Any] = [None] * step.fetch_count
        for part in step.parts:
            for index, value in zip(part.fetches, running.values[part.task], strict=True):
                values[index] = value
        return values, running.metadata

    def _start_remote(
        self, step: PreparedStep, running: RunningStep, number: int, args: Sequence[Any], trace: int
    ) -> None:
        seconds = waiting.seconds_left()
        for part in step.remote:
            given = [args[index] for index in part.feeds]
            try:
                self._master.peers.start(
                    part.task, part.handle, number, given, seconds, trace,
                    _answer_to(running, part.task),
                )  # fmt: skip
            except errors.OpError as error:
                running.failed(part.task, error)

    def _run_local(
        self,
        part: _Registered,
        running: RunningStep,
        number: int,
        args: Sequence[Any],
        trace: int,
    ) -> None:
        worker = self._master.worker
        given = [args[index] for index in part.feeds]
        try:
            if trace:
                running.done(part.task, *worker.run_traced(part.handle, number, given, trace))
            else:
                running.done(part.task, worker.run(part.handle, number, given))
        except errors.OpError as error:
            running.failed(part.task, error)
        except BaseException as error:
            running.failed(part.task, errors.CancelledError(None, None, f"interrupted: {error!r}"))
            raise

    def explain(self, step: PreparedStep) -> str:
        """The programs of a step's parts, those of other tasks asked from them."""
        worker, peers = self._master.worker, self._master.peers
        texts = [
            worker.explain(part.handle)
            if part.task == worker.task
            else peers.explain(part.task, part.handle)
            for part in step.parts
        ]
        pairs = zip(step.parts, texts, strict=True)
        return "\n".join(f"# {part.task}\n{text}" for part, text in pairs)

    # ---- ending ------------------------------------------------------------------------------

    def close(self) -> None:
        """Forgets the session's parts everywhere; steps that run end with CancelledError."""
        self.end(errors.CancelledError(None, None, "the session was closed"))

    def end(self, error: errors.AbortedError | errors.CancelledError) -> None:
        """Ends the session: steps that run are cancelled, and every later one raises ``error``."""
        with self._cancels_lock:
            if self._ended is None:
                self._ended = error
            first, self._over = not self._over, True
            cancels = list(self._cancels.values())
        for cancel in cancels:
            cancel(
                errors.CancelledError(
                    None, None, "Step was cancelled by an explicit call to `Session::Close()`:"
                    f" {error.message}",
                )
            )  # fmt: skip
        with self._lock:
            handles, self._handles = self._handles, {}
        for task, each in handles.items():
            if task == self._master.worker.task:
                self._master.worker.deregister(each)
            else:
                self._master.peers.deregister(task, each)
        if first:
            self._on_end(self)

    def settle(self) -> None:
        """Waits until the steps of an ended session have ended, as long as they may take."""
        with self._cancels_lock:
            self._cancels_changed.wait_for(lambda: not self._cancels, 2 * GRACE_SECONDS)

    def _until_ended(self, cancel: Callable[[errors.OpError], None]) -> AbstractContextManager[Any]:
        """Calls ``cancel`` if the session ends meanwhile, or its caller's step is cancelled."""
        return _UntilEnded(self, cancel, waiting.current_cancellation())

    def _default_seconds(self) -> float | None:
        """The time of a step that has no deadline of its own."""
        return None if waiting.has_deadline() else self._seconds

    def _check_open(self) -> None:
        if self._ended is not None:
            raise type(self._ended)(None, None, self._ended.message)

    def _watched(self, call: Callable[..., Any], *args: Any) -> Any:
        """Calls; an AbortedError means that a task lost its state, and the session with it."""
        try:
            return call(*args)
        except errors.AbortedError as error:
            with self._cancels_lock:
                if self._ended is None:  # else it was ended before, and tasks forget its parts
                    self._ended = error
            raise


class _UntilEnded:
    """What ends with a session, or the step of its caller; no generator: each step has one."""

    __slots__ = ("_callers", "_cancel", "_session")

    def __init__(
        self,
        session: MasterSession,
        cancel: Callable[[errors.OpError], None],
        callers: waiting.Cancellation | None,
    ) -> None:
        self._session, self._cancel, self._callers = session, cancel, callers

    def wake(self) -> None:
        """The caller's step is cancelled, which tells those that wait in it."""
        why = None if self._callers is None else self._callers.reason
        self._cancel(errors.CancelledError(None, None, str(why)))

    def __enter__(self) -> None:
        session = self._session
        with session._cancels_lock:
            if session._ended is not None:
                session._check_open()
            session._cancels[self] = self._cancel
        if self._callers is not None:
            self._callers.enter(self)

    def __exit__(self, *exc: Any) -> None:
        if self._callers is not None:
            self._callers.leave(self)
        session = self._session
        with session._cancels_lock:
            del session._cancels[self]
            if session._over:  # only then does somebody wait for it
                session._cancels_changed.notify_all()


def _merged(defaults: Any, config: Any) -> Any:
    """A session's config with a server's defaults for what it does not say."""
    made = ConfigProto()
    made.CopyFrom(defaults)
    if config is not None:
        if config.device_filters:
            del made.device_filters[:]
        made.MergeFrom(config)
    return made


def _why(entered: Step, error: errors.OpError) -> errors.OpError:
    """The error of a step in which one was raised.

    A cancelled step says why; so does one whose session ended, even if a task that has forgotten
    its part by then was heard first.
    """
    why = entered.error
    if isinstance(error, errors.CancelledError) or isinstance(why, errors.CancelledError):
        return why or error
    return error


def _answer_to(running: RunningStep, task: str) -> Answer:
    def answer(values: Any, metadata: Any) -> None:
        if isinstance(values, errors.OpError):
            running.failed(task, values)
        else:
            running.done(task, values, metadata)

    return answer
