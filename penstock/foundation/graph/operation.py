"""An operation: one node of the graph, and the static shapes of its outputs.

State: the op type's definition, input tensors, control inputs, attrs (plain Python values, by
name), the requested device, and the user's line that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.foundation.base import devices, dtypes, mismatch
from penstock.foundation.base.origin import Origin
from penstock.foundation.graph import node_message
from penstock.foundation.graph.defaults import session_for
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext, show
from penstock.foundation.opdef.kinds import CALLS, PRIMITIVES

if TYPE_CHECKING:
    from penstock.foundation.graph.graph import Graph
    from penstock.foundation.opdef.opdef import ArgDef, OpDef


_new = object.__new__


class Refusal(NamedTuple):
    """Why a node fails when it runs; ``error`` names the class of ``tf.errors``."""

    reason: str
    error: str = "InvalidArgumentError"


class Operation:
    """One node: takes tensors, makes tensors, may touch state.

    Its fields are to be read; the graph, and those who rewrite it, write them.  ``inputs`` and
    ``control_inputs`` are tuples; ``id`` is the place in the order of creation.
    """

    __slots__ = (
        "graph", "id", "name", "type", "op_def", "inputs", "control_inputs", "outputs",
        "attrs", "_device", "origin", "_original_op", "_control_flow_context", "refusal",
        "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        op_def: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Sequence[Operation],
        attrs: dict[str, Any],
        output_types: Sequence[dtypes.DType],
        origin: Origin | None,
    ) -> None:
        self.graph = graph
        self.op_def = op_def
        self.type = op_def.name
        self.name = name
        self.inputs = tuple(inputs)
        self.control_inputs = tuple(control_inputs)
        self.attrs = attrs
        self.origin = origin
        self._device = ""
        self._original_op: Operation | None = None
        self._control_flow_context: Any = None
        self.id = -1
        # What its shape rule says against its inputs, in a step those it is fed, where that is no
        # error yet; running it says so.
        self.refusal: Refusal | None = None
        self.outputs = [graph.tensor_class(self, i, t) for i, t in enumerate(output_types)]

    def copied_to(
        self, graph: Graph, inputs: tuple[Tensor, ...], control_inputs: tuple[Operation, ...]
    ) -> Operation:
        """The same node, with the shapes known of it, for another graph; passes make many."""
        new = _new(Operation)
        new.graph, new.op_def, new.type, new.name = graph, self.op_def, self.type, self.name
        new.inputs, new.control_inputs = inputs, control_inputs
        new.attrs, new.origin, new.refusal = self.attrs, self.origin, self.refusal
        new._device, new.id = self._device, -1
        new._original_op = new._control_flow_context = None
        new.outputs = [t.copied_to(new) for t in self.outputs]
        return new

    @property
    def device(self) -> str:
        """The device string asked for; empty when unconstrained."""
        return self._device

    @property
    def _output_types(self) -> list[int]:
        return [t.dtype.as_datatype_enum for t in self.outputs]

    @property
    def node_def(self) -> Any:
        """This node as a ``NodeDef`` protobuf message."""
        return node_message.node_def(self)

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """The user's line that made this node: ``[(file, line, function, text)]``."""
        origin = self.origin
        return [] if origin is None else [(*origin, origin.line)]

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str, int]]:
        """``traceback``, each row with the number of the line where its function begins."""
        origin = self.origin
        return [] if origin is None else [(*origin, origin.line, origin.function_line)]

    def values(self) -> tuple[Tensor, ...]:
        """The outputs, as a tuple."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The ``loc:@name`` groups that this node must be placed with."""
        groups = self.attrs.get("_class") or ()
        found = [g for g in groups if g.startswith(b"loc:@")]
        return found or [f"loc:@{self.name}".encode()]

    def get_attr(self, name: str) -> Any:
        """Value of attr ``name``, as TensorFlow's Python API gives it.

        Raises:
          ValueError: when there is no such attr.
        """
        if name not in self.attrs:
            raise ValueError(
                f"operation {self.name!r} ({self.type}) has no attr {name!r}; it has "
                f"{sorted(self.attrs)}"
            )
        return node_message.attr_for_user(self.attrs[name], self.op_def.attrs.get(name))

    def inputs_by_name(self) -> dict[str, Any]:
        """Input tensors by argument name; list arguments give lists."""
        return self._grouped(self.op_def.inputs, self.inputs)

    def outputs_by_name(self) -> dict[str, Any]:
        """Output tensors by argument name; list arguments give lists."""
        return self._grouped(self.op_def.outputs, self.outputs)

    def _grouped(self, args: Sequence[ArgDef], tensors: Sequence[Tensor]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        position = 0
        for arg in args:
            if not arg.is_list:
                result[arg.name] = tensors[position]
                position += 1
                continue
            end = position + arg.count(self.attrs)
            result[arg.name] = list(tensors[position:end])
            position = end
        return result

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs this operation in ``session`` (default: the default session)."""
        session_for(session, self.graph, "Operation.run").run(self, feed_dict)

    def put_on(self, device: str) -> None:
        """Takes a device's name, written as ``devices.canonical_name`` writes it, for its own."""
        self._device = device

    # ---- the few mutations that TF's API has -------------------------------------------------

    def _set_device(self, device: Any) -> None:
        self._device = devices.canonical_name(device) if device else ""
        self.graph.note_mutation()

    def _set_attr(self, name: str, value: Any) -> None:
        plain = node_message.attr_from_any(value, name)
        with self.graph.lock:
            self.attrs[name] = plain
            self.graph.note_mutation()

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Sequence[Operation]) -> None:
        with self.graph.lock:
            self.control_inputs = tuple(dict.fromkeys((*self.control_inputs, *ops)))
            self.graph.note_mutation()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor.name} is not in the graph of operation {self.name}")
        with self.graph.lock:
            before = self.inputs
            before[index].uses.remove(self)
            self.inputs = (*before[:index], tensor, *before[index:][1:])
            tensor.uses.append(self)
            self.graph.note_mutation()

    def _remove_all_control_inputs(self) -> None:
        self.control_inputs = ()
        self.graph.note_mutation()

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)


def is_back_edge(op: Operation, tensor: Tensor) -> bool:
    """Whether ``tensor``, an input of ``op``, is the way back of a loop.

    These are the only edges that close a cycle; without them a graph has an order.
    """
    return op.op_def.control == "merge" and tensor.op.op_def.control == "next"


def is_marked(op: Operation) -> bool:
    """Whether a node was made in an ``experimental_jit_scope``, or is of such a node's gradient."""
    return bool(op.attrs.get("_XlaCompile"))


def blocks_of(op: Operation) -> tuple[Any, ...]:
    """The steps that a region holds (see ``region``); none for any other node."""
    return op.attrs.get("blocks", ()) if op.op_def.internal else ()


def inner_operations(op: Operation) -> list[Operation]:
    """All nodes in the blocks of a region, those of inner regions too."""
    found: list[Operation] = []
    for block in blocks_of(op):
        for inner in block.operations:
            found.append(inner)
            found.extend(inner_operations(inner))
    return found


def is_given(op: Operation, fed: Container[Tensor]) -> bool:
    """Whether a node has nothing to run: who waits for it waits for what is fed."""
    return op.op_def.role in ("placeholder", "default") and op.outputs[0] in fed


def calls_functions(op: Operation) -> bool:
    """Whether a node stands for runs of functions, which a step has in its place."""
    return op.op_def.control in CALLS


def has_control_flow(operations: Iterable[Operation]) -> bool:
    """Whether there are primitives of conditionals or loops, of which a step makes regions."""
    return any(op.op_def.control in PRIMITIVES for op in operations)


def infer_shapes(op: Operation) -> None:
    """Gives a node's outputs the static shapes that its rule infers.

    Raises:
      ValueError: the rule refuses the inputs.
    """
    op_def = op.op_def
    rule = op_def.shape
    if rule is None:
        return
    try:
        result = _run_rule(op, rule)
    except FailsAtRun as failure:
        op.refusal = Refusal(str(failure), failure.error)
        result = failure.result
        if result is None and len(op.outputs) > 1:
            return
    if not op.outputs:
        return
    if len(op.outputs) == 1 and not op_def.has_list_output:
        op.outputs[0].sizes = result
        return
    if len(result) != len(op.outputs):
        raise RuntimeError(
            f"shape rule of {op.type} gave {len(result)} shapes for {len(op.outputs)} outputs"
        )
    for tensor, dims in zip(op.outputs, result, strict=True):
        tensor.sizes = dims


def _run_rule(op: Operation, rule: Callable[[ShapeContext], Any]) -> Any:
    try:
        return rule(ShapeContext(op))
    except FailsAtRun:
        raise
    except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        operands = ", ".join(f"{t.name} {show(t.sizes)} {t.dtype.name}" for t in op.inputs)
        reason = mismatch.in_a_node(error)
        raise ValueError(f"{op.type} {op.name!r}: {reason}; its inputs are {operands}") from error
