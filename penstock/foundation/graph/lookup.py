"""Nodes and tensors of a graph, found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


class Lookup:
    """A graph's nodes and tensors by name; a base class of ``Graph``."""

    operations: list[Operation]
    by_name: dict[str, Operation]

    if TYPE_CHECKING:

        def as_graph_element(
            self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
        ) -> Any:
            """``Graph``'s."""

    def get_operations(self) -> list[Operation]:
        """All operations, in creation order."""
        return list(self.operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called ``name``; KeyError when absent."""
        if not isinstance(name, str):
            raise TypeError(f"operation names are strings; found {type(name).__name__}")
        found = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        return found  # type: ignore[no-any-return]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor called ``name`` (``"op:0"``); KeyError when absent."""
        if not isinstance(name, str):
            raise TypeError(f"tensor names are strings; found {type(name).__name__}")
        found = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        return found  # type: ignore[no-any-return]

    def described(self) -> str:
        """What tells this graph from others, for errors."""
        first = f", the first {self.operations[0].name!r}" if self.operations else ""
        return f"the graph {id(self):#x} of {len(self.operations)} nodes{first}"

    def named_element(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        """The tensor or operation that a name means; raises as ``as_graph_element``."""
        if ":" in name and allow_tensor:
            op_name, _, index = name.rpartition(":")
            if not index.isdigit() or ":" in op_name:
                raise ValueError(f"malformed tensor name {name!r}; expected '<operation>:<index>'")
            op = self.by_name.get(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation,"
                    f" {op_name!r}, does not exist in the graph: no operation is called {op_name!r}"
                    " in this graph"
                )
            if int(index) >= len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation,"
                    f" {op_name!r}, exists but only has {len(op.outputs)} outputs."
                )
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not a Operation.: an operation name"
                " is wanted"
            )
        if name not in self.by_name:
            if not allow_operation:
                raise ValueError(
                    f"The name {name!r} looks like an (invalid) Operation name, not a Tensor."
                    ' Tensor names must be of the form "<op_name>:<output_index>".'
                )
            raise KeyError(
                f"The name {name!r} refers to an Operation not in the graph: no operation is called"
                f" {name!r} in this graph"
            )
        if not allow_operation:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of"
                f" the form '<op_name>:<output_index>', such as '{name}:0'"
            )
        return self.by_name[name]
