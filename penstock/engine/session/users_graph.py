"""From the nodes that run back to those that the user made.

Passes copy nodes with their names.  What a pass makes for a node has the node's name, or a name
under it (``NAME/transpose``), so the user's node is the longest prefix that the user's graph has.
"""

from __future__ import annotations

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation


def users_node(graph: Graph, name: str) -> Operation | None:
    """The node of the user's graph that a step's node stands for.

    Args:
      graph: the user's graph.
      name: of a node of the step graph.

    Returns:
      The node, or None when there is none.
    """
    while name and name not in graph.by_name:
        name = name.rpartition("/")[0]
    return graph.by_name.get(name)
