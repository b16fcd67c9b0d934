"""A worker: it keeps the state of one task and runs that task's parts of steps.

A master registers a part once and runs it by handle.  A handle holds the number that this server
drew when it started, so that one given out before a restart is known as such.

State: the resources (shared by all sessions unless one is isolated), registered parts by handle,
for each session the state of its nodes, and the steps that run.
"""

from __future__ import annotations

import itertools
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from penstock.cluster.distributed.step_table import Step, StepTable
from penstock.cluster.distributed.tally import Tally
from penstock.compiler.codegen.source import Watch
from penstock.compiler.partition.part import Part
from penstock.compiler.placement.available import DeviceAttributes
from penstock.engine.resources import rendezvous, threads, waiting
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime.program import Program, execute
from penstock.engine.session import tracing
from penstock.engine.session.options import Options
from penstock.engine.session.prepared import ShapedPrograms
from penstock.engine.session.task_parts import program_of_step
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.tensor import Tensor

# A part that takes no longer is run by the thread that hears of it.
_QUICK_SECONDS = 200e-6
# Tensors that links take without waiting.
_SMALL_BYTES = 2048


@dataclass
class _SessionState:
    """What a session has here besides shared state."""

    resources: ResourceManager
    private: dict[str, Any] = field(default_factory=dict)
    handles: set[str] = field(default_factory=set)


class RegisteredPart:
    """A part that can be run; compiled when it first runs, for the shapes that are fed."""

    def __init__(self, part: Part, session: str, state: _SessionState, options: Options) -> None:
        self.part, self.session = part, session
        self._state, self._options = state, options
        self.peers = frozenset(_peers(part))
        # Seconds that it took when it last ran; what may wait or grow is never quick.
        self.took = math.inf if _is_plain(part) else math.nan
        self._programs: dict[Watch, ShapedPrograms] = {"": self._make("")}

    def program(self, args: Sequence[Any], watch: Watch = "") -> Program:
        """The program for these values of the part's feeds."""
        programs = self._programs.get(watch)
        if programs is None:
            programs = self._programs.setdefault(watch, self._make(watch))
        return programs.program(args)

    def explain(self) -> str:
        """The text of the program for feeds of any shapes."""
        return self._programs[""].general().explain()

    def _make(self, watch: Watch) -> ShapedPrograms:
        return ShapedPrograms(
            self.part.step.feeds,
            lambda shapes: program_of_step(
                self.part.step, self._state.resources, self._options,
                shapes=shapes, watch=watch, private=self._state.private,
            ),
        )  # fmt: skip


class Worker:
    """The worker of one task.

    Args:
      task: its full name, "/job:worker/replica:0/task:0".
      devices: what it has.
      send: ``(task, step, edge, value)`` pushes a tensor to another task.
      tally: of the server that it works for; None: one of its own.
    """

    def __init__(
        self,
        task: str,
        devices: Sequence[DeviceAttributes],
        send: Callable[[str, int, str, Any], None],
        tally: Tally | None = None,
    ) -> None:
        self.task = task
        self.incarnation = secrets.randbits(63)
        self.devices = [device._replace(incarnation=self.incarnation) for device in devices]
        self.resources = ResourceManager()
        self.tally = tally or Tally()
        self.table = StepTable(send, tally=self.tally)
        self._lock = threading.Lock()
        self._parts: dict[str, RegisteredPart] = {}
        self._sessions: dict[str, _SessionState] = {}
        self._numbers = itertools.count(1)

    def register(
        self, session: str, part: Part, options: Options, *, isolated: bool = False
    ) -> str:
        """Keeps a part; returns its handle."""
        self.deregister_earlier(session)
        with self._lock:
            state = self._sessions.get(session)
            if state is None:
                resources = ResourceManager() if isolated else self.resources
                state = self._sessions[session] = _SessionState(resources)
            handle = f"{self.incarnation:x}/{next(self._numbers)}"
            state.handles.add(handle)
            self._parts[handle] = RegisteredPart(part, session, state, options)
            return handle

    def deregister(self, handles: Iterable[str]) -> None:
        """Forgets parts; the last one of a session takes the session's own state along."""
        with self._lock:
            for handle in handles:
                part = self._parts.pop(handle, None)
                if part is None:
                    continue
                state = self._sessions[part.session]
                state.handles.discard(handle)
                if not state.handles:
                    del self._sessions[part.session]

    def deregister_earlier(self, session: str) -> None:
        """Forgets the parts of masters that ran where this session's does, before it started.

        A master that is killed says no farewell; the one that takes its place does it.
        """
        started, task = _master_of(session)
        with self._lock:
            gone = [
                handle
                for name, state in self._sessions.items()
                if _master_of(name)[1] == task and _master_of(name)[0] != started
                for handle in state.handles
            ]
        self.deregister(gone)

    def clear_containers(self, containers: Iterable[str]) -> None:
        """Drops the state in containers.

        What is made in none is in that of the job's name, which is also meant where none is named.
        """
        job = DeviceSpec.from_string(self.task).job or ""
        named = set(containers) or {job}
        # "" as a name is none, as in TensorFlow: nothing can be in it.
        self.resources.clear((named - {""}) | ({""} if job in named else set()))

    def registered(self, handle: str) -> RegisteredPart:
        """The part of a handle.

        Raises:
          tf.errors.AbortedError: this server has been started since the handle was given out, or
            the session was closed.
        """
        part = self._parts.get(handle)
        if part is not None:
            return part
        if handle.partition("/")[0] != f"{self.incarnation:x}":
            why = "it has been restarted since, and its state is lost"
        else:
            why = "the session that registered it was closed"
        raise errors.AbortedError(
            None, None, f"{self.task} does not know graph {handle!r}: {why}; make a new session"
        )

    def is_quick(self, handle: str) -> bool:
        """Whether a part ends in no time, so that a thread of its own would cost more."""
        part = self._parts.get(handle)
        return part is not None and part.took < _QUICK_SECONDS

    def run(
        self,
        handle: str,
        number: int,
        args: Sequence[Any],
        seconds: float | None = None,
        leader: str = "",
        observe: Callable[[Program, Sequence[Any]], Any] | None = None,
    ) -> tuple[Any, ...]:
        """Runs a part in this thread.

        Args:
          handle: from ``register``.
          number: of the step; the same at all its tasks.
          args: run-time values of the part's feeds.
          seconds: that it may take.
          leader: the task of the master, without which the step cannot go on.
          observe: makes an observer for a traced run.

        Returns:
          Run-time values of the part's fetches.

        Raises:
          tf.errors.OpError: a node failed, or the step was cancelled.
        """
        part = self.registered(handle)
        step = self.table.open(number, part.peers | {leader} - {""})
        try:
            return self.run_entered(part, step, args, seconds, observe)
        finally:
            self.table.close(step)

    def run_entered(
        self,
        part: RegisteredPart,
        step: Step,
        args: Sequence[Any],
        seconds: float | None = None,
        observe: Callable[[Program, Sequence[Any]], Any] | None = None,
    ) -> tuple[Any, ...]:
        """Runs a part in this thread, whose step somebody has entered; else as ``run``."""
        try:
            with waiting.running(step.cancellation, seconds):
                watch: Watch = "observe" if observe else ("deadline" if seconds else "")
                program = part.program(args, watch)
                given = [*args, observe(program, args)] if observe else args
                if not (part.peers or program.feeds):
                    return _executed(part, program, given)
                alone = threads.computing_alone() if program.feeds else nullcontext()
                with rendezvous.running(step), alone:
                    return _executed(part, program, given)
        except errors.CancelledError as error:
            # What cancelled the step says more than the op that noticed it.
            raise step.error or error from None
        except errors.OpError as error:
            # What waits here for this part (another's end of a link) must not wait on.
            step.fail(error)
            raise

    def run_traced(
        self,
        handle: str,
        number: int,
        args: Sequence[Any],
        bits: int,
        seconds: float | None = None,
        leader: str = "",
    ) -> tuple[tuple[Any, ...], bytes]:
        """``run``, with a RunMetadata of the parts that ``bits`` names (``session.tracing``)."""
        return tracing.run_part(
            lambda observe: self.run(handle, number, args, seconds, leader, observe),
            self.registered(handle).part.step.graph,
            self.devices[0].name,
            bits,
        )

    def explain(self, handle: str) -> str:
        """The program of a part, for feeds of any shapes."""
        return self.registered(handle).explain()

    def counts(self) -> dict[str, int]:
        """How much is registered and running, for tests and status pages."""
        with self._lock:
            held = {"graphs": len(self._parts), "sessions": len(self._sessions)}
        return {**held, **self.table.counts()}

    def managers(self) -> list[ResourceManager]:
        """What holds state here: the server's own, and those of isolated sessions."""
        with self._lock:
            kept = {id(state.resources): state.resources for state in self._sessions.values()}
        return list({**kept, id(self.resources): self.resources}.values())


def _executed(part: RegisteredPart, program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    if math.isnan(part.took):
        return execute(program, args)
    begin = time.perf_counter()
    values = execute(program, args)
    part.took = time.perf_counter() - begin
    return values


def _is_plain(part: Part) -> bool:
    """Whether nothing in a part waits, and all that enters and leaves it is known to be small."""
    moved = [*part.step.feeds, *part.step.fetches]
    for op in part.step.operations:
        if op.op_def.blocking or blocks_of(op):
            return False
        if op.op_def.role == "send":
            moved.append(op.inputs[0])
    return all(_is_small(tensor) for tensor in moved)


def _is_small(tensor: Tensor) -> bool:
    dims = tensor.sizes
    if dims is None or None in dims or tensor.dtype.base_dtype is dtypes.string:
        return False
    return math.prod(dims) * tensor.dtype.size <= _SMALL_BYTES  # type: ignore[arg-type]


def _master_of(session: str) -> tuple[str, str]:
    """Incarnation and task of the master in a session handle, "RANDOM.INCARNATION@TASK"."""
    made, _, task = session.partition("@")
    return made.rpartition(".")[2], task


def _peers(part: Part) -> set[str]:
    found = set()
    for op in part.step.every_operation():
        found.add(_peer(op))
    return found - {""}


def _peer(op: Operation) -> str:
    role = op.op_def.role
    if role not in ("send", "recv"):
        return ""
    device: str = op.attrs["recv_device" if role == "send" else "send_device"]
    return device.rpartition("/device:")[0]
