"""A server's ends of the network: what listens at its address, and how it reaches other tasks."""

from __future__ import annotations

from typing import Any

from penstock.cluster.distributed import rpc, rpc_services
from penstock.cluster.distributed.client_sessions import ClientSessions
from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.cluster.distributed.farewells import Farewells
from penstock.cluster.distributed.master import Master
from penstock.cluster.distributed.presence import Presence
from penstock.cluster.distributed.propagated import Memberships, Routed
from penstock.cluster.distributed.security import Security
from penstock.cluster.distributed.services import MasterService
from penstock.cluster.distributed.tensorflow_master import TensorFlowMaster
from penstock.cluster.distributed.worker import Worker

# How long a server that stops waits until its answers are sent.
_ANSWER_SECONDS = 2.0


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
        self._max_graph_bytes = max_graph_bytes
        self._security = Security.from_environment()
        self._security.listen_at(address)
        self._server: rpc.RpcServer | None = None
        cluster = ClusterSpec(definition.cluster)
        self.farewells = Farewells(
            f"/job:{job}/replica:0/task:{index}"
            for job in cluster.jobs
            if job != definition.job_name
            for index in cluster.task_indices(job)
        )
        self._own = Presence(
            cluster, worker, address, self._security, max_graph_bytes, self.farewells
        )
        self.peers = self._own.peers
        counts = definition.default_session_config.device_count
        self.memberships = Memberships(
            worker, lambda: self.address, self._security, max_graph_bytes, counts
        )

    def start(self, master: Master) -> None:
        """Begins to listen.

        Raises:
          tf.errors.UnknownError: the address cannot be had.
        """
        find = self.memberships.find
        sessions = ClientSessions(master, self._max_graph_bytes)
        handlers = {
            "Master": MasterService(sessions),
            rpc_services.TENSORFLOW: TensorFlowMaster(sessions, self._security.max_message_bytes),
            "Worker": Routed("Worker", self._own.service, lambda key: find(key).service),
            "Links": Routed("Links", self.peers.links, lambda key: find(key).peers.links),
            "Clusters": self.memberships,
        }
        self._server = rpc.serve(self.address, handlers, self._security, task=self._own.worker.task)
        self.address = self._server.address

    def stop(self) -> None:
        """Answers what has been done, stops listening and closes all links."""
        self.peers.answer_all(_ANSWER_SECONDS)
        self.peers.close()
        self.memberships.close()
        if self._server is not None:
            self._server.stop(_ANSWER_SECONDS)
