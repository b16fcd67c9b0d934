"""A cluster of servers in this process, for tests."""

from __future__ import annotations

from typing import Any

from penstock.cluster.distributed.server import Server
from penstock.cluster.launch.ports import free_ports


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Server], list[Server]]:
    """Starts workers and parameter servers that know each other.

    Args:
      num_workers: how many tasks the job ``worker`` has.
      num_ps: how many tasks the job ``ps`` has.
      protocol: "grpc".
      worker_config: a ConfigProto of the workers.
      ps_config: a ConfigProto of the parameter servers.

    Returns:
      The workers and the parameter servers, started.
    """
    ports = [f"localhost:{port}" for port in free_ports(num_workers + num_ps)]
    cluster = {"worker": ports[:num_workers], "ps": ports[num_workers:]}
    configs = {"worker": worker_config, "ps": ps_config}
    workers, servers = (
        [
            Server(cluster, job_name=job, task_index=i, protocol=protocol, config=configs[job])
            for i in range(len(addresses))
        ]
        for job, addresses in cluster.items()
    )
    return workers, servers
