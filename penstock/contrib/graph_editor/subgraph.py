"""Views of a part of a graph: its operations, what goes into them, what comes out.

State: the operations, the tensors that merely pass through, and which of the actual inputs and
outputs are listed, in which order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.contrib.graph_editor import lists, select
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor


class SubGraphView:
    """A part of a graph as a function: inputs, operations, outputs.

    A tensor may also pass through: it is an input and an output, and no operation takes it.

    Args:
      inside_ops: the operations.
      passthrough_ts: tensors that pass through; those that operations take or make are passed over.

    Raises:
      TypeError: they are no operations, or no tensors.

    Example:
      >>> import penstock as tf
      >>> from penstock.contrib import graph_editor as ge
      >>> with tf.Graph().as_default():
      ...     y = tf.exp(tf.negative(tf.constant(1.0, name="x")), name="y")
      >>> print(ge.SubGraphView([y.op]), end="")
      SubGraphView (graphid=...):
      ** ops[1]:
        y
      ** inputs[1]:
        Neg:0
      ** outputs[1]:
        y:0
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        self._ops = lists.make_list_of_op(inside_ops, allow_graph=False)
        self._graph = self._ops[0].graph if self._ops else None
        passing = lists.make_list_of_t(passthrough_ts, allow_graph=False)
        if self._graph is None and passing:
            self._graph = passing[0].graph
        inputs, outputs, insides = select.compute_boundary_ts(self._ops)
        around = {*inputs, *outputs, *insides}
        self._passthrough_ts = lists.without_repeats(passing, lambda t: t not in around)
        self._actual_inputs = inputs + self._passthrough_ts
        self._actual_outputs = outputs + self._passthrough_ts
        self._inputs, self._outputs = list(self._actual_inputs), list(self._actual_outputs)
        self._made = {t for op in self._ops for t in op.outputs}

    # ---- what it has -------------------------------------------------------------------------

    @property
    def graph(self) -> Graph | None:
        """The graph; None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        """The operations."""
        return list(self._ops)

    def op(self, op_id: int) -> Operation:
        """An operation by its place."""
        return self._ops[op_id]

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs."""
        return list(self._outputs)

    @property
    def passthroughs(self) -> list[Tensor]:
        """The tensors that pass through."""
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list[Tensor]:
        """The inputs that operations take."""
        return [t for t in self._inputs if not self.is_passthrough(t)]

    @property
    def connected_outputs(self) -> list[Tensor]:
        """The outputs that operations make."""
        return [t for t in self._outputs if not self.is_passthrough(t)]

    def is_passthrough(self, t: Tensor) -> bool:
        """Whether a tensor passes through."""
        return t in self._passthrough_ts

    def __bool__(self) -> bool:
        return self._graph is not None

    __nonzero__ = __bool__

    def find_op_by_name(self, op_name: str) -> Operation:
        """An operation by its name.

        Raises:
          ValueError: there is none.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def input_index(self, t: Tensor) -> int:
        """The place of a tensor among the inputs.

        Raises:
          ValueError: it is no input.
        """
        return _place(self._inputs, t, "input")

    def output_index(self, t: Tensor) -> int:
        """The place of a tensor among the outputs.

        Raises:
          ValueError: it is no output.
        """
        return _place(self._outputs, t, "output")

    def consumers(self) -> list[Operation]:
        """The operations outside that take outputs."""
        inside = set(self._ops)
        return [op for op in lists.get_consuming_ops(self._outputs) if op not in inside]

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        parts = [f"SubGraphView (graphid={id(self._graph)}):"]
        parts += self._listing("ops", self._ops)
        parts += self._listing("inputs", self._inputs) + self._listing("outputs", self._outputs)
        return "\n".join(parts) + "\n"

    def _listing(self, title: str, items: Sequence[Any]) -> list[str]:
        if not items:
            return [f"** {title}: empty"]
        rows = [f"  {item.name}{' *' if item in self._passthrough_ts else ''}" for item in items]
        return [f"** {title}[{len(items)}]:", *rows]

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *exc: Any) -> None:
        """Nothing: it is a view."""

    # ---- other views of the same ---------------------------------------------------------------

    def copy(self) -> SubGraphView:
        """Another view of the same."""
        made = SubGraphView()
        made.become(self)
        return made

    __copy__ = copy

    def become(self, other: SubGraphView) -> None:
        """Makes this view one of what another views; of the functions that change graphs.

        Raises:
          TypeError: it is no view.
        """
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        for field, value in vars(other).items():
            setattr(self, field, value.copy() if isinstance(value, list | set) else value)

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """A view with all inputs, all outputs or both, in their first order."""
        made = self.copy()
        if remove_input_map:
            made._inputs = list(self._actual_inputs)
        if remove_output_map:
            made._outputs = list(self._actual_outputs)
        return made

    def remap_inputs(self, new_input_indices: Iterable[Any]) -> SubGraphView:
        """A view that lists some of its inputs, in another order.

        Args:
          new_input_indices: places among the inputs, or tensors of them, each once.

        Raises:
          ValueError: there is no such input, or one twice.
        """
        places = _places(self._inputs, new_input_indices, "input")
        if len(set(places)) != len(places):
            raise ValueError(f"Found repetition in mapping: {places}")
        made = self.copy()
        made._inputs = [self._inputs[i] for i in places]
        return made

    def remap_outputs(self, new_output_indices: Iterable[Any]) -> SubGraphView:
        """A view that lists some of its outputs, in another order, also several times.

        Args:
          new_output_indices: places among the outputs, or tensors of them.

        Raises:
          ValueError: there is no such output.
        """
        made = self.copy()
        places = _places(self._outputs, new_output_indices, "output")
        made._outputs = [self._outputs[i] for i in places]
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """A view with other inputs and outputs, as of the two methods above; None leaves them."""
        made = self
        if new_input_indices is not None:
            made = made.remap_inputs(new_input_indices)
        if new_output_indices is not None:
            made = made.remap_outputs(new_output_indices)
        return made.copy()

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view with each output once."""
        made = self.copy()
        made._outputs = list(dict.fromkeys(self._outputs))
        return made

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output as often as it is taken."""
        made = self.remap_outputs_make_unique()
        made._outputs = [t for t in made._outputs for _ in t.consumers()]
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view of the operations that outputs come from, and inputs go into.

        Args:
          control_inputs: whether control inputs lead to them, too.
        """
        walked = select.get_walks_union_ops(
            self.connected_inputs, self.connected_outputs, within_ops=self._ops,
            control_inputs=control_inputs,
        )  # fmt: skip
        made = self.copy()
        made._ops = [op for op in self._ops if op in walked]
        return made


def _place(tensors: list[Tensor], t: Any, what: str) -> int:
    if t not in tensors:
        raise ValueError(f"{t} is not in list: it is no {what} of the subgraph")
    return tensors.index(t)


def _places(tensors: list[Tensor], wanted: Iterable[Any], what: str) -> list[int]:
    found = []
    for item in wanted:
        place = _place(tensors, item, what) if isinstance(item, Tensor) else int(item)
        if not 0 <= place < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {place}")
        found.append(place)
    return found


# ---- making views --------------------------------------------------------------------------------


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of what is selected.

    Args:
      *args: a view, which is taken as it is; or operations, tensors, which pass through, lists of
        them, and patterns of names, as of ``select_ops_and_ts``.
      graph: where names are looked for.

    Raises:
      TypeError: something else is among them.
      ValueError: a pattern without a graph, or another keyword.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView) and not kwargs:
        return args[0]
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return SubGraphView(ops, ts)


def make_view_from_scope(scope: str, graph: Any) -> SubGraphView:
    """A view of a name scope.

    Args:
      scope: its name.
      graph: the graph.
    """
    return SubGraphView(select.get_name_scope_ops(graph, scope))


sgv, sgv_scope = make_view, make_view_from_scope
