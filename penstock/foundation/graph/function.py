"""Function graphs: the bodies of functions that nodes call, such as the one of a ``MapDataset``.

A ``FunctionGraph`` is a graph of its own, traced once.  What it uses of the graph around it is
*captured*:

* a value becomes one more input; whoever calls the function passes the outer tensor after the
  arguments (``captured_outer``, the ``other_arguments`` of a dataset node);
* a variable, queue or other state is not passed: the body gets a node of its own that names the
  same state (container and shared name), so that shapes and hazards are known inside as outside;
* with ``by_value`` nothing is passed: the nodes that make a value are copied into the body.

A function is called by a node that names it in an attr (``PartitionedCall``, ``If``,
``MapDataset``) or, made by ``Defun``, by one whose op type is the function's name: its definition
is a ``CallDef``.

State besides a graph's: the inputs, the map of what was captured, the outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import handles
from penstock.foundation.graph.bodies import FunctionBody, bodies_of
from penstock.foundation.graph.build import make
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation, calls_functions, is_back_edge
from penstock.foundation.graph.scopes import default_graph_scope, get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

_numbers = itertools.count()
_SHARED = (
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES,
)  # fmt: skip


class FunctionGraph(FunctionBody, Graph):
    """The body of a function.

    Args:
      name: of the function; made unique.
      outer: the graph that the function is used in.
      by_value: copy what makes a captured value instead of passing it.
      stateful_allowed: op types with state of their own that may be copied all the same.
      unique: whether ``name`` is made unique; else it is taken as it is.
      pass_handles: hand resources in as arguments too, instead of naming them again.
    """

    def __init__(
        self,
        name: str,
        outer: Graph | None = None,
        by_value: bool = False,
        stateful_allowed: Callable[[str], bool] = lambda op_type: False,
        unique: bool = True,
        pass_handles: bool = False,
    ) -> None:
        super().__init__()
        self.outer = get_default_graph() if outer is None else outer
        self.name = f"{name}_{next(_numbers)}" if unique else name
        # The function that gives the gradient, where the user wrote it; else the body is traced.
        self.gradient: FunctionGraph | None = None
        self.traced_gradient: FunctionGraph | None = None
        # Names of the results and attrs of the function, in its message.
        self.output_names: list[str] | None = None
        self.function_attrs: dict[str, Any] = {}
        # When nodes are added that are not part of it (those of its gradient): its message, and how
        # many nodes are.
        self.exported: Any = None
        self.variables: list[Any] = []  # that a concrete function uses
        self.size: int | None = None
        self.arrays_are_lists = False  # as where datasets and ``tf.function`` trace it
        self._pass_handles = pass_handles
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.captured_outer: list[Tensor] = []
        self._by_value = by_value
        self._stateful_allowed = stateful_allowed
        self._captures: dict[Tensor, Tensor] = {}
        self._building_function = True
        self.takes_calls = False  # whether operations that are called on its tensors add to it
        self.seed = self.outer.seed
        self.attached = self.outer.attached
        for key, items in self.outer._collections.items():
            self._collections[key] = items if key in _SHARED else list(items)

    # ---- making it ---------------------------------------------------------------------------

    def add_input(self, dtype: dtypes.DType, dims: Any, name: str) -> Tensor:
        """Adds an argument, outside of whatever loop or branch is being made."""
        with default_graph_scope(self), self.name_scope(None), self.control_dependencies(None):
            shape = shapes.from_static(dims)
            made: Tensor = make("Placeholder", dtype=dtype, shape=shape, name=name)
        self.inputs.append(made)
        return made

    def finish(self, outputs: Iterable[Tensor]) -> None:
        """Sets the outputs: each passes through an ``Identity`` node, as in TF."""
        with default_graph_scope(self), self.control_dependencies(None), self.name_scope(None):
            self.outputs = [make("Identity", t) for t in outputs]

    def capture(self, tensor: Tensor) -> Tensor:
        """The tensor of this graph that stands for ``tensor``, which may be of a graph around.

        Raises:
          ValueError: it belongs to no graph around this one, or cannot be copied by value.
        """
        if tensor.has_value:
            return self._captured_value(tensor)
        if tensor.op.graph is self:
            return tensor
        found = self._captures.get(tensor)
        if found is None:
            self._check_around(tensor)
            found = self._captures[tensor] = self._captured(tensor)
        return found

    def _captured_value(self, tensor: Tensor) -> Tensor:
        """An argument that stands for what an operation that ran has given."""
        found = self._captures.get(tensor)
        if found is not None:
            return found
        outer: Graph = self.outer
        if isinstance(outer, FunctionGraph):
            source = outer.capture(tensor)
            found = self._captured(source)
        elif not outer.executes:
            raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
        elif tensor.dtype is dtypes.resource and not self._pass_handles:
            with default_graph_scope(self), self.name_scope(None), self.control_dependencies(None):
                found = outer.handle_in_function(tensor)
        else:
            found = self.add_input(tensor.dtype, tensor.sizes, "captured")
            self.captured_outer.append(tensor)
        self._captures[tensor] = found
        return found

    def captured_values(self) -> dict[Tensor, Tensor]:
        """What operations that ran gave this function, and what stands for it here."""
        return {value: inner for value, inner in self._captures.items() if value.has_value}

    def _captured(self, tensor: Tensor) -> Tensor:
        if self._by_value:
            return self._copied(tensor)
        if _is_state(tensor) and not (self._pass_handles and tensor.dtype is dtypes.resource):
            return self._named_again(tensor)
        outer = tensor
        if tensor.op.graph is not self.outer and isinstance(self.outer, FunctionGraph):
            outer = self.outer.capture(tensor)
        name = tensor.op.name.rpartition("/")[2] or "captured"
        inner = self.add_input(tensor.dtype.base_dtype, tensor.sizes, name)
        inner.static_value = static.constant_value(tensor)
        self.captured_outer.append(outer)
        return inner

    def _check_around(self, tensor: Tensor) -> None:
        graph: Graph = self
        while isinstance(graph, FunctionGraph):
            graph = graph.outer
            if tensor.op.graph is graph:
                return
        raise ValueError(
            f"{tensor.name!r} must be from the graph of function {self.name!r} or one around it"
        )

    def _named_again(self, tensor: Tensor) -> Tensor:
        """The handle of the same state, made in this graph."""
        if tensor.op.op_def.state is None:
            # A handle that was handed on, ``Identity`` of a variable's: so is the copy's.
            return self._copied(tensor)
        return self._copy(tensor.op).outputs[tensor.value_index]

    def _copied(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        if self._by_value:
            self._check_copyable(op)
        return self._copy(op).outputs[tensor.value_index]

    def _copy(self, op: Operation) -> Operation:
        attrs = dict(op.attrs)
        attrs.pop("_class", None)
        if op.op_def.state is not None and "shared_name" in attrs:
            attrs["shared_name"] = attrs["shared_name"] or op.name
        # The way back of a loop is closed once the loop's other nodes are there.
        back = [is_back_edge(op, t) for t in op.inputs]
        inputs = [self.capture(op.inputs[0] if b else t) for t, b in zip(op.inputs, back)]
        types = [t.dtype for t in op.outputs]
        with self.name_scope(None), self.control_dependencies(None):
            name = self.unique_name(op.name)
            made = self.add_operation(op.op_def, inputs, attrs, types, name)
        made.put_on(op.device)
        for old, new in zip(op.outputs, made.outputs, strict=True):
            new.sizes = old.sizes
            self._captures[old] = new
        for index in (i for i, b in enumerate(back) if b):
            made._update_input(index, self.capture(op.inputs[index]))
        return made

    def _check_copyable(self, op: Operation) -> None:
        if op.op_def.role == "placeholder":
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        definition = op.op_def
        stateful = definition.stateful or definition.state is not None
        if stateful and not self._stateful_allowed(op.type):
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )

    # ---- running it --------------------------------------------------------------------------

    def effects(self) -> list[Operation]:
        """Nodes that run even if no output needs them."""
        return [op for op in self.operations[: self.size] if has_effect(op)]

    def handed_on(self, argument: int, result: int | None = None) -> bool:
        """Whether a result (default: that of the same number) is an argument, unchanged."""
        tensor = self.outputs[argument if result is None else result]
        while tensor.op.op_def.role == "identity" and not tensor.op.control_inputs:
            tensor = tensor.op.inputs[0]
        return tensor is self.inputs[argument]

    # ---- what differs from a graph -----------------------------------------------------------

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """As ``Graph``'s; what is outside has run before the function is called."""
        if control_inputs is None:
            return super().control_dependencies(None)
        return super().control_dependencies([c for c in control_inputs if self._owns(c)])

    @property
    def outermost(self) -> Graph:
        """The first graph around this one that is no function's."""
        return self.outer.outermost

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As ``Graph``'s; what is outside, or ran, is in no place of this graph."""
        graph = getattr(getattr(op, "op", op), "graph", None)
        if graph is not None and graph is not self:
            return nullcontext()
        return super().colocate_with(op, ignore_existing)

    def _owns(self, item: Any) -> bool:
        for part in ("values", "op"):
            if not isinstance(item, Operation):
                item = getattr(item, part, item)
        return getattr(item, "graph", self) is self

    def __repr__(self) -> str:
        return f"<FunctionGraph {self.name!r}>"


def has_effect(op: Operation) -> bool:
    """Whether running a node matters even if nobody takes what it gives."""
    if op.op_def.effect:
        return True
    if not calls_functions(op):
        return False
    asked = [body for body in bodies_of(op) if body not in _asked]
    _asked.extend(asked)
    try:
        return any(body.effects() for body in asked)
    finally:
        del _asked[len(_asked) - len(asked) :]


# The bodies that are being looked at: a function that calls itself is looked at once.
_asked: list[FunctionGraph] = []


def _is_state(tensor: Tensor) -> bool:
    """Whether the tensor names state that is known while the graph is built."""
    if not (tensor.dtype.is_ref or tensor.dtype is dtypes.resource):
        return False
    return bool(handles.handles_of(tensor))


def trace(
    name: str,
    types: Sequence[tuple[dtypes.DType, Any, str]],
    body: Callable[[list[Tensor]], Sequence[Tensor]],
) -> FunctionGraph:
    """Traces a function of the default graph, whose calls are steps of their own.

    Args:
      name: of the function.
      types: dtype, static dims and name of each argument.
      body: from the arguments to the outputs; called once.

    Returns:
      Its body.
    """
    graph = FunctionGraph(name)
    graph.arrays_are_lists = True
    arguments = [graph.add_input(dtype, dims, label) for dtype, dims, label in types]
    with default_graph_scope(graph):
        outputs = [graph.capture(t) for t in body(arguments)]
    graph.finish(outputs)
    # Captures that the trace made come after the arguments.
    return graph
