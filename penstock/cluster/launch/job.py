"""A job: which tasks it has, and how each is told who it is.

A task learns its place in two ways, whichever its program reads:

* ``TF_CONFIG``, as the RunConfig of TensorFlow 1.15 reads it:
  ``{"cluster": {"ps": [...], "worker": [...]}, "task": {"type": "worker", "index": 0}}``.
  The evaluator is no part of the training cluster: it is named in ``task`` only.
* flags behind the program's own arguments: ``--job_name=worker --task_index=0 --ps_hosts=a,b
  --worker_hosts=c,d``, and ``--chief_hosts=e`` where there is a chief.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

CHIEF, PS, WORKER, EVALUATOR = "chief", "ps", "worker", "evaluator"
# The first word of a command line that the machine it runs on fills in with its own interpreter.
THIS_PYTHON = ""


@dataclass(frozen=True, order=True)
class Task:
    """A task of a job, ``worker 3`` for instance."""

    job: str
    index: int

    def __str__(self) -> str:
        return f"{self.job} {self.index}"


@dataclass(frozen=True)
class Job:
    """What runs as which tasks.

    Args:
      program: a Python script (``*.py``) or an executable.
      args: the program's own arguments.
      ps: number of parameter servers.
      workers: number of workers.
      chief: whether there is a task ``chief 0`` besides the workers.
      evaluator: whether there is a task ``evaluator 0``.
      flags: whether ``--job_name`` and so on are appended to the arguments.

    Raises:
      ValueError: for a job without a worker and a chief, or a negative number of tasks.

    >>> job = Job("train.py", ("--steps=9",), ps=1, workers=2)
    >>> [str(task) for task in job.tasks]
    ['ps 0', 'worker 0', 'worker 1']
    >>> at = {task: f"localhost:{4000 + i}" for i, task in enumerate(job.tasks)}
    >>> job.arguments(Task("ps", 0), at)[1:]
    ['--job_name=ps', '--task_index=0', '--ps_hosts=localhost:4000', \
'--worker_hosts=localhost:4001,localhost:4002']
    """

    program: str
    args: tuple[str, ...] = ()
    ps: int = 0
    workers: int = 1
    chief: bool = False
    evaluator: bool = False
    flags: bool = True

    def __post_init__(self) -> None:
        if self.ps < 0 or self.workers < 0:
            raise ValueError(
                f"A job has no negative number of tasks: ps={self.ps}, workers={self.workers}."
            )
        if not self.workers and not self.chief:
            raise ValueError("A job ends when its workers have; it needs a worker or a chief.")

    @property
    def sizes(self) -> dict[str, int]:
        """Number of tasks of each job of the cluster; jobs without tasks are left out."""
        counts = {CHIEF: int(self.chief), PS: self.ps, WORKER: self.workers}
        return {job: count for job, count in counts.items() if count}

    @property
    def cluster_tasks(self) -> tuple[Task, ...]:
        """The tasks that have an address."""
        return tuple(Task(job, i) for job, count in self.sizes.items() for i in range(count))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks."""
        return self.cluster_tasks + ((Task(EVALUATOR, 0),) if self.evaluator else ())

    def cluster(self, addresses: Mapping[Task, str]) -> dict[str, list[str]]:
        """Addresses (``host:port``) by job, as ``tf.train.ClusterSpec`` takes them."""
        return {
            job: [addresses[Task(job, i)] for i in range(count)]
            for job, count in self.sizes.items()
        }

    def tf_config(self, task: Task, addresses: Mapping[Task, str]) -> str:
        """The value of ``TF_CONFIG`` for a task."""
        where = {"type": task.job, "index": task.index}
        return json.dumps({"cluster": self.cluster(addresses), "task": where})

    def arguments(self, task: Task, addresses: Mapping[Task, str]) -> list[str]:
        """The program's arguments for a task: its own, then who the task is."""
        said = list(self.args)
        if self.flags:
            said += place_flags(task.job, str(task.index), self.cluster(addresses))
        return said

    def command(self, task: Task, addresses: Mapping[Task, str]) -> list[str]:
        """The command line of a task; a script's interpreter is ``THIS_PYTHON``."""
        program = os.path.expanduser(self.program)
        start = [THIS_PYTHON, program] if program.endswith(".py") else [program]
        return start + self.arguments(task, addresses)

    def environment(self, task: Task, addresses: Mapping[Task, str]) -> dict[str, str]:
        """What is set in a task's environment besides what it inherits.

        Python's own buffering is turned off: a line shows when it is written.
        """
        return {"TF_CONFIG": self.tf_config(task, addresses), "PYTHONUNBUFFERED": "1"}


def place_flags(job: str, index: str, cluster: Mapping[str, list[str]]) -> list[str]:
    """The flags that tell a program its place in a cluster.

    Args:
      job: the task's job.
      index: the task's index, or what becomes it later (Kubernetes' ``$(TASK_INDEX)``).
      cluster: addresses by job.
    """
    hosts = [f"--{j}_hosts={','.join(cluster[j])}" for j in (PS, WORKER) if j in cluster]
    if CHIEF in cluster:
        hosts.append(f"--{CHIEF}_hosts={','.join(cluster[CHIEF])}")
    return [f"--job_name={job}", f"--task_index={index}", *hosts]
