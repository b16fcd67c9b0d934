"""Which state a node touches: handles, the nodes that make them, and the keys that name state."""

from __future__ import annotations

from penstock.base import dtypes
from penstock.graph.operation import Operation
from penstock.graph.tensor import Tensor


def handle_of(tensor: Tensor) -> Operation:
    """The node that makes the resource which a ref or resource tensor stands for."""
    op = tensor.op
    while op.op_def.state is None:
        carriers = [t for t in op._inputs if is_handle(t)]
        if not carriers:
            raise ValueError(f"{tensor.name} does not lead to a resource")
        op = carriers[0].op
    return op


def is_handle(tensor: Tensor) -> bool:
    """Whether the tensor stands for state rather than for a value."""
    dtype = tensor.dtype
    return dtype.is_ref or dtype is dtypes.resource


def wants_handle(op: Operation) -> list[bool]:
    """For each flat input: whether the op takes the state itself, not its value."""
    result: list[bool] = []
    for arg in op.op_def.inputs:
        handle = arg.is_ref or arg.dtype is dtypes.resource
        count = 1
        if arg.is_list:
            size = op.attrs[arg.number_attr or arg.type_list_attr or ""]
            count = size if isinstance(size, int) else len(size)
        result.extend([handle] * count)
    for index, tensor in enumerate(op._inputs):
        if tensor.dtype is dtypes.resource:
            result[index] = True
    return result


def resource_key(op: Operation) -> tuple[str, str]:
    """Container and name under which the state of ``op`` is shared."""
    attrs = op.attrs
    if "shared_name" not in attrs:
        return "__private__", op.name
    return attrs.get("container") or "", attrs["shared_name"] or op.name


def resource_keys(op: Operation) -> set[tuple[str, str]]:
    """The keys of all state that the node's inputs stand for."""
    return {resource_key(handle_of(t)) for t in op._inputs if is_handle(t)}
