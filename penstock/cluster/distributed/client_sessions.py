"""The sessions of clients of other processes, whichever service they speak.

Every request is checked as if a stranger had sent it; what is malformed gets InvalidArgumentError.

State: the sessions by handle, each with the graph that the client has sent so far and the steps it
has prepared.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.cluster.distributed import tensor_codec
from penstock.cluster.distributed.clients_graph import graph_of
from penstock.cluster.distributed.master import Master, MasterSession, PreparedStep
from penstock.engine.resources import waiting
from penstock.engine.session.options import options_of
from penstock.engine.session.partial import PartialStep
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

# Sessions that no client has used for so long are closed: their client is gone.
IDLE_SECONDS = 24 * 3600.0


class ClientStep(NamedTuple):
    """A prepared step, with what it is fed and gives."""

    prepared: PreparedStep
    feeds: list[Tensor]
    fetches: list[Tensor]


class ClientSession:
    """A client's session."""

    def __init__(self, session: MasterSession, definition: Any) -> None:
        self.session, self.definition = session, definition
        self.steps: dict[Hashable, ClientStep] = {}
        self.partial: dict[str, PartialStep] = {}
        # By handle: the key of the step, and the RunOptions.
        self.callables: dict[int, tuple[Hashable, Any]] = {}
        self.used = time.monotonic()
        # Held while a step is prepared.
        self.lock = waiting.StepLock()
        # Steps that are prepared or run now; who waits for one is not idle.
        self.running = 0
        # Entered while a step is prepared or runs.
        self.in_use = _InUse(self)

    def prepare(
        self,
        key: Hashable,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        done: frozenset[Operation] = frozenset(),
    ) -> ClientStep:
        """Registers a step and keeps it; the lock is held."""
        step = self.session.prepare(feeds, fetches, targets, done)
        made = self.steps[key] = ClientStep(step, list(feeds), list(fetches))
        return made

    def run(
        self, step: ClientStep, args: Sequence[Any], trace: int
    ) -> tuple[list[Any], dict[str, Any]]:
        """Runs a prepared step with values that a client has sent."""
        if len(args) != step.prepared.feed_count:
            raise errors.invalid(
                f"the step takes {step.prepared.feed_count} value(s); {len(args)} were sent"
            )
        if args:
            check_feeds(step.feeds, args)
        return self.session.run(step.prepared, args, trace)


class _InUse:
    """Counts the steps of a session; entered by any number of threads."""

    __slots__ = ("_lock", "_session")

    def __init__(self, session: ClientSession) -> None:
        self._session, self._lock = session, threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._session.running += 1

    def __exit__(self, *exc: Any) -> None:
        session = self._session
        with self._lock:
            session.running -= 1
            session.used = time.monotonic()


class ClientSessions:
    """The sessions that clients of other processes have at a master.

    Args:
      master: of the server.
      max_graph_bytes: the largest graph that is taken.
    """

    def __init__(self, master: Master, max_graph_bytes: int) -> None:
        self.master, self._max_graph_bytes = master, max_graph_bytes
        self._lock = threading.Lock()
        self._sessions: dict[str, ClientSession] = {}

    def create(self, graph: bytes, config: bytes, target: str, context: Any) -> ClientSession:
        """A new session.

        Args:
          graph: a GraphDef.
          config: a ConfigProto, or nothing.
          target: as the client names this server.
          context: of the call; the session ends with it if it ends unanswered.
        """
        self._close_idle()
        options = parsed(ConfigProto, config, "config") if config else None
        definition = self._graph_def(graph)
        made = graph_of(definition, self._max_graph_bytes)
        session = self.master.session(made, options_of(options), options, target)
        found = ClientSession(session, definition)
        with self._lock:
            self._sessions[session.handle] = found
        context.on_cancel(lambda: self.close(session.handle))  # nobody will know its name
        return found

    def extend(self, found: ClientSession, graph: bytes, nodes: int | None) -> int:
        """Adds nodes to a session's graph.

        Args:
          found: the session.
          graph: a GraphDef with the nodes, and with functions.
          nodes: how many nodes the client believes to be here; None puts the graph in place of
            the old one.

        Returns:
          How many nodes are here now.

        Raises:
          tf.errors.AbortedError: there are more nodes than the client counts, and others than it
            sends; or fewer.
        """
        with found.lock:
            definition = self._graph_def(graph)
            if nodes is not None:
                definition = _extended(found.definition, definition, nodes)
            check_size(definition.ByteSize(), self._max_graph_bytes)
            found.session.graph = graph_of(definition, self._max_graph_bytes)
            found.definition = definition
            # Steps of an old graph stay: other threads of the client may be about to run them.
            return len(definition.node)

    def get(self, handle: str) -> ClientSession:
        """The session of a handle.

        Raises:
          tf.errors.AbortedError: there is none.
        """
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"the server of {self.master.worker.task} has no session {handle!r}:"
                " it was closed, or the server has been restarted; make a new one",
            )  # fmt: skip
        found.used = time.monotonic()
        return found

    def close(self, handle: str) -> bool:
        """Ends a session; tells whether there was one."""
        with self._lock:
            found = self._sessions.pop(handle, None)
        if found is not None:
            found.session.close()
        return found is not None

    def _close_idle(self) -> None:
        oldest = time.monotonic() - IDLE_SECONDS
        with self._lock:
            idle = [h for h, s in self._sessions.items() if not s.running and s.used < oldest]
            gone = [self._sessions.pop(handle) for handle in idle]
        for each in gone:
            each.session.close()

    def _graph_def(self, data: bytes) -> Any:
        check_size(len(data), self._max_graph_bytes)
        return parsed(GraphDef, data, "graph")


def _extended(old: Any, more: Any, nodes: int) -> Any:
    known = old.node[nodes:]
    again = list(more.node[: len(known)])
    # What is here beyond the client's count came with a request whose answer it did not wait for.
    if nodes > len(old.node) or again != list(known[: len(again)]):
        raise errors.AbortedError(
            None, None, f"the session's graph has {len(old.node)} nodes here and {nodes} at the"
            " client that extends it",
        )  # fmt: skip
    made = GraphDef()
    made.CopyFrom(old)
    made.node.MergeFrom(more.node[len(known) :])
    # A client sends all functions that its graph has, or those that are new.
    fresh = {each.signature.name for each in more.library.function}
    kept = [each for each in old.library.function if each.signature.name not in fresh]
    made.library.CopyFrom(more.library)
    made.library.function.extend(kept)
    return made


def for_caller(milliseconds: int, context: Any) -> AbstractContextManager[None]:
    """The work of this thread ends when its caller goes away, or has given it no more time."""
    seconds = milliseconds / 1000 if milliseconds > 0 else None
    cancellation = waiting.Cancellation()
    context.on_cancel(lambda: cancellation.cancel("the client is gone"))
    return waiting.running(cancellation, seconds)


def parsed(kind: Callable[[], Any], data: bytes, what: str) -> Any:
    """The message of bytes that came with a request."""
    message = kind()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise errors.invalid(
            f"the {what} of the request is no {type(message).__name__}: {error}"
        ) from None
    return message


def check_size(size: int, limit: int) -> None:
    """Refuses a graph that is too large."""
    if size > limit:
        raise errors.ResourceExhaustedError(
            None, None, f"the graph has {size} bytes; this server takes at most {limit}"
            " (Server(..., max_graph_bytes=...) or PENSTOCK_MAX_GRAPH_BYTES raises that)",
        )  # fmt: skip


def check_feeds(tensors: Sequence[Tensor], values: Sequence[Any]) -> None:
    """Programs are made for the types and shapes of their feeds."""
    for tensor, value in zip(tensors, values, strict=True):
        kind = (
            tensor_codec.STRING
            if isinstance(value, np.ndarray)
            else (tensor_codec.number_of(value.dtype))
        )
        shape = TensorShape(value.shape)
        if kind != dtypes.stored_as(tensor.dtype.base_dtype).as_datatype_enum or (
            not tensor.shape.is_compatible_with(shape)
        ):
            raise errors.invalid(
                f"{tensor.name!r} is fed a {dtypes.as_dtype(kind).name} of shape"
                f" {shape}; it takes a {tensor.dtype.base_dtype.name} of shape {tensor.shape}"
            )
