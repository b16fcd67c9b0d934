"""Sessions on a server of another process, from a client that holds none.

The client sends the graph when it first runs something, later nodes when it runs what needs them,
and the whole graph again if nodes in it have changed.  A step is prepared once and run by handle.

State of an engine: its session's handle at the master and how much of the graph is there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.cluster.distributed import awaiting, rpc, tensor_codec
from penstock.cluster.distributed.cluster_program import ClusterProgram, users_error
from penstock.cluster.distributed.security import Security
from penstock.compiler.placement.available import DeviceAttributes
from penstock.engine.resources import waiting
from penstock.engine.session.engine import Engine, Request
from penstock.engine.session.options import Options
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages
from penstock.foundation.graph.graph import Graph

# Seconds to wait for the server of the target, and for calls that run no step.
UP_SECONDS = float(os.environ.get("PENSTOCK_UP_SECONDS", "60"))
_CALL_SECONDS = 300.0
_CLOSE_SECONDS = 10.0
# More than the step's own time: its master ends it first, and says why.
_EXTRA_SECONDS = 10.0
_LEAST_EXTRA_SECONDS = 1.0


class Client:
    """How servers of other processes are reached: targets "grpc://HOST:PORT"."""

    def engine(self, target: str, graph: Graph, config: Any, options: Options) -> Engine:
        """The engine of a new session."""
        return ClientEngine(_stub(target), graph, config)

    def reset(self, target: str, containers: Sequence[str], config: Any) -> None:
        """Drops state of the server's cluster."""
        filters = list(config.device_filters) if config is not None else []
        request = messages.ResetRequest(containers=containers, device_filters=filters)
        stub = _stub(target)
        try:
            awaiting.answer_of(stub.reset, request, _CALL_SECONDS, stub.task, "to drop its state")
        finally:
            stub.close()


class ClientEngine:
    """Runs a session's steps by a master in another process.

    Args:
      stub: of the Master service.
      graph, config: the session's.
    """

    remote = True

    def __init__(self, stub: Any, graph: Graph, config: Any) -> None:
        self._stub, self._graph = stub, graph
        self._config: bytes = config.SerializeToString() if config is not None else b""
        self._filters = list(config.device_filters) if config is not None else []
        self._has_cluster = config is not None and config.HasField("cluster_def")
        timeout = config.operation_timeout_in_ms if config is not None else 0
        self._close_seconds = min(_CLOSE_SECONDS, timeout / 1000 if timeout > 0 else _CLOSE_SECONDS)
        self._lock = waiting.StepLock()
        self._session = ""
        self._sent = 0
        self._version = -1

    def program(self, request: Request) -> Any:
        """Prepares a step at the master."""
        if request.watch == "observe":
            raise errors.UnimplementedError(
                None, None, "steps of a session on a server cannot be observed line by line;"
                " ask for RunMetadata by RunOptions(trace_level=...) instead",
            )  # fmt: skip
        try:
            step = self._prepared(request)
        except errors.OpError as error:
            raise users_error(request.graph, error) or error from None
        return ClusterProgram(
            request.graph,
            request.fetches,
            lambda args, trace: self._run(step, args, trace),
            lambda: self._explain(step),
        )

    def _prepared(self, request: Request) -> str:
        with self._lock:
            self._send_graph()
            message = messages.PrepareStepRequest(
                session=self._session,
                feeds=[tensor.name for tensor in request.feeds],
                fetches=[tensor.name for tensor in request.fetches],
                targets=[op.name for op in request.targets],
                done=[op.name for op in request.done],
                timeout_in_ms=_milliseconds_left(),
            )
            with waiting.extended(_extra_seconds()):
                prepared = self._answer(self._stub.prepare_step, message, "to prepare the step")
        return str(prepared.step)

    def _answer(self, method: Any, request: Any, what: str, seconds: float = _CALL_SECONDS) -> Any:
        stub = self._stub
        return awaiting.answer_of(method, request, seconds, stub.task, what)

    def list_devices(self) -> list[Any]:
        """The devices of all tasks that the session may use."""
        if self._has_cluster:
            with self._lock:
                self._send_graph()
        request = messages.ListDevicesRequest(
            device_filters=self._filters, timeout_in_ms=_milliseconds_left(),
            session=self._session if self._has_cluster else "",
        )  # fmt: skip
        with waiting.extended(_extra_seconds()):
            answer = self._answer(self._stub.list_devices, request, "to list its devices")
        return [
            DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation)
            for d in answer.devices
        ]

    def close(self) -> None:
        """Ends the session at the master, if that can be reached."""
        with self._lock:
            session, self._session = self._session, ""
        try:
            if session:
                self._stub.close_session(
                    messages.CloseSessionRequest(session=session), timeout=self._close_seconds
                )
        except errors.OpError:
            # The master is gone, and the session with it.
            return
        finally:
            self._stub.close()

    def _send_graph(self) -> None:
        """Sends what the master lacks of the graph."""
        version = self._graph.mutation_version
        if not self._session:
            request = messages.CreateSessionRequest(
                graph=self._graph.as_graph_def().SerializeToString(), config=self._config,
                target=self._stub.address,
            )  # fmt: skip
            answer = self._answer(self._stub.create_session, request, "to be up", UP_SECONDS)
            self._session, self._sent = answer.session, answer.nodes
        elif version != self._version or len(self._graph.operations) != self._sent:
            changed = version != self._version
            definition = self._graph.as_graph_def()
            if not changed:
                definition = _from(definition, self._sent)
            more = messages.ExtendSessionRequest(
                session=self._session,
                graph=definition.SerializeToString(),
                nodes=0 if changed else self._sent,
            )
            answer = self._answer(self._stub.extend_session, more, "to take the graph")
            self._sent = answer.nodes
        self._version = version

    def _run(
        self, step: str, args: Sequence[Any], trace: int
    ) -> tuple[Sequence[Any], dict[str, Any]]:
        request = messages.RunStepRequest(
            session=self._session,
            step=step,
            values=[tensor_codec.encode(value) for value in args],
            trace=trace,
            timeout_in_ms=_milliseconds_left(),
        )
        with waiting.extended(_extra_seconds()):
            # It may take as long as it likes, so nothing is said.
            answer = awaiting.answer_of(
                self._stub.run_step, request, None, self._stub.task, "to run the step", said=False
            )
        metadata = {each.task: each.metadata for each in answer.metadata}
        return [tensor_codec.decode(value) for value in answer.values], metadata

    def _explain(self, step: str) -> str:
        request = messages.ExplainStepRequest(session=self._session, step=step)
        return str(self._stub.explain_step(request, timeout=_CALL_SECONDS).text)


def _from(definition: Any, start: int) -> Any:
    """The nodes of a GraphDef from one on, with its functions."""
    made = GraphDef(versions=definition.versions, library=definition.library)
    made.node.extend(definition.node[start:])
    return made


def _milliseconds_left() -> int:
    """The time that is left to the step of this thread, as messages say it: 0 for any."""
    seconds = waiting.seconds_left()
    return 0 if seconds is None else max(1, int(seconds * 1000))


def _extra_seconds() -> float:
    """How much longer than the step a call to its master may take."""
    seconds = waiting.seconds_left() or 0.0
    return min(_EXTRA_SECONDS, max(_LEAST_EXTRA_SECONDS, 2 * seconds))


def _stub(target: str) -> Any:
    address = target.partition("://")[2]
    return rpc.Stub(address, "Master", f"the master at {target}", Security.from_environment())
