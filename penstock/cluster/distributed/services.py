"""What a server answers by gRPC: the Master service to clients, the Worker service to other tasks.

Every request is checked as if a stranger had sent it; what is malformed gets InvalidArgumentError.

State of the Master service: the sessions of clients by handle, each with the graph that the client
has sent so far and the steps it has prepared.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.cluster.distributed import tensor_codec
from penstock.cluster.distributed.clients_graph import graph_of
from penstock.cluster.distributed.farewells import Farewells
from penstock.cluster.distributed.master import Master, MasterSession, PreparedStep
from penstock.cluster.distributed.rpc_errors import error_of
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.partition import wire
from penstock.engine.resources import waiting
from penstock.engine.session.options import options_of
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.formats import cluster_messages as messages
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor

# Sessions that no client has used for so long are closed: their client is gone.
IDLE_SECONDS = 24 * 3600.0


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
        _check_size(len(request.graph), self._max_graph_bytes)
        config = _parsed(ConfigProto, request.config, "config")
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


class _ClientSession:
    """A client's session."""

    def __init__(self, session: MasterSession, definition: Any) -> None:
        self.session, self.definition = session, definition
        # Prepared steps with what they are fed.
        self.steps: dict[str, tuple[PreparedStep, list[Tensor]]] = {}
        self.used = time.monotonic()
        # Held while a step is prepared.
        self.lock = waiting.StepLock()
        # Steps that are prepared or run now; who waits for one is not idle.
        self.running = 0
        self._count_lock = threading.Lock()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While a step is prepared or runs."""
        with self._count_lock:
            self.running += 1
        try:
            yield
        finally:
            with self._count_lock:
                self.running -= 1
                self.used = time.monotonic()

    def step(self, handle: str) -> tuple[PreparedStep, list[Tensor]]:
        """A prepared step."""
        found = self.steps.get(handle)
        if found is None:
            raise errors.NotFoundError(
                None, None, f"session {self.session.handle!r} has no step {handle!r}"
            )
        return found


class MasterService:
    """The Master service of a server."""

    def __init__(self, master: Master, max_graph_bytes: int) -> None:
        self._master, self._max_graph_bytes = master, max_graph_bytes
        self._lock = threading.Lock()
        self._sessions: dict[str, _ClientSession] = {}
        self._numbers = itertools.count(1)

    def create_session(self, request: Any, context: Any) -> Any:
        """A new session on a graph."""
        self._close_idle()
        config = _parsed(ConfigProto, request.config, "config") if request.config else None
        definition = self._graph_def(request.graph)
        graph = graph_of(definition, self._max_graph_bytes)
        session = self._master.session(graph, options_of(config), config, request.target)
        with self._lock:
            self._sessions[session.handle] = _ClientSession(session, definition)
        context.on_cancel(lambda: self._close(session.handle))  # nobody will know its name
        return messages.CreateSessionResponse(session=session.handle, nodes=len(definition.node))

    def extend_session(self, request: Any, context: Any) -> Any:
        """Adds nodes to a session's graph; ``nodes`` 0 puts the graph in place of the old one."""
        found = self._session(request.session)
        with found.lock:
            fresh = self._graph_def(request.graph)
            if request.nodes == 0:
                definition = fresh
            elif request.nodes != len(found.definition.node):
                raise errors.invalid(
                    f"the session's graph has {len(found.definition.node)} nodes here"
                    f" and {request.nodes} at the client that extends it"
                )
            else:
                definition = GraphDef()
                definition.CopyFrom(found.definition)
                definition.node.MergeFrom(fresh.node)
                # A client sends all functions that its graph has.
                definition.library.CopyFrom(fresh.library)
            _check_size(definition.ByteSize(), self._max_graph_bytes)
            found.session.graph = graph_of(definition, self._max_graph_bytes)
            found.definition = definition
            if request.nodes == 0:
                found.steps.clear()
            return messages.ExtendSessionResponse(nodes=len(definition.node))

    def prepare_step(self, request: Any, context: Any) -> Any:
        """Registers a step; its handle is good for this session."""
        found = self._session(request.session)
        with found.in_use(), _for_caller(request, context), found.lock:
            graph = found.session.graph
            feeds = [_element(graph, name) for name in request.feeds]
            step = found.session.prepare(
                feeds,
                [_element(graph, name) for name in request.fetches],
                [_element(graph, name, operation=True) for name in request.targets],
                frozenset(_element(graph, name, operation=True) for name in request.done),
            )
            handle = str(next(self._numbers))
            found.steps[handle] = step, feeds
        return messages.PrepareStepResponse(step=handle)

    def run_step(self, request: Any, context: Any) -> Any:
        """Runs a prepared step."""
        found = self._session(request.session)
        step, feeds = found.step(request.step)
        args = [tensor_codec.decode(value) for value in request.values]
        if len(args) != step.feed_count:
            raise errors.invalid(
                f"the step takes {step.feed_count} value(s); {len(args)} were sent"
            )
        _check_feeds(feeds, args)
        with found.in_use(), _for_caller(request, context):
            values, metadata = found.session.run(step, args, request.trace)
        return messages.RunStepResponse(
            values=[tensor_codec.encode(value) for value in values],
            metadata=[
                messages.TaskMetadata(task=task, metadata=data) for task, data in metadata.items()
            ],
        )

    def explain_step(self, request: Any, context: Any) -> Any:
        """The programs of a prepared step."""
        found = self._session(request.session)
        step, _ = found.step(request.step)
        return messages.ExplainStepResponse(text=found.session.explain(step))

    def close_session(self, request: Any, context: Any) -> Any:
        """Ends a session."""
        self._close(request.session)
        return messages.CloseSessionResponse()

    def list_devices(self, request: Any, context: Any) -> Any:
        """All devices that a session of these filters may use."""
        with _for_caller(request, context):
            if request.session:
                devices = self._session(request.session).session.list_devices()
            else:
                devices = self._master.list_devices(request.device_filters)
        return messages.ListDevicesResponse(devices=[_device(each) for each in devices])

    def reset(self, request: Any, context: Any) -> Any:
        """Drops the state of all tasks and ends all sessions."""
        self._master.reset(request.containers, request.device_filters)
        return messages.ResetResponse()

    def _close(self, handle: str) -> None:
        with self._lock:
            found = self._sessions.pop(handle, None)
        if found is not None:
            found.session.close()

    def _session(self, handle: str) -> _ClientSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"the server of {self._master.worker.task} has no session {handle!r}:"
                " it was closed, or the server has been restarted; make a new one",
            )  # fmt: skip
        found.used = time.monotonic()
        return found

    def _close_idle(self) -> None:
        oldest = time.monotonic() - IDLE_SECONDS
        with self._lock:
            idle = [h for h, s in self._sessions.items() if not s.running and s.used < oldest]
            gone = [self._sessions.pop(handle) for handle in idle]
        for each in gone:
            each.session.close()

    def _graph_def(self, data: bytes) -> Any:
        _check_size(len(data), self._max_graph_bytes)
        return _parsed(GraphDef, data, "graph")


def _for_caller(request: Any, context: Any) -> AbstractContextManager[None]:
    """The work of this thread ends when its caller goes away, or has given it no more time."""
    seconds = request.timeout_in_ms / 1000 if request.timeout_in_ms else None
    cancellation = waiting.Cancellation()
    context.on_cancel(lambda: cancellation.cancel("the client is gone"))
    return waiting.running(cancellation, seconds)


def _parsed(kind: Callable[[], Any], data: bytes, what: str) -> Any:
    message = kind()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise errors.invalid(
            f"the {what} of the request is no {type(message).__name__}: {error}"
        ) from None
    return message


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise errors.ResourceExhaustedError(
            None, None, f"the graph has {size} bytes; this server takes at most {limit}"
            " (Server(..., max_graph_bytes=...) or PENSTOCK_MAX_GRAPH_BYTES raises that)",
        )  # fmt: skip


def _check_feeds(tensors: Sequence[Tensor], values: Sequence[Any]) -> None:
    """Programs are made for the types and shapes of their feeds."""
    for tensor, value in zip(tensors, values, strict=True):
        kind = (
            tensor_codec.STRING
            if isinstance(value, np.ndarray)
            else (tensor_codec.number_of(value.dtype))
        )
        shape = TensorShape(value.shape)
        if kind != tensor.dtype.base_dtype.as_datatype_enum or (
            not tensor.shape.is_compatible_with(shape)
        ):
            raise errors.invalid(
                f"{tensor.name!r} is fed a {dtypes.as_dtype(kind).name} of shape"
                f" {shape}; it takes a {tensor.dtype.base_dtype.name} of shape {tensor.shape}"
            )


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
