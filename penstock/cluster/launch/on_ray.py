"""A job on a Ray cluster: carries out what ``supervisor`` decides with actors.

Every task has a bundle of one placement group and, in it, an actor (``ray_seat.Seat``) that runs
the task's process, so Ray says where tasks run and notices when a node dies.  The port is chosen on
the node.  A process that dies starts again in its actor, at its address.  When an actor is gone,
Ray finds another place for its bundle, a new actor there gives another address, and all tasks
start again with the new cluster: no address in a running program is ever wrong.

State: the actor of each task with the number of its seat, and the calls that have not answered.

Ray is imported here only, when a job is run on it: ``pip install 'penstock[ray]'``.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from penstock.cluster.launch import ports, ray_seat, supervisor as sv, task_process
from penstock.cluster.launch.job import CHIEF, WORKER, Job, Task
from penstock.cluster.launch.local import STOPPERS, Outcome, guard_source
from penstock.cluster.launch.logs import Logs

_READ_WAIT = 0.25
_STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
# Variables of the launcher's environment that tasks get as well: security, for instance.
_HANDED_ON = "PENSTOCK_"


@dataclass(frozen=True)
class RayOptions:
    """Where and with what tasks run.

    Args:
      address: the cluster; None: ``RAY_ADDRESS``, else a new cluster on this machine.
      cpus: CPUs of every task.
      gpus: GPUs of every worker and the chief.
      strategy: of the placement group.
      working_dir: a directory that is sent to the nodes and that tasks run in; None: tasks run in
        this directory where the node has it (a shared file system), else in the actor's.
      host: the address of every node, for clusters within one machine; None: the node's own.

    Raises:
      ValueError: for an unknown strategy.
    """

    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    strategy: str = "SPREAD"
    working_dir: str | None = None
    host: str | None = None

    def __post_init__(self) -> None:
        if self.strategy not in _STRATEGIES:
            raise ValueError(
                f"Placement strategy {self.strategy!r} is none of {', '.join(_STRATEGIES)}."
            )

    def resources(self, task: Task) -> dict[str, float]:
        """What a task's bundle reserves."""
        wanted = {"CPU": self.cpus}
        if self.gpus and task.job in (CHIEF, WORKER):
            wanted["GPU"] = self.gpus
        # Ray refuses an empty bundle.
        return {k: v for k, v in wanted.items() if v} or {"CPU": 0.001}


def run_on_ray(job: Job, policy: sv.Policy, logs: Logs, options: RayOptions) -> Outcome:
    """Runs a job on a Ray cluster, and returns when all of its tasks have ended.

    A cluster that this process is connected to already is used, and left connected.

    Args:
      job: what to run.
      policy: restarts and deadlines.
      logs: where the output goes.
      options: where and with what tasks run.

    Raises:
      ModuleNotFoundError: without Ray.
      ConnectionError: when there is no cluster at the address.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Ray is not installed: pip install 'penstock[ray]'", name="ray"
        ) from error
    if ray.is_initialized():
        return _Driver(ray, job, policy, logs, options).run()
    # Signals are ours, not Ray's; the tasks' output comes through the actors.
    environment = {"working_dir": options.working_dir} if options.working_dir else None
    ray.init(
        address=options.address,
        log_to_driver=False,
        logging_level=logging.WARNING,
        runtime_env=environment,
    )
    try:
        return _Driver(ray, job, policy, logs, options).run()
    finally:
        ray.shutdown()


@dataclass(frozen=True)
class _Call:
    """A call that has not answered: of which task's which seat."""

    task: Task
    seat: int
    kind: str


class _Driver:
    def __init__(
        self, ray: Any, job: Job, policy: sv.Policy, logs: Logs, options: RayOptions
    ) -> None:
        self._ray, self._job, self._policy = ray, job, policy
        self._logs, self._options = logs, options
        self._machine = sv.Supervisor(job.tasks, policy)
        self._seats: dict[Task, Any] = {}
        self._numbers = dict.fromkeys(job.tasks, 0)
        self._addresses: dict[Task, str] = {}
        self._calls: dict[Any, _Call] = {}
        # Seats that did not answer for a moment, and when to ask again.
        self._later: list[tuple[float, _Call]] = []
        self._events: deque[sv.Event] = deque([sv.Begin()])
        self._code: int | None = None
        self._group: Any = None
        self._actor: Any = None

    def run(self) -> Outcome:
        """Runs the job."""
        began = time.monotonic()
        # By value: the modules an actor needs travel with its class.
        for module in (ray_seat, task_process, ports):
            self._ray.cloudpickle.register_pickle_by_value(module)
        self._actor = self._ray.remote(ray_seat.Seat)
        bundles = [self._options.resources(task) for task in self._job.tasks]
        self._group = self._ray.util.placement_group(bundles, strategy=self._options.strategy)
        try:
            with self._signals():
                while self._code is None:
                    self._carry_out()
                    self._wait()
        finally:
            for actor in self._seats.values():
                self._ray.kill(actor)
            self._ray.util.remove_placement_group(self._group)
            for module in (ray_seat, task_process, ports):
                self._ray.cloudpickle.unregister_pickle_by_value(module)
        return Outcome(self._code, self._machine.records, time.monotonic() - began)

    # ---- orders --------------------------------------------------------------------------------

    def _carry_out(self) -> None:
        while self._events:
            for order in self._machine.handle(self._events.popleft(), time.monotonic()):
                match order:
                    case sv.Place(task):
                        self._place(task)
                    case sv.Start(task, start):
                        self._start(task, start)
                    case sv.Terminate(task):
                        self._seats[task].terminate.remote()
                    case sv.Kill(task):
                        self._seats[task].kill.remote()
                    case sv.Say(text):
                        self._logs.say(text)
                    case sv.End(code):
                        self._code = code

    def _place(self, task: Task) -> None:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        wanted = self._options.resources(task)
        place = PlacementGroupSchedulingStrategy(
            self._group, placement_group_bundle_index=self._job.tasks.index(task)
        )
        actor = self._actor.options(
            num_cpus=wanted.get("CPU", 0),
            num_gpus=wanted.get("GPU", 0),
            scheduling_strategy=place,
            max_restarts=0,
        )
        self._seats[task] = actor.remote(self._options.host, guard_source(), self._policy.grace)
        self._numbers[task] += 1
        self._ask(_Call(task, self._numbers[task], "address"))

    def _start(self, task: Task, start: int) -> None:
        environment = self._job.environment(task, self._addresses)
        environment[task_process.RESTARTS] = str(start - 1)
        handed_on = {k: v for k, v in os.environ.items() if k.startswith(_HANDED_ON)}
        command = self._job.command(task, self._addresses)
        directory = None if self._options.working_dir else os.getcwd()
        self._seats[task].start.remote(start, command, {**handed_on, **environment}, directory)
        self._ask(_Call(task, self._numbers[task], "read"))
        self._logs.say(f"{task} runs at {self._addresses[task]}")

    def _ask(self, call: _Call) -> None:
        seat = self._seats[call.task]
        reading = call.kind == "read"
        reply = seat.read.remote(_READ_WAIT) if reading else seat.address.remote()
        self._calls[reply] = call

    # ---- answers -------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Waits for an answer, a signal or the next deadline, and makes events of them."""
        if self._events or self._code is not None:
            return
        now = time.monotonic()
        due = self._machine.deadline()
        # Bounded: a signal does not wake Ray's wait.
        wait = _READ_WAIT if due is None else min(_READ_WAIT, max(0.0, due - now))
        if self._calls:
            replies = list(self._calls)
            # The first, and all others that are there already.
            if self._ray.wait(replies, timeout=wait)[0]:
                ready = self._ray.wait(replies, num_returns=len(replies), timeout=0)[0]
                for reply in ready:
                    self._answered(self._calls.pop(reply), reply)
        else:
            time.sleep(wait)
        again = [call for at, call in self._later if at <= now]
        self._later = [(at, call) for at, call in self._later if at > now]
        for call in again:
            if call.seat == self._numbers[call.task]:
                self._ask(call)
        self._events.append(sv.Tick())

    def _answered(self, call: _Call, reply: Any) -> None:
        task = call.task
        if call.seat != self._numbers[task]:
            return  # of a seat that was given up
        try:
            answer = self._ray.get(reply)
        except self._ray.exceptions.ActorUnavailableError:
            # Not reached just now; Ray will say whether it is dead.
            self._later.append((time.monotonic() + _READ_WAIT, call))
            return
        except self._ray.exceptions.RayError as error:
            self._logs.ended(task)
            self._numbers[task] += 1  # whatever else it may say is stale
            self._events.append(sv.Lost(task, _reason(error)))
            return
        if call.kind == "address":
            self._addresses[task] = answer
            self._events.append(sv.Placed(task))
            return
        start, data, code = answer
        self._logs.output(task, data)
        if code is None:
            self._ask(call)
        else:
            self._logs.ended(task)
            self._events.append(sv.Exited(task, start, code))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def handler(number: int, frame: FrameType | None) -> None:
            self._events.append(sv.Interrupted(number))

        before = {number: signal.signal(number, handler) for number in STOPPERS}
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)


def _reason(error: Exception) -> str:
    """Why an actor is gone, in a few words: the last line of what Ray says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".")[:200] if lines else type(error).__name__
