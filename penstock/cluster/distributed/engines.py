"""The engine of sessions whose master is in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.cluster.distributed.cluster_program import ClusterProgram, users_error
from penstock.cluster.distributed.master import Master
from penstock.engine.session.engine import Request
from penstock.engine.session.options import Options
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph


class MasterEngine:
    """Runs a session's steps by a master of this process.

    Args:
      master: of the server that the target names.
      graph, options, config: the session's.
      target: its target.
    """

    remote = True

    def __init__(
        self, master: Master, graph: Graph, options: Options, config: Any, target: str
    ) -> None:
        self._session = master.session(graph, options, config, target.partition("://")[2])

    def program(self, request: Request) -> Any:
        """Prepares a step at the tasks that take part in it."""
        session = self._session
        if request.watch == "observe":
            raise errors.UnimplementedError(
                None, None, "steps of a session on a server cannot be observed line by line;"
                " ask for RunMetadata by RunOptions(trace_level=...) instead",
            )  # fmt: skip
        try:
            step = session.prepare(request.feeds, request.fetches, request.targets, request.done)
        except errors.OpError as error:
            raise users_error(request.graph, error) or error from None

        def run(args: Sequence[Any], trace: int) -> tuple[Sequence[Any], dict[str, Any]]:
            return session.run(step, args, trace)

        return ClusterProgram(request.graph, request.fetches, run, lambda: session.explain(step))

    def list_devices(self) -> list[Any]:
        """The devices of all tasks that the session may use."""
        return self._session.list_devices()

    def close(self) -> None:
        """Ends the session at the master."""
        self._session.close()
