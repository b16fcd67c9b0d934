"""A cluster that trains while everything fails in turn: ``make chaos MINUTES=30 SEED=1``.

Two parameter servers, a chief and three workers of ``programs/chaos_train.py``, each in a network
namespace of its own where that is possible.  Every ten seconds, by a seed's dice, something
happens to one of them (``chaos_faults``); what ended is started again.  At the end all must stop by
themselves, and what they wrote down is judged (``chaos_history``).
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.distributed import chaos_growth, chaos_history, networks
from tests.cluster.distributed.chaos_faults import KINDS, Disk, Fault
from tests.cluster.distributed.chaos_witness import Witness
from tests.cluster.distributed.jobs import PROGRAMS, Process

# What a task prints once its server listens.
UP = "the server is up"
JOBS = {"ps": 2, "chief": 1, "worker": 3}
BETWEEN_SECONDS = 10.0
# A task that ended starts again so long after.
BACKOFF_SECONDS = 0.5
# Nobody may be without a step for so long: every task is up again in half of that.
HANG_SECONDS = 60.0


@dataclass
class Task:
    """A task, with the process that it runs as now."""

    name: str
    command: list[str]
    environment: dict[str, str]
    process: Process = field(init=False)
    began: float = 0.0
    # When it was killed on purpose, as this process.
    killed: float | None = None

    def start(self) -> None:
        self.process = Process(self.command, self.environment)
        self.began, self.killed = time.monotonic(), None

    @property
    def code(self) -> int | None:
        """Its exit status, once it has ended."""
        return self.process._process.poll()

    def growth(self, records: Path, others: int) -> chaos_growth.Growth:
        """What it has grown by, as this process, now that it has ended."""
        if not self.process.all(f"^{UP}$"):
            return chaos_growth.Growth()
        name = f"used-{self.name}-{self.process.pid}.jsonl"
        ended = self.killed or time.monotonic()
        return chaos_growth.judge(chaos_growth.read(records / name), self.began, ended, others)


class Chaos:
    """One run; a context manager.

    Args:
      directory: for the records.
      seed: of the dice.
      say: takes a line at a time.

    Attributes:
      wrong: a line for each thing that may not be.
      most_kb, most_threads: that a process has grown by.
    """

    def __init__(self, directory: Path, seed: int, say: Any = print) -> None:
        self.directory = directory
        self.dice = random.Random(seed)
        self.say = say
        self.wrong: list[str] = []
        self.most_kb = self.most_threads = 0.0
        self.tasks: dict[str, Task] = {}
        self.losses: list[chaos_history.Loss] = []
        self.network: networks.Network | None = None
        self.disk: Disk
        self.witness: Witness
        self.done: Counter[str] = Counter()
        self._faults: list[Fault] = []
        self._stack = ExitStack()
        self._began = time.monotonic()

    def __enter__(self) -> Chaos:
        try:
            self.witness = self._stack.enter_context(Witness())
            names = [f"{job}-{index}" for job, count in JOBS.items() for index in range(count)]
            if why := networks.why_not():
                self.say(f"no links are cut: {why}")
            else:
                self.network = self._stack.enter_context(networks.Network(names))
            self.disk = self._stack.enter_context(Disk(self.directory / "checkpoints"))
            if self.disk.why_not:
                self.say(f"no disk is full: {self.disk.why_not}")
            self._start_all(names)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exc: Any) -> None:
        for fault in self._faults:
            fault.end()
        for task in self.tasks.values():
            task.process._process.kill()
            task.process.stop()
        self._stack.close()

    def _start_all(self, names: list[str]) -> None:
        cluster = {
            job: [self._address(f"{job}-{index}") for index in range(count)]
            for job, count in JOBS.items()
        }
        for name in names:
            job, index = name.split("-")
            command = [
                sys.executable, str(PROGRAMS / "chaos_train.py"), "--cluster", json.dumps(cluster),
                "--job", job, "--task", index, "--records", str(self.directory),
                "--checkpoints", str(self.disk.path), "--up", UP,
            ]  # fmt: skip
            if self.network is not None:
                command = self.network.inside(name, command)
            self.tasks[name] = Task(name, command, {"PENSTOCK_INSECURE": "1", "no_proxy": "*"})
            self.tasks[name].start()

    def _address(self, name: str) -> str:
        if self.network is not None:
            return f"{self.network.address(name)}:2222"
        with socket.create_server(("localhost", 0)) as found:
            return f"localhost:{found.getsockname()[1]}"

    def tell(self, text: str) -> None:
        """Says what happened, and when."""
        self.say(f"{time.monotonic():9.1f} {text}")

    def run(self, seconds: float) -> None:
        """Faults for so many seconds, then a quiet time, then the end."""
        quiet = min(45.0, seconds / 4)
        end = time.monotonic() + seconds
        self._wait_for_steps()
        next_fault = time.monotonic() + BETWEEN_SECONDS / 2
        while (now := time.monotonic()) < end:
            self._look_after(now)
            if now >= next_fault and now < end - quiet:
                next_fault += BETWEEN_SECONDS
                self._do_something(now)
            time.sleep(0.2)
        self._stop()

    def _wait_for_steps(self) -> None:
        while not any(seen.what == "step" for seen in chaos_history.read(self.directory)):
            now = time.monotonic()
            self._look_after(now)
            assert self.witness.given(self._began, now) < 3 * HANG_SECONDS, self._ends()
            time.sleep(0.5)
        self.tell("training began")

    def _do_something(self, now: float) -> None:
        fitting = [kind for kind in KINDS if kind.possible(self)]
        fault = self.dice.choice(fitting)(self, self.dice)
        self.done[fault.name] += 1
        self.tell(str(fault))
        fault.begin()
        self._faults.append(fault)

    def _look_after(self, now: float) -> None:
        """Ends faults whose time is over, starts what ended."""
        for fault in [each for each in self._faults if now >= each.until]:
            fault.end()
            self._faults.remove(fault)
            self.tell(f"{fault} is over")
        for task in self.tasks.values():
            if task.code is not None:
                self._start_again(task)

    def _start_again(self, task: Task) -> None:
        ended = task.killed or time.monotonic()
        self.tell(f"{task.name} ended with {task.code}")
        if task.killed is None and not self._explains(task):
            self.wrong.append(
                f"{task.name} ended with {task.code} of itself:\n{task.process.text(40)}"
            )
        self._judge_growth(task)
        task.process.stop()
        time.sleep(BACKOFF_SECONDS)
        task.start()
        if task.name.startswith("ps"):
            self.losses.append(chaos_history.Loss(ended, task.began))

    def _explains(self, task: Task) -> bool:
        """Whether a fault may end the task with an error: it says so itself."""
        said = task.process.text(60)
        return any(
            task.code in fault.codes and fault.may_end in said
            for fault in KINDS
            if fault.may_end and self.done[fault.name]
        )

    def _judge_growth(self, task: Task) -> None:
        grown = task.growth(self.directory, len(self.tasks) - 1)
        if grown.wrong:
            self.wrong.append(f"{task.name} {grown.wrong}")
        self.most_kb = max(self.most_kb, grown.kb)
        self.most_threads = max(self.most_threads, grown.threads)

    def _stop(self) -> None:
        """Has all tasks end, and looks at how they do."""
        for fault in self._faults:
            fault.end()
        self._faults.clear()
        (self.directory / "stop").touch()
        self.tell("the end")
        began = time.monotonic()
        while any(t.code is None for t in self.tasks.values()):
            if self.witness.given(began, time.monotonic()) > HANG_SECONDS:
                break
            time.sleep(0.2)
        for task in self.tasks.values():
            if task.code != 0:
                self.wrong.append(
                    f"{task.name} ended with {task.code} at the end:\n{task.process.text(40)}"
                )
            self._judge_growth(task)

    def _ends(self) -> str:
        return "\n\n".join(f"{t.name}\n{t.process.text(30)}" for t in self.tasks.values())

    def verdict(self) -> chaos_history.Verdict:
        """What all that was seen amounts to."""
        self.losses.sort(key=lambda loss: loss.begin)
        found = chaos_history.judge(
            chaos_history.read(self.directory), self.losses, self.witness.given
        )
        found.wrong[:0] = self.wrong
        if found.given > HANG_SECONDS:
            found.wrong.append(
                f"nobody made a step for {found.longest:.0f} s, of which the machine gave"
                f" {found.given:.0f} s"
            )
        return found


def run(minutes: float, seed: int, directory: Path, say: Any = print) -> chaos_history.Verdict:
    """One run, from beginning to end.

    Args:
      minutes: how long.
      seed: of the dice.
      directory: for records and checkpoints; empty.
      say: takes a line at a time.
    """
    with Chaos(directory, seed, say) as chaos:
        chaos.run(60 * minutes)
        found = chaos.verdict()
        done = ", ".join(f"{kind} {count}" for kind, count in sorted(chaos.done.items()))
        say(f"seed {seed}: {done}")
    say(
        f"{found.judged} steps judged in {len(found.eras)} eras, {len(chaos.losses)} losses of"
        f" state, at most {found.longest:.1f} s without a step, or {found.given:.1f} s of what the"
        f" machine gave; no process grew by more than {chaos.most_kb:g} kB and"
        f" {chaos.most_threads:g} threads"
    )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="an empty folder for the records, kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        directory = arguments.keep or Path(folder)
        directory.mkdir(parents=True, exist_ok=True)
        found = run(arguments.minutes, arguments.seed, directory)
    for line in found.wrong:
        print(f"WRONG: {line}")
    print("nothing lost" if not found.wrong else f"{len(found.wrong)} things are wrong")
    return bool(found.wrong)


if __name__ == "__main__":
    sys.exit(main())
