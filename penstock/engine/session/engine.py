"""What runs a session's steps: this process, or the tasks of a cluster.

A session converts feeds and fetches and keeps what it has asked for; an engine makes programs of
steps.  The engine of the empty target compiles for this process.  Others are named by the scheme of
the target (``grpc://host:port``) and loaded when one is first asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from penstock.compiler.codegen.source import Watch
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.session.build import build_program
from penstock.engine.session.options import Options
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


@dataclass(frozen=True)
class Request:
    """One step: what ``build_program`` takes besides state and options."""

    graph: Graph
    feeds: Sequence[Tensor]
    fetches: Sequence[Tensor]
    targets: Sequence[Operation]
    shapes: tuple[Any, ...] | None = None
    watch: Watch = ""
    optimize: bool = True
    done: frozenset[Operation] = frozenset()


class Engine(Protocol):
    """What makes programs of steps, and the state that they work on."""

    # Whether steps run on tasks of a cluster; one program of a step then serves all shapes.
    remote: bool

    def program(self, request: Request) -> Any:
        """A program: what has of ``Program`` the ``function``, ``error`` and what says how it runs.

        These are ``blocking``, ``can_be_ended``, ``feeds`` and ``team``.  One that runs elsewhere
        has ``recording(bits, into)`` too.
        """

    def list_devices(self) -> list[Any]:
        """The devices that steps may use."""

    def close(self) -> None:
        """Frees what the session holds; steps that run end with CancelledError."""


class LocalEngine:
    """Runs steps in this process.

    Args:
      options: the session's.
    """

    remote = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._resources = ResourceManager()

    def program(self, request: Request) -> Any:
        """Compiles a step for this process."""
        options = self._options
        if not request.optimize:
            options = dataclasses.replace(options, optimize=False)
        return build_program(
            request.graph, request.feeds, request.fetches, request.targets, self._resources,
            options, shapes=request.shapes, watch=request.watch, done=request.done,
        )  # fmt: skip

    def list_devices(self) -> list[Any]:
        """The devices of this process."""
        return list(self._options.placer.devices)

    def close(self) -> None:
        """Drops the state."""
        self._resources.clear()


class Scheme(Protocol):
    """How targets of one scheme are reached."""

    def engine(self, target: str, graph: Graph, config: Any, options: Options) -> Engine:
        """The engine of a new session."""

    def reset(self, target: str, containers: Sequence[str], config: Any) -> None:
        """Drops the state in the containers (all, if none is named) of the target's tasks."""


# By name, the module above this room whose ``scheme()`` gives it.
_SCHEMES = {"grpc": "penstock.cluster.distributed.schemes"}


def scheme_of(target: str) -> Scheme:
    """The scheme that reaches a target.

    Raises:
      tf.errors.NotFoundError: there is no scheme of that name.
    """
    name = target.partition("://")[0] if "://" in target else ""
    if name not in _SCHEMES:
        known = ", ".join(f"{each}://..." for each in sorted(_SCHEMES))
        raise errors.NotFoundError(
            None, None, f"No session factory registered for {target!r}; allowed are '' and {known}"
        )
    scheme: Scheme = import_module(_SCHEMES[name]).scheme()
    return scheme


def engine_for(target: str, graph: Graph, config: Any, options: Options) -> Engine:
    """The engine of a new session.

    Args:
      target: the session's target; empty for this process.
      graph, config, options: the session's.

    Raises:
      tf.errors.OpError: the target cannot be reached.
    """
    if not target:
        return LocalEngine(options)
    return scheme_of(target).engine(target, graph, config, options)
