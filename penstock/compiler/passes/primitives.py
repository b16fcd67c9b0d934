"""A step with its primitives of control flow left in: what the dataflow executor runs.

Unlike the step of any other pass its graph may have cycles, from ``NextIteration`` to ``Merge``;
all other nodes stand after what they need.  The program generator cannot write it.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compiler.passes.prune import feed_node, needed_in_order
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, is_back_edge, is_given
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


def with_primitives(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    done: frozenset[Operation] = frozenset(),
) -> StepGraph:
    """Cuts a user's graph down to one step and leaves its control flow as it is.

    Args:
      graph, feeds, fetches, targets, done: as for ``prune``.

    Returns:
      A step graph of its own, in which each fed tensor is a ``_Feed`` node's output.

    Raises:
      tf.errors.InvalidArgumentError: a ``Merge`` has no input but ways back of a loop.
    """
    copier = _Copier(feeds)
    for op in needed_in_order(feeds, fetches, targets, done):
        copier.copy(op)
    copier.close_loops()
    return StepGraph(
        copier.graph,
        copier.feeds,
        [copier.tensors[t] for t in fetches],
        [copier.nodes[op] for op in targets if op not in done],
        [t.name for t in feeds],
    )


class _Copier:
    """State: the new graph, the maps from old to new, and the back edges that are still open."""

    def __init__(self, feeds: Sequence[Tensor]) -> None:
        self.graph = Graph()
        self.nodes: dict[Operation, Operation] = {}
        self.feeds = [feed_node(self.graph, tensor, i) for i, tensor in enumerate(feeds)]
        self.fed = dict(zip(feeds, self.feeds, strict=True))
        self.tensors = dict(self.fed)
        self._open: list[tuple[Operation, int, Tensor]] = []

    def copy(self, op: Operation) -> None:
        """Copies a node; of its inputs only ways back may not be there yet."""
        if is_given(op, self.fed):
            self.nodes[op] = self.fed[op.outputs[0]].op
            return
        inputs = [self._input(op, tensor) for tensor in op.inputs]
        controls = [self.nodes[c] for c in op.control_inputs if c in self.nodes]
        types = [t.dtype for t in op.outputs]
        new = Operation(
            self.graph, op.op_def, op.name, inputs, controls, op.attrs, types, op.origin
        )
        new.put_on(op.device)
        for old, made in zip(op.outputs, new.outputs, strict=True):
            made.sizes = old.sizes
            self.tensors.setdefault(old, made)
        self.graph.register(new)
        self.nodes[op] = new
        for index, tensor in enumerate(op.inputs):
            if tensor not in self.fed and is_back_edge(op, tensor):
                self._open.append((new, index, tensor))

    def _input(self, op: Operation, tensor: Tensor) -> Tensor:
        if tensor in self.fed or not is_back_edge(op, tensor):
            return self.tensors[tensor]
        for other in op.inputs:  # until the loop is closed
            if other in self.fed or not is_back_edge(op, other):
                return self.tensors[other]
        raise errors.InvalidArgumentError(
            None, op, f"{op.type} {op.name!r} has no input but ways back of a loop: it never starts"
        )

    def close_loops(self) -> None:
        """Leads the ways back to where they lead."""
        for new, index, tensor in self._open:
            new._update_input(index, self.tensors[tensor])
