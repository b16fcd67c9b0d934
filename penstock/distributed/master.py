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
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.base import errors
from penstock.base.devices import DeviceSpec
from penstock.distributed.running_step import RunningStep
from penstock.distributed.worker import Worker
from penstock.graph.graph import Graph
from penstock.graph.operation import Operation
from penstock.graph.region import inner_operations
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor
from penstock.partition.part import Part
from penstock.partition.split import partition
from penstock.placement.available import DeviceAttributes
from penstock.placement.placer import Placer
from penstock.resources import waiting
from penstock.session.build import step_to_place
from penstock.session.options import Options

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


@dataclass(frozen=True)
class _Registered:
    task: str
    handle: str
    feeds: list[int]
    fetches: list[int]


class PreparedStep:
    """A step whose parts are registered."""

    __slots__ = ("feed_count", "fetch_count", "local", "parts", "remote")

    def __init__(
        self, parts: Sequence[_Registered], me: str, feed_count: int, fetch_count: int
    ) -> None:
        self.parts = list(parts)
        self.local = next((part for part in parts if part.task == me), None)
        self.remote = [part for part in parts if part.task != me]
        self.feed_count, self.fetch_count = feed_count, fetch_count


class Master:
    """The master of one server.

    Args:
      worker: of the same server.
      peers: the other tasks.
    """

    def __init__(self, worker: Worker, peers: Peers) -> None:
        self.worker, self.peers = worker, peers
        self._numbers = itertools.count((secrets.randbits(31) << 32) + 1)
        self._sessions: dict[str, MasterSession] = {}

    def session(self, graph: Graph, options: Options, config: Any) -> MasterSession:
        """A new session."""
        made = MasterSession(self, graph, options, config)
        self._sessions[made.handle] = made
        return made

    def next_number(self) -> int:
        """A number for a step, of which no other master makes the same."""
        return next(self._numbers)

    def forget(self, session: MasterSession) -> None:
        """The session is closed."""
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
        """Ends all sessions and drops the state in the containers (all, if none is named)."""
        for session in list(self._sessions.values()):
            session.end(errors.AbortedError(None, None, "the server's containers were reset"))
        for task in self.tasks_seen(filters):
            if task == self.worker.task:
                self.worker.clear_containers(containers)
            else:
                self.peers.clear_containers(task, containers)


def _filter(text: str) -> DeviceSpec:
    try:
        return DeviceSpec.from_string(text)
    except ValueError as error:
        raise errors.InvalidArgumentError(
            None, None, f"Invalid device filter {text!r} in the session's config: {error}"
        ) from None


class MasterSession:
    """A session that a master runs.

    Args:
      master: of the server whose target the session names.
      graph: the user's graph, or a copy of it that ``extend`` replaces.
      options, config: the session's; ``config`` a ConfigProto or None.
    """

    def __init__(self, master: Master, graph: Graph, options: Options, config: Any) -> None:
        worker = master.worker
        self.handle = f"{secrets.token_hex(8)}.{worker.incarnation:x}@{worker.task}"
        self.graph = graph
        self._master, self._options = master, options
        self._config: bytes = config.SerializeToString() if config is not None else b""
        self._filters = list(config.device_filters) if config is not None else []
        master.tasks_seen(self._filters)  # refuses what is no filter
        # The ToFP16 and ToFP32 of the talks, around every edge between tasks.
        self._compress = bool(config is not None and config.graph_options.enable_bfloat16_sendrecv)
        self._isolated = bool(config is not None and config.isolate_session_state)
        self._lock = threading.RLock()
        self._placer = Placer(
            worker.devices,
            worker.task,
            soft=bool(config is not None and config.allow_soft_placement),
            log=bool(config is not None and config.log_device_placement),
        )
        self._handles: dict[str, list[str]] = {}
        self._ended: errors.AbortedError | errors.CancelledError | None = None

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
        with self._lock:
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
            for device in (
                worker.devices if task == worker.task else self._master.peers.devices(task)
            )
        )
        return self._placer.place(step)

    def _tasks_of(self, step: StepGraph) -> list[str]:
        """The own task and those that the step's devices name."""
        me = self._master.worker.task
        seen = self._master.tasks_seen(self._filters)
        names = {op.device for op in _all_operations(step)} - {""}
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
                lambda: master.peers.register(part.task, self.handle, part, self._config)
            )
        self._handles.setdefault(part.task, []).append(handle)
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
        self._check_open()
        number = self._master.next_number()
        worker, peers = self._master.worker, self._master.peers
        # Tensors for the caller come to this task under the step's number.
        entered = worker.table.open(number)
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
            raise
        finally:
            worker.table.close(entered)
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
        """Ends the session; every later step raises ``error``."""
        with self._lock:
            if self._ended is None:
                self._ended = error
            handles, self._handles = self._handles, {}
        self._master.forget(self)
        for task, each in handles.items():
            if task == self._master.worker.task:
                self._master.worker.deregister(each)
            else:
                self._master.peers.deregister(task, each)

    def _check_open(self) -> None:
        if self._ended is not None:
            raise type(self._ended)(None, None, self._ended.message)

    def _watched(self, call: Callable[[], Any]) -> Any:
        """Calls; an AbortedError means that a task lost its state, and the session with it."""
        try:
            return call()
        except errors.AbortedError as error:
            self._ended = error
            raise


def _answer_to(running: RunningStep, task: str) -> Answer:
    def answer(values: Any, metadata: Any) -> None:
        if isinstance(values, errors.OpError):
            running.failed(task, values)
        else:
            running.done(task, values, metadata)

    return answer


def _all_operations(step: StepGraph) -> list[Operation]:
    return [inner for op in step.operations for inner in (op, *inner_operations(op))]
