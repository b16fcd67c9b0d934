"""Rebuilding a step's graph node by node: how every pass works.

A pass never changes a node.  It walks the old graph in order and, for each node, either keeps it
or gives other tensors for its outputs.  The old-to-new map carries names, devices, control inputs
and the user's lines by itself.  A node that is kept is copied where its inputs have changed; both
steps share it otherwise, and a graph that no rule changes is what the pass returns.

A node that takes a reference variable reads it where it stands.  A rule that reads it elsewhere (a
product moved down to its bias) must not carry the read past a write; ``run`` sees to that for all
rules: it copies the node instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from penstock.foundation.base import mismatch, shapes
from penstock.foundation.graph import build, scopes
from penstock.foundation.graph.handles import WriteOrder, handle_of, resource_key, wants_handle
from penstock.foundation.graph.operation import Operation, Refusal, infer_shapes
from penstock.foundation.graph.step import StepGraph, StepNodes
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import RefusedAtBuild

# A rule sees an old node; it returns new tensors for its outputs, or None to copy the node.  It may
# be asked twice about one node, and what it keeps of its own must not be of new nodes.
Rule = Callable[["Rebuilder", Operation], "Sequence[Tensor] | None"]


class _Changes(Exception):
    """A rule has asked for what there is only once a graph changes."""


class _Unchanged:
    """In place of a Rebuilder while all new nodes would be copies: the old stand for them."""

    def __init__(self, step: StepGraph) -> None:
        self.old = step

    def __getitem__(self, old: Tensor) -> Tensor:
        return old

    def inputs(self, op: Operation) -> list[Tensor]:
        return list(op.inputs)

    def __getattr__(self, name: str) -> Any:
        raise _Changes

    def leaves(self, rule: Rule, op: Operation) -> bool:
        """Whether a rule lets a node be copied."""
        try:
            return op.refusal is not None or rule(cast(Rebuilder, self), op) is None
        except _Changes:
            return False


class Rebuilder:
    """One walk from an old step graph to a new one.

    State: the new graph, the map from old to new tensors, and the map from old nodes to the new
    nodes that stand for them in control edges.
    """

    def __init__(self, step: StepGraph) -> None:
        self.old = step
        self._graph: StepNodes | None = None
        self.tensors: dict[Tensor, Tensor] = {}
        self.controls: dict[Operation, list[Operation]] = {}
        self.current: Operation | None = None
        self.made: list[Operation] = []
        self._write_order: WriteOrder | None = None

    @property
    def graph(self) -> StepNodes:
        """The new graph; most walks change nothing and need none."""
        graph = self._graph
        if graph is None:
            graph = self._graph = StepNodes()
        return graph

    def run(
        self,
        rule: Rule,
        keep: Callable[[Operation], bool] | None = None,
        changes_all: bool = False,
    ) -> StepGraph:
        """Walks the old graph with ``rule``.

        Args:
          rule: what becomes of a node.
          keep: which nodes are kept; by default all.
          changes_all: whether the rule changes every node, so that there is nothing to look for
            or to share.

        Returns:
          The new step graph; the old one where nothing changes.
        """
        operations = self.old.operations
        changed = 0 if changes_all else self._first_changed(rule, keep)
        if changed == len(operations):
            return self.old
        kept = self.copy if changes_all else self.keep
        with scopes.default_graph_scope(self.graph):
            self._share_first(changed)
            for op in operations[changed:]:
                if keep is None or keep(op):
                    self._visit(rule, op, kept)
        return self.finish()

    def _share_first(self, count: int) -> None:
        first = self.old.operations[:count]
        self.graph.share_all(first)
        self.tensors.update((tensor, tensor) for op in first for tensor in op.outputs)
        self.controls.update((op, [op]) for op in first)

    def _first_changed(self, rule: Rule, keep: Callable[[Operation], bool] | None) -> int:
        """How many nodes stand before the first that is dropped or changed."""
        if self._graph is not None:  # made already, for this step
            return 0
        unchanged = _Unchanged(self.old)
        for index, op in enumerate(self.old.operations):
            if keep is not None and not keep(op) or not unchanged.leaves(rule, op):
                return index
        return len(self.old.operations)

    def finish(self) -> StepGraph:
        """The new step graph, once every node of the old one has been visited."""
        return StepGraph(
            self.graph,
            [self.tensors[t] for t in self.old.feeds],
            [self.tensors[t] for t in self.old.fetches],
            self.ops(self.old.targets),
            self.old.feed_names,
        )

    def visit(self, op: Operation) -> None:
        """Says for which old node ``make`` adds nodes; for passes that walk in their own order."""
        self.current = op
        self.made = []

    def _visit(self, rule: Rule, op: Operation, kept: Callable[[Operation], Operation]) -> None:
        self.visit(op)
        outputs = None if op.refusal is not None else rule(self, op)
        if outputs is None or not self._keeps_reads(op, outputs):
            self._forget_made()
            kept(op)
            return
        made = list(outputs)
        for old, new in zip(op.outputs, made, strict=True):
            self.tensors[old] = new
        # What depended on the old node now depends on what replaced it, and on its controls.
        stand_ins = dict.fromkeys([*(t.op for t in made), *self.made])
        self.controls[op] = [*stand_ins, *self.ops(op.control_inputs)]

    def _forget_made(self) -> None:
        """Takes back the nodes, the newest of the graph, that a refused rule has made."""
        count = len(self.made)
        if count:
            for node in self.made:
                del self.graph.by_name[node.name]
            del self.graph.operations[-count:]
            self.made = []

    def _keeps_reads(self, op: Operation, outputs: Sequence[Tensor]) -> bool:
        """Whether what a rule gives for ``op`` reads variables where the old nodes did.

        A node that only hands a reference on (``W/read``) is no read: as in TF, its consumers see
        the variable as it is when they run.  Any other node that a rule would replace by a bare
        reference is one, and stays.
        """
        if any(new.dtype.is_ref for new in outputs) and not op.op_def.passes_through:
            if not any(old.dtype.is_ref for old in op.outputs):
                return False
        for node in self.made:
            own = self.inputs(op)
            for tensor, handle in zip(node.inputs, wants_handle(node), strict=True):
                if not tensor.dtype.is_ref or handle or tensor in own:
                    continue
                if self._order().written_until(resource_key(handle_of(tensor)), op):
                    return False
        return True

    def _order(self) -> WriteOrder:
        if self._write_order is None:
            self._write_order = WriteOrder(self.old.operations)
        return self._write_order

    def keep(self, op: Operation) -> Operation:
        """Has an old node in the new graph: itself, or a copy where its inputs are others now."""
        tensors, controls = self.tensors, op.control_inputs
        for tensor in op.inputs:
            if tensors[tensor] is not tensor:
                return self.copy(op)
        if controls and tuple(self.ops(controls)) != controls:
            return self.copy(op)
        self.graph.share(op)
        for tensor in op.outputs:
            tensors[tensor] = tensor
        self.controls[op] = [op]
        return op

    def copy(self, op: Operation) -> Operation:
        """Copies an old node with its inputs mapped, for who changes it then."""
        tensors, controls = self.tensors, op.control_inputs
        inputs = tuple([tensors[t] for t in op.inputs])
        new = op.copied_to(self.graph, inputs, tuple(self.ops(controls)) if controls else ())
        tensors.update(zip(op.outputs, new.outputs, strict=True))
        for old, given in zip(op.inputs, inputs, strict=True):
            if old is not given and _more_is_known(old, given):
                infer_again(new)
                break
        self.graph.add_copy(new)
        self.controls[op] = [new]
        return new

    def __getitem__(self, old: Tensor) -> Tensor:
        return self.tensors[old]

    def inputs(self, op: Operation) -> list[Tensor]:
        """The new tensors for the inputs of an old node."""
        return [self.tensors[t] for t in op.inputs]

    def make(self, op_type: str, *inputs: Any, **attrs: Any) -> Any:
        """Adds a node that stands for the old node being visited: its device, line and controls."""
        name = self._visited().name
        return self._make(op_type, name not in self.graph.by_name, *inputs, **attrs)

    def make_beside(self, op_type: str, *inputs: Any, **attrs: Any) -> Any:
        """As ``make``, but the node leaves the old one's name to the old one's copy."""
        return self._make(op_type, False, *inputs, **attrs)

    def _visited(self) -> Operation:
        if self.current is None:
            raise RuntimeError("make is for rules, while a node is being visited")
        return self.current

    def _make(self, op_type: str, takes_name: bool, *inputs: Any, **attrs: Any) -> Any:
        op = self._visited()
        name = op.name
        if not takes_name:
            base = f"{name}/{op_type.strip('_').lower()}"
            name = self.graph.unique_name(base)
            while name in self.graph.by_name or name in self.old.graph.by_name:
                name = self.graph.unique_name(base)
        made = build.make(op_type, *inputs, name=f"{name}/", **attrs)
        node = made if isinstance(made, Operation) else _first(made).op
        node.origin = op.origin
        node.put_on(op.device)
        self.made.append(node)
        node.control_inputs = tuple(self.ops(op.control_inputs))
        return made

    def ops(self, old: Iterable[Operation]) -> list[Operation]:
        new: dict[Operation, None] = {}
        for op in old:
            new.update(dict.fromkeys(self.controls.get(op, ())))
        return list(new)


def _more_is_known(old: Tensor, new: Tensor) -> bool:
    if old.sizes is not new.sizes and old.sizes != new.sizes:
        return True
    return new.op.op_def.role == "constant" and old.op.op_def.role != "constant"


def infer_again(op: Operation) -> None:
    """Static shapes from inputs that are better known now, merged with what was known before.

    A node that refuses what is known now stays as it is: it fails when it runs, if it runs, and
    says so then with its name.
    """
    known = [t.sizes for t in op.outputs]
    op.refusal = None
    try:
        infer_shapes(op)
    except ValueError as error:
        # A variable may take what it was not declared to hold, as what is handed on may be.
        cause = error.__cause__ or error
        kind: str | None = "InvalidArgumentError"
        said = mismatch.in_a_node(cause)
        if isinstance(cause, RefusedAtBuild):
            kind, said = cause.at_run, cause.run_message
        if kind is not None and not (op.op_def.writes or op.op_def.passes_through):
            op.refusal = Refusal(said, kind)
    try:
        merged = [
            shapes.merge_static(tensor.sizes, dims)
            for tensor, dims in zip(op.outputs, known, strict=True)
        ]
    except ValueError:
        merged = known
    for tensor, dims in zip(op.outputs, merged, strict=True):
        tensor.sizes = dims


def _first(made: Any) -> Tensor:
    while not isinstance(made, Tensor):
        made = made[0]
    return made
