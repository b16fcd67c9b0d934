"""Which tasks a cluster has, and at which addresses: ``tf.train.ClusterSpec``.

Source: the behaviour of TensorFlow 1.15, but for texts of errors that say what is allowed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.cluster_pb2 import ClusterDef as ClusterDef, JobDef as JobDef

from penstock.foundation.formats.server_def import ServerDef as ServerDef
from penstock.foundation.graph import drawing

_WHAT = (
    "`cluster` must be a dictionary from job names to lists of network addresses, or to"
    " dictionaries from task index to address, a `ClusterDef` protocol buffer or a `ClusterSpec`"
)


class ClusterSpec:
    """The tasks of a cluster, by job.

    Args:
      cluster: a dict from job name to a list of addresses ("host:port") or to a dict from task
        index to address, for some tasks only; or a ClusterDef or ClusterSpec.

    Raises:
      TypeError: it is something else.

    >>> cluster = ClusterSpec({"ps": ["a:2222", "b:2222"], "worker": {1: "c:2222"}})
    >>> cluster.task_address("ps", 1), cluster.task_indices("worker")
    ('b:2222', [1])
    """

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, ClusterDef):
            jobs = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, Mapping):
            jobs = {_name(job): _tasks(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(f"{_WHAT}; found {type(cluster).__name__}")
        self._jobs: dict[str, dict[int, str]] = {
            job: dict(sorted(jobs[job].items())) for job in sorted(jobs)
        }

    @classmethod
    def from_tf_config(cls, text: str | None = None) -> ClusterSpec:
        """The cluster that a TF_CONFIG text tells of; one without jobs where it tells of none.

        Args:
          text: JSON as of the environment variable TF_CONFIG; None reads that.

        Raises:
          ValueError: the text is not a JSON object.

        >>> ClusterSpec.from_tf_config('{"cluster": {"worker": ["localhost:2222"]}}').jobs
        ['worker']
        """
        return cls(parse_tf_config(text).get("cluster", {}))

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"

    def _repr_html_(self) -> str:
        rows = [(job, *self.job_tasks(job)) for job in self.jobs]
        return drawing.table([("ClusterSpec", ""), *rows])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    # What can be compared by its contents and is used as a key by no program.
    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"ClusterSpec({self.as_dict()})"

    def as_dict(self) -> dict[str, Any]:
        """Lists of addresses by job; a dict by index for a job that lacks some of its tasks."""
        return {
            job: list(tasks.values()) if tasks and _dense(tasks) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> Any:
        """The ClusterDef."""
        return ClusterDef(job=[JobDef(name=job, tasks=t) for job, t in self._jobs.items()])

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs, sorted."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks of a job are known.

        Raises:
          ValueError: there is no such job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Indices of the tasks of a job, sorted.

        Raises:
          ValueError: there is no such job.
        """
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Raises:
          ValueError: there is no such job or task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"No task with index {task_index!r} in job {job_name!r}: it has {list(tasks)}"
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Addresses of a job's tasks by index, None for those that are not known.

        Raises:
          ValueError: there is no such job.
        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        try:
            return self._jobs[name]
        except KeyError:
            raise ValueError(
                f"No such job in cluster: {name!r}: it has {', '.join(self._jobs) or 'none'}"
            ) from None


def parse_tf_config(text: str | None = None) -> dict[str, Any]:
    """A TF_CONFIG text as a dict; empty where there is none.

    Args:
      text: JSON; None reads the environment variable.

    Raises:
      ValueError: the text is not a JSON object.
    """
    text = os.environ.get("TF_CONFIG", "") if text is None else text
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is not JSON: {error}; found {text!r}") from error
    if not isinstance(found, dict):
        raise ValueError(
            f"TF_CONFIG must be a JSON object with 'cluster' and 'task'; found {text!r}"
        )
    return found


def _dense(tasks: dict[int, str]) -> bool:
    return list(tasks) == list(range(len(tasks)))


def _name(job: Any) -> str:
    return _text(job, "Job name")


def _tasks(job: Any, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, Mapping):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
        )
    return {_index(index): _text(address, "Task address") for index, address in tasks.items()}


def _index(index: Any) -> int:
    try:
        return index.__index__()  # type: ignore[no-any-return]
    except AttributeError:
        raise TypeError(f"A task index must be an integer; found {index!r}") from None


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value
