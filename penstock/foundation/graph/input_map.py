"""What ``import_graph_def`` puts in place of nodes' inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor


def converted_map(graph: Graph, input_map: Mapping[Any, Any]) -> dict[str, Any]:
    """Tensors and operations by full names, from what the user gives.

    Raises:
      TypeError: a key is no name.
      ValueError: a value is no tensor, and there is no scope to put its constant into.
    """
    result: dict[str, Any] = {}
    outer = graph.get_name_scope()
    for key, value in input_map.items():
        if isinstance(key, bytes):
            key = key.decode()
        if not isinstance(key, str):
            raise TypeError(
                "input_map must be a dictionary mapping strings to Tensor objects.: found the key"
                f" {key!r}"
            )
        if key.startswith("^"):
            element = graph.as_graph_element(value)
            result[key] = element.op if isinstance(element, Tensor) else element
            continue
        made = value
        if not isinstance(value, Tensor):
            if not outer:
                raise ValueError(
                    f"input_map has a value that is no tensor for {key!r}; that needs a name to "
                    "put the converted value under, and name is empty"
                )
            with graph.name_scope(f"{outer}/_inputs/"):
                made = convert_to_tensor(value)
        result[key if ":" in key else f"{key}:0"] = made
    return result
