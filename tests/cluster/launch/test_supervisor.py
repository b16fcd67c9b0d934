"""The state machine of a job, event by event."""

from __future__ import annotations

import dataclasses
import random
import signal

import pytest

from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.supervisor import (
    Beat,
    Begin,
    End,
    Event,
    Exited,
    Instruction,
    Interrupted,
    Kill,
    Lost,
    Phase,
    Place,
    Placed,
    Policy,
    Say,
    Start,
    State,
    Supervisor,
    Terminate,
    Tick,
)

PS, W0, W1, CHIEF, EVAL = (
    Task("ps", 0), Task("worker", 0), Task("worker", 1), Task("chief", 0), Task("evaluator", 0),
)  # fmt: skip
POLICY = Policy(restarts=2, backoff=1.0, backoff_limit=3.0, forget_after=100.0, grace=10.0,
                evaluator_wait=60.0, place_timeout=300.0)  # fmt: skip


class Machine:
    """A supervisor and its clock."""

    def __init__(self, *tasks: Task, policy: Policy = POLICY) -> None:
        self.supervisor = Supervisor(tasks, policy)
        self.now = 0.0
        self.said: list[str] = []

    def __call__(self, event: Event, at: float | None = None) -> list[Instruction]:
        """What an event brings about, but for what is said."""
        self.now = self.now if at is None else at
        orders = self.supervisor.handle(event, self.now)
        self.said += [o.text for o in orders if isinstance(o, Say)]
        return [o for o in orders if not isinstance(o, Say)]

    def state(self, task: Task) -> State:
        return self.supervisor.records[task].state


def running(*tasks: Task, policy: Policy = POLICY) -> Machine:
    """A machine whose tasks all run."""
    machine = Machine(*tasks, policy=policy)
    assert machine(Begin()) == [Place(task) for task in tasks]
    for task in tasks[:-1]:
        assert machine(Placed(task)) == []
    assert machine(Placed(tasks[-1])) == [Start(task, 1) for task in tasks]
    assert machine.supervisor.phase is Phase.RUNNING
    assert machine.supervisor.deadline() is None
    return machine


def test_a_job_ends_when_its_workers_have_and_servers_are_stopped() -> None:
    machine = running(PS, W0, W1)
    assert machine(Exited(W0, 1, 0)) == []
    assert machine(Exited(W1, 1, 0)) == [Terminate(PS)]
    assert machine.supervisor.deadline() == 10.0
    assert machine(Exited(PS, 1, -15)) == [End(0)]
    assert machine.supervisor.phase is Phase.ENDED
    assert machine(Tick(), 1000) == [] and machine(Interrupted(signal.SIGINT)) == []
    assert [machine.state(t) for t in (PS, W0, W1)] == [State.STOPPED, State.DONE, State.DONE]


def test_the_chief_must_be_done_too() -> None:
    machine = running(CHIEF, PS, W0)
    assert machine(Exited(W0, 1, 0)) == []
    assert machine(Exited(CHIEF, 1, 0)) == [Terminate(PS)]


def test_a_server_that_ends_by_itself_is_no_failure() -> None:
    machine = running(PS, W0)
    assert machine(Exited(PS, 1, 0)) == []
    assert machine(Exited(W0, 1, 0)) == [End(0)]


def test_a_server_that_has_ended_starts_again_with_a_worker() -> None:
    machine = running(PS, W0, W1)
    machine(Exited(W0, 1, 0))
    machine(Exited(W1, 1, 1), 5.0)
    assert machine(Exited(PS, 1, 0), 5.5) == [] and machine.state(PS) is State.DONE
    assert machine(Tick(), 6.0) == [Start(PS, 2), Start(W1, 2)]
    assert "ps 0 starts again: a worker goes on" in machine.said
    assert machine(Exited(W1, 2, 0), 7.0) == [Terminate(PS)]


def test_a_server_that_ends_after_a_worker_has_started_again_does_too() -> None:
    machine = running(PS, W0)
    machine(Exited(W0, 1, 1), 5.0)
    assert machine(Tick(), 6.0) == [Start(W0, 2)]
    assert machine(Exited(PS, 1, 0), 6.1) == [] and machine.supervisor.deadline() == 7.1
    assert machine(Tick(), 7.1) == [Start(PS, 2)]


def test_a_server_that_ends_just_before_its_last_worker_stays_so() -> None:
    machine = running(PS, W0)
    machine(Exited(W0, 1, 1), 5.0)
    machine(Tick(), 6.0)
    machine(Exited(PS, 1, 0), 90.0)
    assert machine(Exited(W0, 2, 0), 90.5) == [End(0)]
    assert machine.state(PS) is State.DONE and machine.supervisor.deadline() is None


def test_a_server_that_has_ended_starts_again_when_all_do() -> None:
    machine = running(PS, W0, W1)
    machine(Exited(W1, 1, 1), 1.0)
    machine(Exited(PS, 1, 0), 1.5)
    assert machine(Lost(W0, "gone"), 1.6) == [Place(W0)]
    assert machine.supervisor.deadline() == 301.6
    assert machine(Placed(W0), 1.7) == [Start(PS, 2), Start(W0, 2), Start(W1, 2)]


def test_what_fails_starts_again_after_a_growing_wait() -> None:
    machine = running(PS, W0, policy=Policy(restarts=4, backoff=1.0, backoff_limit=3.0))
    for start, wait in enumerate((1.0, 2.0, 3.0, 3.0), 1):
        began = machine.now
        assert machine(Exited(W0, start, -9)) == []
        assert machine.state(W0) is State.WAITING
        assert machine.supervisor.deadline() == began + wait
        assert machine(Tick(), began + wait - 0.01) == []
        assert machine(Tick(), began + wait) == [Start(W0, start + 1)]
    assert machine.said[:2] == [
        "worker 0 ended with SIGKILL; restart 1 of 4", "worker 0 starts again in 1 s",
    ]  # fmt: skip
    assert machine(Exited(W0, 5, 3)) == [Terminate(PS)]
    assert machine.state(W0) is State.FAILED
    assert "worker 0 ended with exit status 3; it had its 4 restarts: the job fails" in machine.said
    assert machine(Exited(PS, 1, 0)) == [End(1)]


def test_a_server_that_fails_starts_again_and_workers_run_on() -> None:
    machine = running(PS, W0)
    assert machine(Exited(PS, 1, 1), 5.0) == []
    assert machine(Tick(), 6.0) == [Start(PS, 2)]
    assert machine.state(W0) is State.RUNNING


def test_failures_are_forgotten_after_a_long_run() -> None:
    machine = running(W0, policy=Policy(restarts=1, backoff=1.0, forget_after=100.0))
    for start in range(1, 6):
        assert machine(Exited(W0, start, 1), machine.now + 100.0) == []
        assert machine(Tick(), machine.now + 1.0) == [Start(W0, start + 1)]
    assert machine(Exited(W0, 6, 1), machine.now + 99.0) == [End(1)]


def test_no_restarts_at_all() -> None:
    machine = running(PS, W0, policy=Policy(restarts=0))
    assert machine(Exited(W0, 1, 1)) == [Terminate(PS)]
    assert machine(Exited(PS, 1, -15)) == [End(1)]


def test_workers_end_while_a_server_waits_for_its_restart() -> None:
    machine = running(PS, W0)
    machine(Exited(PS, 1, 1))
    assert machine(Exited(W0, 1, 0)) == [End(0)]
    assert machine.state(PS) is State.STOPPED


def test_an_exit_of_an_earlier_start_is_stale() -> None:
    machine = running(W0)
    machine(Exited(W0, 1, 1))
    machine(Tick(), 1.0)
    assert machine(Exited(W0, 1, 0)) == []
    assert machine.state(W0) is State.RUNNING


def test_who_was_heard_of_and_then_is_silent_is_killed_and_starts_again() -> None:
    machine = running(PS, W0, W1, policy=dataclasses.replace(POLICY, stuck_after=30.0))
    assert machine(Tick(), 100) == []  # nobody has begun
    assert machine(Beat(PS, 1), 100) == machine(Beat(W0, 1), 110) == []
    assert machine.supervisor.deadline() == 130
    assert machine(Beat(PS, 1), 125) == [] and machine.supervisor.deadline() == 140
    assert machine(Tick(), 140) == [Kill(W0)]
    assert machine.said[-1] == "worker 0 was not heard of for 30 s: killed"
    assert machine(Exited(W0, 1, -9), 141) == []
    assert machine(Tick(), 142) == [Start(W0, 2)]
    # What the earlier process wrote is no sign of the new one.
    assert machine(Beat(W0, 1), 142) == machine(Tick(), 154) == []


def test_who_was_asked_to_stop_has_a_deadline_of_its_own() -> None:
    machine = running(PS, W0, policy=dataclasses.replace(POLICY, stuck_after=3.0))
    machine(Beat(PS, 1), 10)
    assert machine(Exited(W0, 1, 0), 11) == [Terminate(PS)]
    assert machine(Tick(), 14) == []
    assert machine(Tick(), 21) == [Kill(PS)]


def test_heartbeats_are_no_matter_by_default() -> None:
    machine = running(PS, W0)
    machine(Beat(PS, 1), 10)
    assert machine.supervisor.deadline() is None and machine(Tick(), 1e6) == []


def test_a_signal_stops_all_and_a_second_one_kills() -> None:
    machine = running(PS, W0, W1)
    machine(Exited(W1, 1, 1))
    assert machine(Interrupted(signal.SIGTERM), 1.0) == [Terminate(PS), Terminate(W0)]
    assert machine.state(W1) is State.STOPPED
    assert machine(Exited(PS, 1, -15)) == []
    assert machine(Interrupted(signal.SIGTERM), 2.0) == [Kill(W0)]
    assert machine(Interrupted(signal.SIGTERM), 3.0) == []
    assert machine(Exited(W0, 1, -9)) == [End(143)]


def test_who_does_not_stop_is_killed_and_at_last_given_up() -> None:
    machine = running(PS, W0)
    machine(Exited(W0, 1, 0))
    assert machine(Tick(), 9.9) == []
    assert machine(Tick(), 10.0) == [Kill(PS)]
    assert machine.supervisor.deadline() == 20.0
    assert machine(Tick(), 20.0) == [End(0)]
    assert "ps 0 is still there 10 s after it was killed" in machine.said


def test_a_signal_before_anything_runs() -> None:
    machine = Machine(PS, W0)
    machine(Begin())
    machine(Placed(PS))
    assert machine(Interrupted(signal.SIGINT)) == [End(130)]


def test_the_evaluator_has_a_while_after_training() -> None:
    machine = running(PS, W0, EVAL)
    assert machine(Exited(W0, 1, 0), 5.0) == []
    assert machine.supervisor.deadline() == 65.0
    assert machine(Exited(EVAL, 1, 0), 30.0) == [Terminate(PS)]

    machine = running(PS, W0, EVAL)
    machine(Exited(W0, 1, 0), 5.0)
    assert machine(Tick(), 64.9) == []
    assert machine(Tick(), 65.0) == [Terminate(PS), Terminate(EVAL)]
    machine(Exited(PS, 1, -15))
    assert machine(Exited(EVAL, 1, -15)) == [End(0)]


def test_an_evaluator_that_fails_while_it_is_waited_for() -> None:
    machine = running(W0, EVAL)
    machine(Exited(W0, 1, 0), 5.0)
    assert machine(Exited(EVAL, 1, 1), 6.0) == []
    assert machine(Tick(), 7.0) == [Start(EVAL, 2)]
    assert machine.supervisor.deadline() == 65.0
    assert machine(Exited(EVAL, 2, 0), 8.0) == [End(0)]


def test_no_waiting_for_the_evaluator() -> None:
    machine = running(W0, EVAL, policy=Policy(evaluator_wait=0))
    assert machine(Exited(W0, 1, 0)) == [Terminate(EVAL)]


def test_a_lost_place_starts_everyone_again_with_the_new_cluster() -> None:
    machine = running(PS, W0, W1)
    assert machine(Lost(W1, "node died"), 1.0) == [Terminate(PS), Terminate(W0), Place(W1)]
    assert machine.supervisor.phase is Phase.GATHERING
    assert machine(Exited(PS, 1, -15)) == []
    # Whoever ends now, even with 0, may have been asked to: it starts again.
    assert machine(Exited(W0, 1, 0)) == []
    assert machine.supervisor.phase is Phase.PLACING
    assert machine(Placed(W1), 3.0) == [Start(PS, 2), Start(W0, 2), Start(W1, 2)]
    assert machine.supervisor.phase is Phase.RUNNING and machine.supervisor.deadline() is None


def test_the_place_comes_before_the_others_have_stopped() -> None:
    machine = running(PS, W0)
    machine(Lost(PS, "node died"), 1.0)
    assert machine(Placed(PS)) == []
    assert machine(Tick(), 11.0) == [Kill(W0)]
    assert machine(Exited(W0, 1, -9)) == [Start(PS, 2), Start(W0, 2)]


def test_several_places_are_lost_at_once() -> None:
    machine = running(PS, W0, W1)
    assert machine(Lost(W0, "x")) == [Terminate(PS), Terminate(W1), Place(W0)]
    assert machine(Lost(W1, "x")) == [Place(W1)]
    assert machine(Exited(PS, 1, -15)) == []
    assert machine(Placed(W0)) == []
    assert machine(Lost(W0, "x")) == [Place(W0)]
    assert machine(Placed(W1)) == []
    assert machine(Placed(W0)) == [Start(PS, 2), Start(W0, 2), Start(W1, 2)]


def test_those_that_wait_or_are_done_when_a_place_is_lost() -> None:
    machine = running(PS, W0, W1)
    machine(Exited(W0, 1, 0))
    machine(Exited(W1, 1, 1))
    assert machine(Lost(PS, "x")) == [Place(PS)]
    assert machine(Placed(PS)) == [Start(PS, 2), Start(W1, 2)]
    assert machine(Lost(W0, "done long ago")) == []
    assert machine.state(W0) is State.DONE


def test_a_place_lost_too_often_ends_the_job() -> None:
    machine = running(PS, W0, policy=Policy(restarts=1))
    machine(Lost(W0, "x"))
    machine(Exited(PS, 1, -15))
    assert machine(Lost(W0, "x")) == [End(1)]
    assert machine.state(W0) is State.FAILED


def test_a_place_lost_while_stopping() -> None:
    machine = running(PS, W0)
    machine(Exited(W0, 1, 0))
    assert machine(Lost(PS, "x")) == [End(0)]


def test_places_that_are_not_found_in_time() -> None:
    machine = Machine(PS, W0, W1)
    machine(Begin())
    machine(Placed(W0), 10.0)
    assert machine.supervisor.deadline() == 300.0
    assert machine(Tick(), 300.0) == [End(1)]
    assert machine.said == ["no place within 300 s for ps 0, worker 1"]


@pytest.mark.parametrize("seed", range(200))
def test_whatever_happens_the_job_ends_with_nobody_running(seed: int) -> None:
    """Random events against a driver that keeps books; after a signal all ends in bounded time."""
    dice = random.Random(seed)
    tasks = Job("x.py", ps=2, workers=2, chief=True, evaluator=seed % 2 == 0).tasks
    machine = Machine(*tasks, policy=Policy(restarts=dice.randrange(4), place_timeout=50.0))
    alive: dict[Task, int] = {}
    starts = dict.fromkeys(tasks, 0)
    placing: set[Task] = set()
    ended: list[int] = []

    def happens(event: Event) -> None:
        for order in machine(event):
            match order:
                case Place(task):
                    assert task not in alive
                    placing.add(task)
                case Start(task, start):
                    assert task not in alive and not placing
                    starts[task] += 1
                    assert start == starts[task]
                    alive[task] = start
                case Terminate(task) | Kill(task):
                    assert task in alive
                case End(code):
                    ended.append(code)

    happens(Begin())
    for step in range(400):
        machine.now += dice.choice((0.0, 0.1, 1.0, 5.0))
        kind = dice.randrange(6)
        if step == 300:
            happens(Interrupted(signal.SIGTERM))
        elif kind < 2 and placing:
            task = dice.choice(sorted(placing))
            placing.discard(task)
            happens(Placed(task) if dice.random() < 0.9 else Lost(task, "no luck"))
        elif kind == 2 and alive:
            task = dice.choice(sorted(alive))
            happens(Exited(task, alive.pop(task), dice.choice((0, 0, 1, -9))))
        elif kind == 3 and alive and dice.random() < 0.2:
            task = dice.choice(sorted(alive))
            del alive[task]
            happens(Lost(task, "its node died"))
        else:
            due = machine.supervisor.deadline()
            if due is not None and dice.random() < 0.5:
                machine.now = max(machine.now, due)
            happens(Tick())
        if ended:
            break
    for _ in range(20):
        if not ended:
            machine.now += 100.0
            happens(Tick())
    assert len(ended) == 1
    given_up = [t for t in alive if f"{t} is still there 10 s after it was killed" in machine.said]
    assert sorted(alive) == sorted(given_up)
    trainers = [machine.state(t) for t in tasks if t.job in ("chief", "worker")]
    assert (ended[0] == 0) == all(s is State.DONE for s in trainers)
