"""Clusters that a session's config names: ``ConfigProto.cluster_def``.

The servers of such a cluster know nothing of each other when they start; often each is a local
server of one task.  The session's master tells each of them, before it first uses it, which task of
which cluster it is, and they leave the cluster with the session.  A server is a task of its own for
each of these clusters, with a name and a state of its own, and calls find it by the cluster's key
in their metadata.

State: the clusters that this server belongs to besides its own, by key.
"""

from __future__ import annotations

import functools
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from google.protobuf.message import DecodeError

from penstock.cluster.distributed import awaiting, rpc, rpc_services
from penstock.cluster.distributed.cluster_spec import ClusterDef, ClusterSpec
from penstock.cluster.distributed.farewells import Farewells
from penstock.cluster.distributed.presence import Presence, address_of, up_seconds
from penstock.cluster.distributed.security import Security
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.placement.available import local_devices
from penstock.engine.runtime import gpus
from penstock.foundation.base import errors
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.formats import cluster_messages as messages

_LEAVE_SECONDS = 10.0


class Routed:
    """The handlers of a service, of the cluster that a call names.

    Args:
      service: its name.
      own: the handlers of the server's own cluster.
      find: gives those of another, by key.
    """

    def __init__(self, service: str, own: Any, find: Callable[[str], Any]) -> None:
        self._own, self._find = own, find
        for name in (*rpc_services.SERVICES[service], *rpc_services.STREAMS.get(service, ())):
            setattr(self, name, functools.partial(self._call, name))

    def _call(self, name: str, request: Any, context: rpc_services.Context) -> Any:
        key = context.cluster()
        return getattr(self._find(key) if key else self._own, name)(request, context)


class Memberships:
    """The clusters that sessions have made this server a task of; handlers of "Clusters".

    Args:
      worker: of the server itself.
      address: tells where it listens.
      security, max_graph_bytes: of the server.
      counts: of devices, by type, where the server's config limits them.
    """

    def __init__(
        self,
        worker: Worker,
        address: Callable[[], str],
        security: Security,
        max_graph_bytes: int,
        counts: Mapping[str, int],
    ) -> None:
        self._server, self._address, self._security = worker, address, security
        self._max_graph_bytes, self._counts = max_graph_bytes, counts
        self._lock = threading.Lock()
        self._joined: dict[str, Presence] = {}

    def find(self, key: str) -> Presence:
        """This server as a task of a cluster.

        Raises:
          tf.errors.AbortedError: it is in no cluster of that key.
        """
        found = self._joined.get(key)
        if found is None:
            raise errors.AbortedError(
                None, None, f"{self._server.task} is not in cluster {key!r}: it has been restarted"
                " since, or the session was closed; make a new one",
            )  # fmt: skip
        return found

    def lead(
        self, config: Any, target: str
    ) -> tuple[Presence, Callable[[Callable[[], None]], None]]:
        """Makes this server the master's task of a session's cluster.

        Args:
          config: the session's ConfigProto, with a ``cluster_def``.
          target: how the client named this server, "host:port".

        Returns:
          The task, and what has all tasks leave the cluster; it is given what waits until they may.

        Raises:
          tf.errors.InvalidArgumentError: this server is not exactly one task of the cluster.
        """
        cluster = ClusterSpec(config.cluster_def)
        me = _own_task(config.cluster_def, {self._address(), target}, self._server.task)
        key = f"{secrets.token_hex(8)}.{self._server.incarnation:x}@{self._address()}"
        others: set[str] = set()

        def join(task: str) -> None:
            others.add(task)  # also if the step that waits for the answer ends before
            self._ask_to_join(task, key, cluster)

        presence = self._make(key, cluster, me, join)

        def leave(settle: Callable[[], None]) -> None:
            def work() -> None:
                settle()
                self._end(key, cluster, others)

            # Closing links and telling others may take a while, and the session's user need not.
            threading.Thread(target=work, name="penstock-leave", daemon=True).start()

        return presence, leave

    def workers(self) -> list[Worker]:
        """Those of this server as a task of these clusters."""
        with self._lock:
            return [each.worker for each in self._joined.values()]

    def close(self) -> None:
        """The server stops."""
        with self._lock:
            presences = list(self._joined.values())
            self._joined.clear()
        for each in presences:
            _close(each, f"the server of {self._server.task} was stopped")

    # ---- handlers ----------------------------------------------------------------------------

    def join_cluster(self, request: Any, context: Any) -> Any:
        """A master makes this server a task of a session's cluster."""
        definition = ClusterDef()
        try:
            definition.ParseFromString(request.definition)
            cluster = ClusterSpec(definition)
            address_of(cluster, request.task)
        except (DecodeError, ValueError) as error:
            raise errors.invalid(
                f"the cluster of {request.task!r} makes no sense: {error}"
            ) from None
        self._leave_earlier(request.cluster)
        self._make(request.cluster, cluster, request.task)
        return messages.JoinClusterResponse()

    def leave_cluster(self, request: Any, context: Any) -> Any:
        """The session is closed."""
        self._drop(request.cluster)
        return messages.LeaveClusterResponse()

    # ---- joining and leaving -----------------------------------------------------------------

    def _make(
        self, key: str, cluster: ClusterSpec, task: str, join: Callable[[str], None] | None = None
    ) -> Presence:
        with self._lock:
            found = self._joined.get(key)
            if found is not None:
                return found
            devices = local_devices(self._counts, gpus.memory_of_gpus(), task)
            worker = Worker(
                task, devices, lambda *message: made.peers.send(*message), self._server.tally
            )
            made = self._joined[key] = Presence(
                cluster, worker, self._address(), self._security, self._max_graph_bytes,
                Farewells(()), key, join,
            )  # fmt: skip
            return made

    def _ask_to_join(self, task: str, key: str, cluster: ClusterSpec) -> None:
        stub = self._stub(cluster, task)
        request = messages.JoinClusterRequest(
            cluster=key, task=task, definition=cluster.as_cluster_def().SerializeToString()
        )
        try:
            awaiting.answer_once_up(stub.join_cluster, request, up_seconds(), stub.whom)
        finally:
            stub.close()

    def _end(self, key: str, cluster: ClusterSpec, others: Iterable[str]) -> None:
        for task in list(others):
            stub = self._stub(cluster, task)
            with suppress(errors.OpError):  # it is gone, and what it had of the cluster with it
                stub.leave_cluster(messages.LeaveClusterRequest(cluster=key), _LEAVE_SECONDS)
            stub.close()
        self._drop(key)

    def _stub(self, cluster: ClusterSpec, task: str) -> Any:
        return rpc.Stub(address_of(cluster, task), "Clusters", task, self._security)

    def _leave_earlier(self, key: str) -> None:
        """Leaves clusters of masters that ran where this one's does, and ended without a word."""
        _, _, maker = key.partition(".")
        incarnation, _, address = maker.partition("@")
        with self._lock:
            gone = [
                each for each in self._joined
                if each.endswith(f"@{address}") and f".{incarnation}@" not in each
            ]  # fmt: skip
        for each in gone:
            self._drop(each)

    def _drop(self, key: str) -> None:
        with self._lock:
            found = self._joined.pop(key, None)
        if found is not None:
            _close(found, "the session of its cluster was closed")


def _close(presence: Presence, why: str) -> None:
    presence.worker.table.fail_all(errors.CancelledError(None, None, why))
    presence.peers.close()


def _own_task(definition: Any, addresses: set[str], booted_as: str) -> str:
    """The full name of the task that this server is in a cluster."""
    found = [
        f"/job:{job.name}/replica:0/task:{index}"
        for job in definition.job
        for index, address in job.tasks.items()
        if address in addresses
    ]
    if not found:
        raise errors.invalid(
            "The master (current machine) is not included in the provided cluster_def: it listens"
            f" at {' or '.join(sorted(addresses - {''}))}; the cluster_def is {definition}"
        )
    if len(found) > 1:
        raise errors.invalid(
            "Found multiple matching tasks that correspond to the master:"
            f" {', '.join(found)}. ClusterDef: {definition}"
        )
    if found[0] == booted_as:
        spec = DeviceSpec.from_string(booted_as)
        raise errors.invalid(
            "The ClusterSpec names the job and task index to be the same names that were provided"
            f" when the server booted. This is currently not allowed. Job: {spec.job}, task index:"
            f" {spec.task}"
        )
    return found[0]
