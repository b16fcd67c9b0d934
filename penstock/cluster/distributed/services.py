"""What a server answers by gRPC: the Master service to clients, the Worker service to other tasks.

Every request is checked as if a stranger had sent it; what is malformed gets InvalidArgumentError.
"""

from __future__ import annotations

import itertools
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from penstock.cluster.distributed import tensor_codec
from penstock.cluster.distributed.client_sessions import (
    ClientSession,
    ClientSessions,
    ClientStep,
    check_size,
    for_caller,
    parsed,
)
from penstock.cluster.distributed.farewells import Farewells
from penstock.cluster.distributed.rpc_errors import error_of
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.partition import wire
from penstock.engine.session.options import options_of
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from penstock.foundation.graph.graph import Graph


class WorkerService:
    """The Worker service of a server.

    Args:
      worker: of the server.
      max_graph_bytes: the largest part that is taken.
      farewells: told who says goodbye, and who comes.
      cluster: the ClusterDef that the server was started with, as bytes.
    """

    def __init__(
        self, worker: Worker, max_graph_bytes: int, farewells: Farewells, cluster: bytes = b""
    ) -> None:
        self._worker, self._max_graph_bytes = worker, max_graph_bytes
        self._farewells, self._cluster = farewells, cluster

    def get_status(self, request: Any, context: Any) -> Any:
        """Name and devices of the task."""
        return messages.GetStatusResponse(
            task=self._worker.task, devices=[_device(each) for each in self._worker.devices],
            cluster=self._cluster,
        )  # fmt: skip

    def register_graph(self, request: Any, context: Any) -> Any:
        """Keeps a part of a master's steps."""
        worker = self._worker
        if request.incarnation not in (0, worker.incarnation):
            raise errors.AbortedError(
                None, None, f"{worker.task} has been restarted since the session looked at its"
                " devices, and its state is lost; make a new session",
            )  # fmt: skip
        check_size(len(request.graph), self._max_graph_bytes)
        config = parsed(ConfigProto, request.config, "config")
        self._farewells.came(request.session.partition("@")[2])
        handle = worker.register(
            request.session, wire.decode(request.graph), options_of(config),
            isolated=config.isolate_session_state,
        )  # fmt: skip
        return messages.RegisterGraphResponse(graph=handle, incarnation=worker.incarnation)

    def deregister_graph(self, request: Any, context: Any) -> Any:
        """Forgets parts."""
        self._worker.deregister(request.graphs)
        return messages.DeregisterGraphResponse()

    def explain_graph(self, request: Any, context: Any) -> Any:
        """The program of a part."""
        return messages.ExplainGraphResponse(text=self._worker.explain(request.graph))

    def cancel_step(self, request: Any, context: Any) -> Any:
        """Stops the part of a step."""
        self._worker.table.fail(request.step, error_of(request.failure))
        return messages.CancelStepResponse()

    def clear_containers(self, request: Any, context: Any) -> Any:
        """Drops state."""
        self._worker.clear_containers(request.containers)
        return messages.ClearContainersResponse()

    def goodbye(self, request: Any, context: Any) -> Any:
        """A task has ended well."""
        self._farewells.left(request.task)
        return messages.GoodbyeResponse()


class MasterService:
    """The Master service of a server."""

    def __init__(self, sessions: ClientSessions) -> None:
        self._sessions = sessions
        self._numbers = itertools.count(1)

    def create_session(self, request: Any, context: Any) -> Any:
        """A new session on a graph."""
        found = self._sessions.create(request.graph, request.config, request.target, context)
        return messages.CreateSessionResponse(
            session=found.session.handle, nodes=len(found.definition.node)
        )

    def extend_session(self, request: Any, context: Any) -> Any:
        """Adds nodes to a session's graph; ``nodes`` 0 puts the graph in place of the old one."""
        found = self._sessions.get(request.session)
        nodes = self._sessions.extend(found, request.graph, request.nodes or None)
        return messages.ExtendSessionResponse(nodes=nodes)

    def prepare_step(self, request: Any, context: Any) -> Any:
        """Registers a step; its handle is good for this session."""
        found = self._sessions.get(request.session)
        with found.in_use, for_caller(request.timeout_in_ms, context), found.lock:
            graph = found.session.graph
            handle = str(next(self._numbers))
            found.prepare(
                handle,
                [_element(graph, name) for name in request.feeds],
                [_element(graph, name) for name in request.fetches],
                [_element(graph, name, operation=True) for name in request.targets],
                frozenset(_element(graph, name, operation=True) for name in request.done),
            )
        return messages.PrepareStepResponse(step=handle)

    def run_step(self, request: Any, context: Any) -> Any:
        """Runs a prepared step."""
        found = self._sessions.get(request.session)
        step = _step(found, request.step)
        args = [tensor_codec.decode(value) for value in request.values]
        with found.in_use, for_caller(request.timeout_in_ms, context):
            values, metadata = found.run(step, args, request.trace)
        return messages.RunStepResponse(
            values=[tensor_codec.encode(value) for value in values],
            metadata=[
                messages.TaskMetadata(task=task, metadata=data) for task, data in metadata.items()
            ],
        )

    def explain_step(self, request: Any, context: Any) -> Any:
        """The programs of a prepared step."""
        found = self._sessions.get(request.session)
        step = _step(found, request.step)
        return messages.ExplainStepResponse(text=found.session.explain(step.prepared))

    def close_session(self, request: Any, context: Any) -> Any:
        """Ends a session."""
        self._sessions.close(request.session)
        return messages.CloseSessionResponse()

    def list_devices(self, request: Any, context: Any) -> Any:
        """All devices that a session of these filters may use."""
        with for_caller(request.timeout_in_ms, context):
            if request.session:
                devices = self._sessions.get(request.session).session.list_devices()
            else:
                devices = self._sessions.master.list_devices(request.device_filters)
        return messages.ListDevicesResponse(devices=[_device(each) for each in devices])

    def reset(self, request: Any, context: Any) -> Any:
        """Drops the state of all tasks and ends all sessions."""
        self._sessions.master.reset(request.containers, request.device_filters)
        return messages.ResetResponse()


def _step(found: ClientSession, handle: str) -> ClientStep:
    step = found.steps.get(handle)
    if step is None:
        raise errors.NotFoundError(
            None, None, f"session {found.session.handle!r} has no step {handle!r}"
        )
    return step


def _element(graph: Graph, name: str, operation: bool = False) -> Any:
    try:
        return graph.as_graph_element(name, allow_tensor=not operation, allow_operation=operation)
    except (KeyError, ValueError, TypeError) as error:
        raise errors.invalid(str(error)) from None


def _device(device: Any) -> Any:
    return messages.Device(
        name=device.name, device_type=device.device_type,
        memory_limit=device.memory_limit_bytes, incarnation=device.incarnation,
    )  # fmt: skip
