"""A server's ends of the network: what listens at its address, and how it reaches other tasks."""

from __future__ import annotations

import os
from typing import Any

from penstock.distributed import rpc
from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.farewells import Farewells
from penstock.distributed.links import Links
from penstock.distributed.master import Master
from penstock.distributed.peers import ClusterPeers
from penstock.distributed.security import EVERY_HOST, Security, split_address
from penstock.distributed.services import MasterService, WorkerService
from penstock.distributed.worker import Worker


class Listening:
    """The network side of one server.

    Args:
      definition: its ServerDef.
      worker: of the server.
      address: where it listens, "host:port".
      max_graph_bytes: the largest graph that it takes.
    """

    def __init__(self, definition: Any, worker: Worker, address: str, max_graph_bytes: int) -> None:
        self.address = address
        self._worker, self._max_graph_bytes = worker, max_graph_bytes
        self._cluster = ClusterSpec(definition.cluster)
        self._security = Security.from_environment()
        self._security.listen_at(address)
        self._server: rpc.RpcServer | None = None
        self.farewells = Farewells(
            f"/job:{job}/replica:0/task:{index}"
            for job in self._cluster.jobs
            if job != definition.job_name
            for index in self._cluster.task_indices(job)
        )
        self.peers = ClusterPeers(
            self._cluster,
            worker,
            lambda task: self._stub(task, "Worker"),
            self._links,
            float(os.environ.get("PENSTOCK_UP_SECONDS", "60")),
        )

    def start(self, master: Master) -> None:
        """Begins to listen.

        Raises:
          tf.errors.UnknownError: the address cannot be had.
        """
        handlers = {
            "Master": MasterService(master, self._max_graph_bytes),
            "Worker": WorkerService(
                self._worker, self._max_graph_bytes, self.farewells,
                self._cluster.as_cluster_def().SerializeToString(),
            ),  # fmt: skip
            "Links": self.peers.links,
        }
        self._server = rpc.serve(self.address, handlers, self._security, task=self._worker.task)
        self.address = self._server.address

    def stop(self) -> None:
        """Stops listening and closes all links."""
        self.peers.close()
        if self._server is not None:
            self._server.stop()

    def _stub(self, task: str, service: str) -> rpc.Stub:
        job, _, index = task.removeprefix("/job:").partition("/replica:0/task:")
        address = self._cluster.task_address(job, int(index))
        return rpc.Stub(address, service, task, self._security)

    def _links(self, deliver: Any, lost: Any) -> Links:
        return Links(
            self._worker.task,
            lambda task: self._stub(task, "Links"),
            deliver,
            lost,
            self._security,
            incarnation=self._worker.incarnation,
            host=_link_host(self.address, self._security.bind),
        )


def _link_host(address: str, bind: str | None) -> str:
    """Where links listen: at one address of this machine, which the other ends are told."""
    host = split_address(address)[0] if bind is None or bind in EVERY_HOST else bind
    return "127.0.0.1" if host in (*EVERY_HOST, "localhost") else host
