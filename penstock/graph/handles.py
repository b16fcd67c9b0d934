"""Which state a node touches: handles, the nodes that make them, and the keys that name state."""

from __future__ import annotations

from collections.abc import Iterable

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
    if dtype.is_ref:
        return True
    if dtype is not dtypes.resource:
        return False
    # A handle that is looked up at run time (an iterator's, by its string) is a value.
    op = tensor.op
    return op.op_def.state is not None or any(is_handle(t) for t in op._inputs)


def wants_handle(op: Operation) -> list[bool]:
    """For each flat input: whether the op takes the state itself, not its value."""
    result: list[bool] = []
    for arg in op.op_def.inputs:
        handle = arg.is_ref or arg.dtype is dtypes.resource
        result.extend([handle] * arg.count(op.attrs))
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


def states_behind(tensor: Tensor) -> set[tuple[str, str]]:
    """The keys of all state in whose memory the tensor may lie: it is a read or a view of it."""
    found: set[tuple[str, str]] = set()
    stack, seen = [tensor], set[Operation]()
    while stack:
        current = stack.pop()
        if is_handle(current):
            found.add(resource_key(handle_of(current)))
        elif current.op not in seen:
            seen.add(current.op)
            for name in current.op.op_def.aliases:
                value = current.op.inputs_by_name()[name]
                stack.extend(value if isinstance(value, list) else [value])
    return found


class WriteOrder:
    """Where, in a list of nodes in order, each state is written."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._positions: dict[Operation, int] = {}
        self._writes: dict[tuple[str, str], list[int]] = {}
        for position, op in enumerate(operations):
            self._positions[op] = position
            for key in written_keys(op):
                self._writes.setdefault(key, []).append(position)

    def written_until(self, key: tuple[str, str], op: Operation) -> bool:
        """Whether the state is written by a node before ``op``, or by ``op`` itself."""
        return any(write <= self._positions[op] for write in self._writes.get(key, ()))


def written_keys(op: Operation) -> set[tuple[str, str]]:
    """The keys of all state that the node writes."""
    by_name = op.inputs_by_name()
    found: set[tuple[str, str]] = set()
    for name in op.op_def.writes:
        value = by_name[name]
        tensors = value if isinstance(value, list) else [value]
        found.update(resource_key(handle_of(t)) for t in tensors if is_handle(t))
    return found
