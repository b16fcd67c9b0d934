"""One step's graph: what a session hands down the pipeline.

After ``prune`` the graph holds only what the step needs, its nodes stand in a valid order, and each
fed tensor is the output of a ``_Feed`` node.  Every later pass keeps this form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


@dataclass(frozen=True)
class StepGraph:
    """A graph with what is fed into it, fetched from it and run for its effect."""

    graph: Graph
    feeds: list[Tensor]
    fetches: list[Tensor]
    targets: list[Operation]
    # Name of the user's tensor behind each feed, for messages.
    feed_names: list[str] = field(default_factory=list)

    @property
    def operations(self) -> list[Operation]:
        """The nodes, each after everything it needs."""
        return self.graph.operations
