"""What a nested fetch asks of a graph, as programs that look into sessions ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.engine.session.fetches import FetchPlan
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


class FetchHandler:
    """The tensors and operations of a nested fetch.

    Args:
      graph: the session's graph.
      fetches: what is fetched.
      feeds: what is fed, by tensor: that need not be fetched.
    """

    def __init__(self, graph: Graph, fetches: Any, feeds: Mapping[Any, Any]) -> None:
        self._plan = FetchPlan(graph, fetches)
        self._fed = set(feeds)

    def fetches(self) -> list[Tensor]:
        """The tensors, each once."""
        return [t for t in self._plan.tensors if t not in self._fed]

    def targets(self) -> list[Operation]:
        """The operations, each once."""
        return list(self._plan.operations)
