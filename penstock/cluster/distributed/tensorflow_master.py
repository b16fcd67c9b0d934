"""TensorFlow's ``MasterService``: its own clients, of any language, as front ends.

Each call is translated into those of the session that Penstock's own clients have as well: graphs,
placement, steps and state are the master's.  A step is known by the names of what it is fed, gives
and runs; the first such call prepares it.  A graph's version is how many nodes it has.

    RunStep(feed, fetch, target) -> names -> prepared step -> values -> TensorProtos
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata

from penstock.cluster.distributed import rpc_errors, tensor_messages
from penstock.cluster.distributed.client_sessions import (
    ClientSession,
    ClientSessions,
    ClientStep,
    for_caller,
)
from penstock.cluster.distributed.cluster_program import ClusterProgram, users_error
from penstock.engine.session import partial, tracing
from penstock.foundation.base import errors
from penstock.foundation.formats import master_messages as messages
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

# The names of what a step is fed, gives and runs.
_Names = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class TensorFlowMaster:
    """Handlers of ``tensorflow.MasterService``.

    Args:
      sessions: of the server's clients.
      max_tensor_bytes: the largest tensor that a client may feed.
    """

    def __init__(self, sessions: ClientSessions, max_tensor_bytes: int) -> None:
        self._sessions, self._max_tensor_bytes = sessions, max_tensor_bytes
        self._numbers = itertools.count(1)

    # ---- sessions ----------------------------------------------------------------------------

    def create_session(self, request: Any, context: Any) -> Any:
        """A new session on a graph."""
        target = request.target.partition("://")[2]
        found = self._sessions.create(request.graph_def, request.config, target, context)
        return messages.CreateSessionResponse(
            session_handle=found.session.handle, graph_version=len(found.definition.node)
        )

    def extend_session(self, request: Any, context: Any) -> Any:
        """Adds nodes to a session's graph."""
        found = self._sessions.get(request.session_handle)
        version = self._sessions.extend(found, request.graph_def, request.current_graph_version)
        return messages.ExtendSessionResponse(new_graph_version=version)

    def close_session(self, request: Any, context: Any) -> Any:
        """Ends a session."""
        if not self._sessions.close(request.session_handle):
            self._sessions.get(request.session_handle)  # says that there is none
        return messages.CloseSessionResponse()

    def reset(self, request: Any, context: Any) -> Any:
        """Drops the state in containers of all tasks and ends all sessions."""
        self._sessions.master.reset(request.container, request.device_filters)
        return messages.ResetResponse()

    def list_devices(self, request: Any, context: Any) -> Any:
        """The devices that a session may use: of the server's task, and of others."""
        master = self._sessions.master
        with for_caller(0, context):
            if request.session_handle:
                devices = self._sessions.get(request.session_handle).session.list_devices()
            else:
                devices = master.list_devices()
        answer = messages.ListDevicesResponse()
        for each in devices:
            own = each.name.startswith(f"{master.worker.task}/")
            (answer.local_device if own else answer.remote_device).add(
                name=each.name, device_type=each.device_type,
                memory_limit=each.memory_limit_bytes, incarnation=each.incarnation,
            )  # fmt: skip
        return answer

    # ---- steps -------------------------------------------------------------------------------

    def run_step(self, request: Any, context: Any) -> Any:
        """Runs a step, or a part of one."""
        found = None
        try:
            found = self._sessions.get(request.session_handle)
            with found.in_use, for_caller(request.options.timeout_in_ms, context):
                run = self._run_part if request.partial_run_handle else self._run_whole
                return run(found, request)
        except errors.OpError as raised:
            error = raised if found is None else _as_user_knows(found, raised)
            if not request.store_errors_in_response_body:
                raise error from None
            failure = rpc_errors.failure_of(error)
            text = failure.message + rpc_errors.tag_of(failure.node)
            return messages.RunStepResponse(
                status_code=failure.code or errors.UNKNOWN, status_error_message=text
            )

    def _run_whole(self, found: ClientSession, request: Any) -> Any:
        fed, options = request.feed, request.options
        names: _Names = (
            tuple([each.name for each in fed]) if fed else (), tuple(request.fetch),
            tuple(request.target),
        )  # fmt: skip
        step = found.steps.get(names) or _prepared(found, names, names)
        limit = self._max_tensor_bytes
        args = [tensor_messages.read(each.tensor, limit) for each in fed] if fed else []
        values, recorded = found.run(step, args, _trace(options) if options.ByteSize() else 0)
        response = messages.RunStepResponse()
        if recorded:
            response.metadata = _metadata(recorded)
        self._add(response, names[1], step.fetches, values)
        return response

    def _add(
        self, response: Any, names: Sequence[str], tensors: Sequence[Tensor], values: Sequence[Any]
    ) -> None:
        for name, tensor, value in zip(names, tensors, values, strict=True):
            tensor_messages.fill(
                response.tensor.add(name=name).tensor, value, tensor.dtype.base_dtype
            )

    # ---- partial runs ------------------------------------------------------------------------

    def partial_run_setup(self, request: Any, context: Any) -> Any:
        """Declares a step that will be run in parts."""
        found = self._sessions.get(request.session_handle)
        graph = found.session.graph
        with found.lock:
            fetches = [
                *_tensors(graph, request.fetch, "fetch"), *_operations(graph, request.target)
            ]  # fmt: skip
            feeds = _tensors(graph, request.feed, "feed")
            step = _said(lambda: partial.set_up(graph, fetches, feeds))
            found.partial[step.name] = step
        return messages.PartialRunSetupResponse(partial_run_handle=step.name)

    def _run_part(self, found: ClientSession, request: Any) -> Any:
        handle = request.partial_run_handle
        step = partial.step_of(found.partial, handle)
        names = [each.name for each in request.feed]
        try:
            fetches = _tensors(step.graph, request.fetch, "fetch")
            targets = _operations(step.graph, request.target)
            fed = _tensors(step.graph, names, "feed")
        except errors.NotFoundError as error:  # so it was not there when the run was declared
            raise errors.invalid(f"not specified in PartialRunSetup: {error.message}") from None
        feeds = {
            tensor: tensor_messages.read(each.tensor, self._max_tensor_bytes)
            for tensor, each in zip(fed, request.feed, strict=True)
        }
        parts = _Parts(found)
        try:
            values = _said(lambda: partial.run_part(parts, step, [fetches, targets], feeds))[0]
        finally:
            if step.over:
                found.partial.pop(handle, None)
        response = messages.RunStepResponse()
        self._add(response, request.fetch, fetches, values)
        return response

    # ---- callables ---------------------------------------------------------------------------

    def make_callable(self, request: Any, context: Any) -> Any:
        """Prepares a step that is run by number."""
        found = self._sessions.get(request.session_handle)
        options = request.options
        if options.tensor_connection:
            raise errors.UnimplementedError(
                None, None, "CallableOptions.tensor_connection is not supported"
            )
        names: _Names = tuple(options.feed), tuple(options.fetch), tuple(options.target)
        with found.in_use, for_caller(0, context):
            _of_users_graph(found, lambda: _prepared(found, names, names))
        handle = next(self._numbers)
        found.callables[handle] = names, options.run_options
        return messages.MakeCallableResponse(handle=handle)

    def run_callable(self, request: Any, context: Any) -> Any:
        """Runs a prepared step by its number."""
        found = self._sessions.get(request.session_handle)
        key, options = _callable(found, request.handle)
        args = [tensor_messages.read(each, self._max_tensor_bytes) for each in request.feed]
        with found.in_use, for_caller(options.timeout_in_ms, context):
            step = found.steps[key]
            values, recorded = _of_users_graph(
                found, lambda: found.run(step, args, _trace(options))
            )
        response = messages.RunCallableResponse(metadata=_metadata(recorded))
        for tensor, value in zip(step.fetches, values, strict=True):
            tensor_messages.fill(response.fetch.add(), value, tensor.dtype.base_dtype)
        return response

    def release_callable(self, request: Any, context: Any) -> Any:
        """Forgets the number."""
        found = self._sessions.get(request.session_handle)
        _callable(found, request.handle)
        found.callables.pop(request.handle, None)
        return messages.ReleaseCallableResponse()


class _Parts:
    """What runs the parts of a partial run: a session, as ``engine.session.partial`` uses one."""

    # Handles of tensors are what the client makes of them.
    kept_value = None

    def __init__(self, found: ClientSession) -> None:
        self._found = found

    def part_program(
        self,
        feeds: list[Tensor],
        fetches: list[Tensor],
        targets: list[Operation],
        done: frozenset[Operation],
    ) -> ClusterProgram:
        found = self._found
        key = (tuple(feeds), tuple(fetches), tuple(targets), done)
        with found.lock:
            step = found.steps.get(key) or found.prepare(key, feeds, fetches, targets, done)
        graph, session = found.session.graph, found.session
        return ClusterProgram(
            graph,
            fetches,
            lambda args, trace: session.run(step.prepared, args, trace),
            lambda: session.explain(step.prepared),
        )

    def call_program(self, program: ClusterProgram, args: Sequence[Any]) -> tuple[Any, ...]:
        return program.function(*args)


def _prepared(found: ClientSession, key: Hashable, names: _Names) -> ClientStep:
    step = found.steps.get(key)
    if step is not None:
        return step
    with found.lock:
        step = found.steps.get(key)
        if step is None:
            graph = found.session.graph
            feeds, fetches, targets = names
            if not fetches and not targets:
                raise errors.invalid("Must specify at least one target to fetch or execute.")
            step = found.prepare(
                key,
                _tensors(graph, feeds, "feed"),
                _tensors(graph, fetches, "fetch"),
                _operations(graph, targets),
            )
    return step


def _tensors(graph: Graph, names: Sequence[str], what: str) -> list[Tensor]:
    made: list[Tensor] = []
    for name in names:
        full = name if ":" in name else f"{name}:0"
        try:
            made.append(graph.as_graph_element(full, allow_operation=False))
        except (KeyError, ValueError, TypeError):
            raise errors.NotFoundError(
                None, None, f"the graph has no tensor {name!r} to {what}"
            ) from None
    return made


def _operations(graph: Graph, names: Sequence[str]) -> list[Operation]:
    made: list[Operation] = []
    for name in names:
        try:
            made.append(graph.as_graph_element(name.removeprefix("^"), allow_tensor=False))
        except (KeyError, ValueError, TypeError):
            raise errors.NotFoundError(None, None, f"the graph has no node {name!r}") from None
    return made


def _callable(found: ClientSession, handle: int) -> tuple[Hashable, Any]:
    made = found.callables.get(handle)
    if made is None:
        raise errors.invalid(f"No such callable handle: {handle}")
    return made


def _of_users_graph(found: ClientSession, call: Callable[[], Any]) -> Any:
    """Calls; the error of a node names that of the client's graph, not what a pass made of it."""
    try:
        return call()
    except errors.OpError as error:
        raise _as_user_knows(found, error) from None


def _as_user_knows(found: ClientSession, error: errors.OpError) -> errors.OpError:
    return users_error(found.session.graph, error) or error


def _said(call: Callable[[], Any]) -> Any:
    """Calls what tells users of this process by Python's errors that they ask for nonsense."""
    try:
        return call()
    except (KeyError, ValueError, TypeError) as error:
        raise errors.invalid(str(error)) from None


def _trace(options: Any) -> int:
    wanted = tracing.wanted(options, False)
    return wanted.bits if wanted is not None else 0


def _metadata(recorded: dict[str, bytes]) -> bytes:
    if len(recorded) < 2:
        return next(iter(recorded.values()), b"")
    made = RunMetadata()
    for task in sorted(recorded):
        made.MergeFrom(RunMetadata.FromString(recorded[task]))
    data: bytes = made.SerializeToString()
    return data
