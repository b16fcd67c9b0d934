"""The cluster of a job of Slurm, out of the variables that Slurm sets.

State: after ``cluster_spec``, which task this is; the GPUs of this task are in the environment.

Source: ``SlurmClusterResolver`` of TensorFlow 1.15.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.training.distribute.cluster_resolver.resolvers import ClusterResolver, address_of


class SlurmClusterResolver(ClusterResolver):
    """A cluster on the nodes that Slurm has given to a job.

    Args:
      jobs: numbers of tasks by job.
      port_base: the port of the first task of a node; the next ones have the next.
      gpus_per_node: GPUs of a node.
      gpus_per_task: GPUs of a task.
      tasks_per_node: tasks of a node; default ``SLURM_NTASKS_PER_NODE``.
      auto_set_gpu: whether ``CUDA_VISIBLE_DEVICES`` is set to the GPUs of this task.
      rpc_layer: the protocol of addresses.

    Raises:
      RuntimeError: more GPUs than a node has, or as many tasks as Slurm has not.
      KeyError: a variable that Slurm sets is not there.
    """

    def __init__(
        self, jobs: Mapping[str, int], port_base: int = 8888, gpus_per_node: int = 1,
        gpus_per_task: int = 1, tasks_per_node: int | None = None, auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:  # fmt: skip
        if tasks_per_node is None:
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(jobs.values()) != int(os.environ["SLURM_NTASKS"]):
            raise RuntimeError("Requested more tasks then assigned tasks.")
        self._rank = int(os.environ["SLURM_PROCID"])
        self._jobs, self._port_base = dict(sorted(jobs.items())), port_base
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._tasks_per_node = tasks_per_node
        self._auto_set_gpu = auto_set_gpu
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def _resolve_hostnames(self) -> list[str]:
        """The names of the nodes, as Slurm's own program says them."""
        said = subprocess.run(["scontrol", "show", "hostname"], check=True, capture_output=True)
        return said.stdout.decode().split()

    def cluster_spec(self) -> Any:
        """The cluster: tasks of one node after the other, jobs by name.

        Raises:
          FileNotFoundError: ``scontrol`` is not there, which says the names of nodes.
        """
        places = [
            (f"{host}:{self._port_base + slot}", slot)
            for host in self._resolve_hostnames()
            for slot in range(self._tasks_per_node)
        ]
        cluster: dict[str, list[str]] = {}
        rank = 0
        for job, count in self._jobs.items():
            cluster[job] = [address for address, _ in places[rank : rank + count]]
            if rank <= self._rank < rank + count:
                self.task_type, self.task_id = job, self._rank - rank
            rank += count
        if self._auto_set_gpu:
            first = places[self._rank][1] * self._gpus_per_task
            gpus = range(first, first + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job and number of this task; None before ``cluster_spec``."""
        return self.task_type, self.task_id

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task, by default of this one; ``""`` where none is known."""
        return address_of(self, task_type, task_id, rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """The GPUs of a node, as TensorFlow says them, whichever task is asked for."""
        return {"GPU": self._gpus_per_node}
