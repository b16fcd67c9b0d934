"""What to start, restart and stop: a state machine of a job, without I/O.

Events go in, instructions come out; the driver that carries them out tells the time.

State of the job (``phase``)::

    PLACING ---all placed---> RUNNING ---all workers done, or one failed for good---> STOPPING
       ^                         |                                                       |
       +-----all stopped---- GATHERING <---a task's place is lost---                   ENDED

State of a task: ``IDLE`` (not started, or stopped in order to start again), ``RUNNING``,
``WAITING`` (for its back-off to end), ``DONE`` (exited with 0), ``FAILED``, ``STOPPED``.

A task that exits with anything but 0 starts again at the same address, after a back-off that
doubles with each failure; one failure too many stops the job.  A task whose place is lost (the
node it ran on died) gets another one, hence another address, which all others must learn:
everyone is stopped, and started again with the new cluster once all have a place.  Programs go on
from their last checkpoint.  A failure is forgotten once the task has run for ``forget_after``.

A parameter server that has ended well is not needed any more, unless a worker starts again: then it
does too, or soon, where it ends only after the worker has begun.

The job is done when the chief and all workers are.  The evaluator then has ``evaluator_wait`` to
look at the last checkpoint, and whatever still runs is stopped: asked first, killed after
``grace``.  Every state that waits has a deadline (``Supervisor.deadline``).  A task whose heartbeat
was heard once and then stays away for ``stuck_after`` is killed, and starts again like one that
failed.
"""

from __future__ import annotations

import enum
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.cluster.launch.job import CHIEF, EVALUATOR, PS, WORKER, Task


@dataclass(frozen=True)
class Policy:
    """How patient a job is; times in seconds.

    Args:
      restarts: how many failures of one task are made good.
      backoff: wait before the first restart; doubles with every further one.
      backoff_limit: the longest such wait.
      forget_after: a task that ran so long starts with a clean record.
      grace: how long a task that was asked to stop may take.
      evaluator_wait: how long the evaluator may go on when all others are done.
      place_timeout: how long finding places for tasks may take.
      stuck_after: how long a task whose heart has begun to beat may be silent; 0: for ever.
    """

    restarts: int = 3
    backoff: float = 1.0
    backoff_limit: float = 30.0
    forget_after: float = 600.0
    grace: float = 10.0
    evaluator_wait: float = 60.0
    place_timeout: float = 300.0
    stuck_after: float = 0.0


# ---- events ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begin:
    """The job begins."""


@dataclass(frozen=True)
class Placed:
    """A task has a place to run at."""

    task: Task


@dataclass(frozen=True)
class Exited:
    """A task's process ended; ``code`` is negative for a signal, as ``subprocess`` says it."""

    task: Task
    start: int
    code: int


@dataclass(frozen=True)
class Beat:
    """The process that a task was started as for the ``start``-th time still lives."""

    task: Task
    start: int


@dataclass(frozen=True)
class Lost:
    """A task's place is gone, and its process with it."""

    task: Task
    why: str


@dataclass(frozen=True)
class Interrupted:
    """Somebody wants the job to stop."""

    signal: int


@dataclass(frozen=True)
class Tick:
    """Time passed."""


Event = Begin | Placed | Exited | Beat | Lost | Interrupted | Tick

# ---- instructions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Find a place for a task, and answer Placed or Lost."""

    task: Task


@dataclass(frozen=True)
class Start:
    """Start a task for the ``start``-th time, and answer Exited when it has ended."""

    task: Task
    start: int


@dataclass(frozen=True)
class Terminate:
    """Ask a task to stop."""

    task: Task


@dataclass(frozen=True)
class Kill:
    """Kill a task."""

    task: Task


@dataclass(frozen=True)
class Say:
    """Tell the user."""

    text: str


@dataclass(frozen=True)
class End:
    """All is over: 0 done, 1 a task failed for good, 128 + n stopped by signal n."""

    code: int


Instruction = Place | Start | Terminate | Kill | Say | End

# ---- the machine -------------------------------------------------------------------------------


class Phase(enum.Enum):
    """State of the job."""

    PLACING = enum.auto()
    RUNNING = enum.auto()
    GATHERING = enum.auto()
    STOPPING = enum.auto()
    ENDED = enum.auto()


class State(enum.Enum):
    """State of a task."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass
class Record:
    """What is known of a task.

    ``due`` is when its state must have changed: the restart of a WAITING one or of a parameter
    server that was DONE too early, the end of a RUNNING one that was asked to stop (then killed,
    and given up when that does not help either).
    ``heard`` is when its heart beat last; None where that is no matter.
    """

    state: State = State.IDLE
    placed: bool = False
    starts: int = 0
    failures: int = 0
    started: float = 0.0
    code: int | None = None
    due: float | None = None
    killed: bool = False
    heard: float | None = None


@dataclass
class Supervisor:
    """The state machine.

    Args:
      tasks: the job's tasks.
      policy: its patience.
    """

    tasks: Sequence[Task]
    policy: Policy = field(default_factory=Policy)
    phase: Phase = Phase.PLACING

    def __post_init__(self) -> None:
        self.records = {task: Record() for task in self.tasks}
        # When PLACING must be over, or the evaluator.
        self._phase_due: float | None = None
        self._code = 0
        self._now = 0.0
        self._said: list[Instruction] = []

    def handle(self, event: Event, now: float) -> list[Instruction]:
        """Takes an event in.

        Args:
          event: what happened.
          now: seconds, on a clock that never goes back.

        Returns:
          What to do, in order.
        """
        self._now, self._said = now, []
        if self.phase is Phase.ENDED:
            return []
        match event:
            case Begin():
                self._place(self.tasks)
            case Placed(task):
                self.records[task].placed = True
                self._start_all_when_ready()
            case Exited(task, start, code):
                record = self.records[task]
                if record.state is State.RUNNING and record.starts == start:
                    self._exited(task, record, code)
            case Beat(task, start):
                record = self.records[task]
                if record.state is State.RUNNING and record.starts == start:
                    record.heard = now if self.policy.stuck_after else None
            case Lost(task, why):
                self._lost(task, why)
            case Interrupted(number):
                self._interrupted(number)
            case Tick():
                self._tick()
        return self._said

    def deadline(self) -> float | None:
        """When the next Tick is due, on the clock of ``handle``; None while nothing is timed."""
        times = [r.due for r in self.records.values() if r.due is not None]
        times += [due for _, _, due in self._watched()]
        if self._phase_due is not None:
            times.append(self._phase_due)
        return min(times, default=None)

    # ---- places --------------------------------------------------------------------------------

    def _place(self, tasks: Iterable[Task]) -> None:
        self._phase_due = self._now + self.policy.place_timeout
        for task in tasks:
            self.records[task].placed = False
            self._said.append(Place(task))

    def _start_all_when_ready(self) -> None:
        """Leaves PLACING once all have a place, GATHERING once nobody runs any more."""
        if self.phase is Phase.GATHERING and not self._running():
            self.phase = Phase.PLACING
        unfinished = [r for r in self.records.values() if r.state is not State.DONE]
        if self.phase is Phase.PLACING and all(r.placed for r in unfinished):
            self.phase, self._phase_due = Phase.RUNNING, None
            for task, record in self.records.items():
                if record.state is not State.DONE or (task.job == PS and self._trainers_left()):
                    self._start(task, record)
            self._end_when_done()

    def _lost(self, task: Task, why: str) -> None:
        record = self.records[task]
        if record.state is State.DONE:
            return
        was_running = record.state is State.RUNNING
        record.due, record.killed, record.placed = None, False, False
        if self.phase is Phase.STOPPING:
            record.state = State.STOPPED
            self._end_when_stopped()
            return
        record.state = State.IDLE
        if not self._another_try(task, record, f"lost its place ({why})", was_running):
            return
        if self.phase is Phase.RUNNING:
            self._say("the cluster's addresses change: all tasks start again")
            self.phase = Phase.GATHERING
            for other in self.records.values():
                if other.state is State.WAITING:
                    other.state = State.IDLE
                if other.state is not State.RUNNING:
                    other.due = None
            self._ask_to_stop()
        self._place([task])
        self._start_all_when_ready()

    # ---- starts and ends -----------------------------------------------------------------------

    def _start(self, task: Task, record: Record) -> None:
        record.state, record.due, record.killed = State.RUNNING, None, False
        record.heard = None
        record.starts += 1
        record.started = self._now
        self._said.append(Start(task, record.starts))

    def _exited(self, task: Task, record: Record, code: int) -> None:
        record.code, record.due, record.killed = code, None, False
        if self.phase is Phase.STOPPING:
            record.state = State.STOPPED
            self._end_when_stopped()
        elif self.phase is Phase.GATHERING:
            record.state = State.IDLE
            self._start_all_when_ready()
        elif code == 0:
            record.state = State.DONE
            self._say(f"{task} is done")
            if task.job == PS and self._outlived_by_a_restart(record):
                record.due = self._now + self.policy.backoff
            self._end_when_done()
        elif self._another_try(task, record, f"ended with {code_text(code)}", True):
            wait = self._backoff(record)
            record.state, record.due = State.WAITING, self._now + wait
            self._say(f"{task} starts again in {wait:g} s")

    def _outlived_by_a_restart(self, server: Record) -> bool:
        """Whether a worker that began after this server, in place of one that failed, runs on."""
        return any(r.started > server.started for r in self._trainers_left())

    def _start_again(self, task: Task, record: Record) -> None:
        """Starts a task once more, and with a worker the parameter servers that have ended."""
        if task.job in (CHIEF, WORKER):
            for other, server in self.records.items():
                if other.job == PS and server.state is State.DONE:
                    self._start_again(other, server)
        if record.state is State.DONE:
            self._say(f"{task} starts again: a worker goes on")
        self._start(task, record)

    def _trainers_left(self) -> list[Record]:
        trainers = [r for t, r in self.records.items() if t.job in (CHIEF, WORKER)]
        return [record for record in trainers if record.state is not State.DONE]

    def _another_try(self, task: Task, record: Record, what: str, was_running: bool) -> bool:
        """Counts a failure; stops the job, and returns False, when it is one too many."""
        if was_running and self._now - record.started >= self.policy.forget_after:
            record.failures = 0
        record.failures += 1
        if record.failures > self.policy.restarts:
            record.state = State.FAILED
            self._say(f"{task} {what}; it had its {self.policy.restarts} restarts: the job fails")
            self._stop(1)
            return False
        self._say(f"{task} {what}; restart {record.failures} of {self.policy.restarts}")
        return True

    def _backoff(self, record: Record) -> float:
        # The exponent is bounded: 2.0 ** 2000 is no number.
        doubled = self.policy.backoff * 2.0 ** min(record.failures - 1, 60)
        return min(self.policy.backoff_limit, doubled)

    def _end_when_done(self) -> None:
        if self.phase is not Phase.RUNNING or self._trainers_left():
            return
        evaluators = [r for t, r in self.records.items() if t.job == EVALUATOR]
        if all(r.state is State.DONE for r in evaluators) or not self.policy.evaluator_wait:
            self._stop(0)
        elif self._phase_due is None:
            self._phase_due = self._now + self.policy.evaluator_wait
            self._say(f"training is done; the evaluator has {self.policy.evaluator_wait:g} s")

    # ---- stopping ------------------------------------------------------------------------------

    def _stop(self, code: int) -> None:
        self.phase, self._phase_due, self._code = Phase.STOPPING, None, code
        for record in self.records.values():
            if record.state in (State.IDLE, State.WAITING):
                record.state = State.STOPPED
            if record.state is not State.RUNNING:
                record.due = None
        self._ask_to_stop()
        self._end_when_stopped()

    def _ask_to_stop(self) -> None:
        for task, record in self._running():
            if record.due is None:
                record.due = self._now + self.policy.grace
                self._said.append(Terminate(task))

    def _kill(self, task: Task, record: Record) -> None:
        record.due, record.killed = self._now + self.policy.grace, True
        self._said.append(Kill(task))

    def _end_when_stopped(self) -> None:
        if self.phase is Phase.STOPPING and not self._running():
            self.phase = Phase.ENDED
            self._said.append(End(self._code))

    def _interrupted(self, number: int) -> None:
        if self.phase is not Phase.STOPPING:
            self._say(f"{signal.Signals(number).name}: stopping all tasks")
            self._stop(128 + number)
            return
        self._say(f"{signal.Signals(number).name} again: killing all tasks")
        for task, record in self._running():
            if not record.killed:
                self._kill(task, record)

    def _watched(self) -> list[tuple[Task, Record, float]]:
        """Tasks that must be heard of, until when; one that was asked to stop has its deadline."""
        return [
            (task, record, record.heard + self.policy.stuck_after)
            for task, record in self._running()
            if record.heard is not None and record.due is None
        ]

    def _kill_stuck(self) -> None:
        for task, record, due in self._watched():
            if due <= self._now:
                self._say(f"{task} was not heard of for {self.policy.stuck_after:g} s: killed")
                self._kill(task, record)

    def _tick(self) -> None:
        self._kill_stuck()
        for task, record in self.records.items():
            if record.due is None or record.due > self._now:
                continue
            if record.state in (State.WAITING, State.DONE):
                self._start_again(task, record)
            elif not record.killed:
                self._say(f"{task} did not stop within {self.policy.grace:g} s: killed")
                self._kill(task, record)
            else:
                self._say(f"{task} is still there {self.policy.grace:g} s after it was killed")
                self._exited(task, record, -signal.SIGKILL)
        if self._phase_due is not None and self._phase_due <= self._now:
            self._phase_is_over()

    def _phase_is_over(self) -> None:
        self._phase_due = None
        if self.phase is Phase.RUNNING:
            self._say("the evaluator's time is over")
            self._stop(0)
            return
        missing = [
            str(task)
            for task, record in self.records.items()
            if not record.placed and record.state is not State.DONE
        ]
        self._say(f"no place within {self.policy.place_timeout:g} s for {', '.join(missing)}")
        self._stop(1)

    def _running(self) -> list[tuple[Task, Record]]:
        return [(t, r) for t, r in self.records.items() if r.state is State.RUNNING]

    def _say(self, text: str) -> None:
        self._said.append(Say(text))


def code_text(code: int | None) -> str:
    """An exit status for people.

    >>> code_text(3), code_text(-9), code_text(None)
    ('exit status 3', 'SIGKILL', '')
    """
    if code is None:
        return ""
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
