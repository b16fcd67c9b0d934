"""One server as a task of one cluster: its worker, and how it and the other tasks reach each other.

A server is a task of its own cluster, and for some sessions of clusters that their configs name
(``propagated``).  Calls between tasks of such a cluster carry its key.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from penstock.cluster.distributed import rpc
from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.cluster.distributed.farewells import Farewells
from penstock.cluster.distributed.links import Links
from penstock.cluster.distributed.peers import ClusterPeers
from penstock.cluster.distributed.security import EVERY_HOST, Security, split_address
from penstock.cluster.distributed.services import WorkerService
from penstock.cluster.distributed.worker import Worker


def up_seconds() -> float:
    """How long to wait for the server of another task to be up."""
    return float(os.environ.get("PENSTOCK_UP_SECONDS", "60"))


class Presence:
    """A task of a cluster, in this process.

    Args:
      cluster: all tasks and their addresses.
      worker: of the task.
      address: where the server listens, "host:port".
      security: of the server.
      max_graph_bytes: the largest part of a step that it takes.
      farewells: told which tasks come and go.
      key: of the cluster, where it is not the server's own.
      join: called with a task before anything is asked from it.
    """

    def __init__(
        self,
        cluster: ClusterSpec,
        worker: Worker,
        address: str,
        security: Security,
        max_graph_bytes: int,
        farewells: Farewells,
        key: str = "",
        join: Callable[[str], None] | None = None,
    ) -> None:
        self._cluster, self._security, self._key = cluster, security, key
        self._link_host = _link_host(address, security.bind)
        self.worker = worker
        spec = cluster.as_cluster_def().SerializeToString()
        self.service = WorkerService(worker, max_graph_bytes, farewells, spec)
        self.peers = ClusterPeers(
            cluster, worker, lambda task: self._stub(task, "Worker"), self._links, up_seconds(),
            join,
        )  # fmt: skip

    def _stub(self, task: str, service: str) -> rpc.Stub:
        address = address_of(self._cluster, task)
        return rpc.Stub(address, service, task, self._security, self._key)

    def _links(self, deliver: Any, lost: Any) -> Links:
        return Links(
            self.worker.task,
            lambda task: self._stub(task, "Links"),
            deliver,
            lost,
            self._security,
            incarnation=self.worker.incarnation,
            host=self._link_host,
            tally=self.worker.tally,
        )


def address_of(cluster: ClusterSpec, task: str) -> str:
    """The address of a task, by its full name."""
    job, _, index = task.removeprefix("/job:").partition("/replica:0/task:")
    return cluster.task_address(job, int(index))


def _link_host(address: str, bind: str | None) -> str:
    """Where links listen: at one address of this machine, which the other ends are told."""
    host = split_address(address)[0] if bind is None or bind in EVERY_HOST else bind
    return "127.0.0.1" if host in (*EVERY_HOST, "localhost") else host
