"""Which state a node touches: handles, the nodes that make them, and the keys that name state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.shared_state import SharedState

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph

# Where a graph has them, in ``Graph.attached``.
_RESHAPED = "reshaped_variables"


def handle_of(tensor: Tensor) -> Operation:
    """The node that makes the resource which a ref or resource tensor stands for.

    It looks through what hands a handle on: pass-throughs, and the nodes of conditionals and loops.
    Where a conditional chooses between two resources it gives the first; ``handles_of`` gives both.
    """
    found = handles_of(tensor)
    if not found:
        raise ValueError(f"{tensor.name} does not lead to a resource")
    return found[0]


def handles_of(tensor: Tensor) -> list[Operation]:
    """The nodes that make the resources which a ref or resource tensor may stand for."""
    op = tensor.op
    if _stands_for_state(op):
        return [op]
    found: dict[Operation, None] = {}
    # A loop hands a handle round in a circle, so nodes may come up again.
    stack, seen = [tensor], {tensor}
    while stack:
        current = stack.pop()
        if _stands_for_state(current.op):
            found[current.op] = None
            continue
        carriers = [t for t in _carriers(current) if t not in seen]
        seen.update(carriers)
        stack.extend(reversed(carriers))
    return list(found)


def _carriers(tensor: Tensor) -> list[Tensor]:
    """The inputs of a tensor's node that may hand it the state it stands for."""
    if blocks_of(tensor.op):
        return []  # what a region gives is a value, whatever state its blocks touch
    return [t for t in tensor.op.inputs if t.dtype.is_ref or t.dtype is dtypes.resource]


def naming_only(definition: OpDef) -> OpDef:
    """A definition of a node that names state and does not begin it anew."""
    if definition.kernel is None and definition.template is None:
        return definition
    made = OpDef(definition.name, definition.inputs, definition.outputs, definition.attrs)
    made.shape, made.state = definition.shape, definition.state
    made.stateful, made.on_host = True, definition.on_host
    return made


def is_reference_variable(op: Operation) -> bool:
    """Whether a node is a variable that others hold a reference to."""
    return op.op_def.role == "variable" and op.outputs[0].dtype.is_ref


def is_handle(tensor: Tensor) -> bool:
    """Whether the tensor stands for state that is known while the graph is built."""
    dtype = tensor.dtype
    if dtype.is_ref:
        return True
    if dtype is not dtypes.resource:
        return False
    # A handle that is looked up at run time (an iterator's, by its string; one in a list, by its
    # index) is a value, and so is the list.
    op = tensor.op
    return _stands_for_state(op) or (bool(handles_of(tensor)) and not _from_list(tensor))


def _stands_for_state(op: Operation) -> bool:
    """Whether the outputs of a node stand for state of its own."""
    state = op.op_def.state
    return state is not None and not getattr(state, "outputs_are_values", False)


def _from_list(tensor: Tensor) -> bool:
    """Whether the handle comes out of a list of handles that a node packed."""
    stack, seen = [tensor], {tensor}
    while stack:
        op = stack.pop().op
        definition = op.op_def
        if definition.state is not None:
            continue
        if not definition.aliases and any(arg.number_attr for arg in definition.inputs):
            return True
        carriers = [t for t in op.inputs if t.dtype is dtypes.resource and t not in seen]
        seen.update(carriers)
        stack.extend(carriers)
    return False


def wants_handle(op: Operation) -> list[bool]:
    """For each flat input: whether the op takes the state itself, not its value."""
    result: list[bool] = []
    blocks = bool(blocks_of(op))
    for arg in op.op_def.inputs:
        # A region names in `reads` and `writes` what its blocks touch.
        named = blocks and arg.name in ("reads", "writes")
        handle = arg.is_ref or arg.dtype is dtypes.resource or named
        result.extend([handle] * arg.count(op.attrs))
    for index, tensor in enumerate(op.inputs):
        if tensor.dtype is dtypes.resource:
            result[index] = True
    return result


def resource_key(op: Operation) -> tuple[str, str]:
    """Container and name under which the state of ``op`` is shared.

    The name begins with the kind of state where that is declared: those never meet another kind.
    """
    attrs = op.attrs
    state = op.op_def.state
    if "shared_name" not in attrs:
        return "__private__", state.kind if isinstance(state, SharedState) else op.name
    name = attrs["shared_name"] or op.name
    if isinstance(state, SharedState):
        name = f"{state.kind}:{name}"
    return attrs.get("container") or "", name


def resource_keys(op: Operation) -> set[tuple[str, str]]:
    """The keys of all state that the node's inputs stand for, or may stand for."""
    carriers = [t for t in op.inputs if t.dtype.is_ref or t.dtype is dtypes.resource]
    return {resource_key(h) for t in carriers for h in handles_of(t)}


def states_behind(tensor: Tensor) -> set[tuple[str, str]]:
    """The keys of all state in whose memory the tensor may lie: it is a read or a view of it."""
    found: set[tuple[str, str]] = set()
    stack, seen = [tensor], set[Operation]()
    while stack:
        current = stack.pop()
        if is_handle(current):
            found.update(map(resource_key, handles_of(current)))
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
    if not op.op_def.writes:
        return set()
    by_name = op.inputs_by_name()
    found: set[tuple[str, str]] = set()
    for name in op.op_def.writes:
        value = by_name[name]
        tensors = value if isinstance(value, list) else [value]
        carriers = [t for t in tensors if t.dtype.is_ref or t.dtype is dtypes.resource]
        found.update(resource_key(h) for t in carriers for h in handles_of(t))
    return found


def moved_keys(operations: Iterable[Operation]) -> set[tuple[str, str]]:
    """The keys of the reference variables that nodes may assign values of other shapes to.

    Such a value is new memory; whoever has read the variable before keeps the old.
    """
    found: set[tuple[str, str]] = set()
    for op in operations:
        if not op.attrs.get("validate_shape", True) and op.inputs[0].dtype.is_ref:
            found |= written_keys(op)
    return found


def is_of(tensor: Tensor, keys: set[tuple[str, str]]) -> bool:
    """Whether a tensor may stand for a state of ``keys``."""
    return bool(keys) and not keys.isdisjoint(map(resource_key, handles_of(tensor)))


def reshaped_variables(graph: Graph) -> set[str]:
    """Names of reference variables that may come to hold another shape than they are declared with.

    An assignment with ``validate_shape=False`` does that.  The user's graph keeps the declared
    shapes, as TensorFlow's does; a program must not take them for granted.
    """
    found: set[str] = graph.attached.setdefault(_RESHAPED, set())
    return found


def note_write(graph: Graph, op: Operation) -> None:
    """Takes notice of a new node that writes, and that may change a variable's shape."""
    if op.attrs.get("validate_shape", True):
        return
    ref, value = op.inputs[:2]
    for variable in handles_of(ref) if ref.dtype.is_ref else ():
        declared = variable.outputs[0].sizes
        if declared is None or None not in declared and declared == value.sizes:
            continue
        known = reshaped_variables(graph)
        if variable.name not in known:
            known.add(variable.name)
            graph.note_mutation()  # programs were compiled for the declared shape
