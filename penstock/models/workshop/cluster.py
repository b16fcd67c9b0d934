"""Where a program runs: alone, or as a task of a cluster, which ``TF_CONFIG`` then says."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import typer

import penstock as tf


@dataclass(frozen=True)
class Place:
    """A process's place.

    Attributes:
      job: ``worker`` or ``ps``; a program that runs alone is a worker.
      index: of the task in its job.
      workers: how many there are.
      server: of a task; None where there is no cluster.
    """

    job: str = "worker"
    index: int = 0
    workers: int = 1
    server: Any = None

    @property
    def is_chief(self) -> bool:
        """Whether this worker begins, saves and reports."""
        return self.index == 0

    @property
    def target(self) -> str:
        """What sessions are on."""
        return "" if self.server is None else str(self.server.target)

    @property
    def own_device(self) -> str:
        """The name of this process's devices; for state that no other shares."""
        return "" if self.server is None else f"/job:worker/task:{self.index}"

    def device(self) -> Any:
        """A scope: variables on the parameter servers in turn, all else on this worker."""
        if self.server is None:
            return tf.device(None)
        cluster = tf.train.ClusterSpec(self.server.server_def.cluster)
        return tf.device(
            tf.train.replica_device_setter(worker_device=self.own_device, cluster=cluster)
        )


def here() -> Place:
    """This process's place; a parameter server stays in here until it is stopped."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not config.get("cluster"):
        return Place()
    job, index = config["task"]["type"], int(config["task"]["index"])
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
        raise typer.Exit
    return Place(job, index, cluster.num_tasks("worker"), server)
