"""Static shapes anew from the shapes that are really fed.

TF1 programs leave the batch dim open; a step that is run again and again with one batch size is
compiled for it, so that everything computed from shapes folds away.

A loop's variables have the shapes that enter it, where its rounds keep them; what is popped from a
stack has the shape of what was held, in a loop before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.compiler.passes.stacks import PUTS, HolderUses
from penstock.foundation.base import shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder, infer_again
from penstock.foundation.graph.region import inputs_of, replace_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

Dims = tuple[int | None, ...] | None


@dataclass(eq=False)
class Held:
    """What one node puts into a stack or TensorArray: the shape, and the value if it is known."""

    dims: Dims = None
    value: np.ndarray | None = None

    def note(self, op: Operation) -> None:
        """Takes over what is known of the value that the node puts."""
        if op.type == "TensorArrayScatterV3":
            rows = op.inputs[2].sizes
            self.dims = None if rows is None else rows[1:]
            return
        elem = op.inputs[2 if op.type == "TensorArrayWriteV3" else 1]
        self.dims, self.value = elem.sizes, static.constant_value(elem)


@dataclass(eq=False)
class Holders:
    """What stacks and TensorArrays hold, by the tensors that stand for them.

    ``gradients``: those of the tensors that stand for an array's gradient.
    """

    held: dict[Tensor, Held]
    gradients: set[Tensor]


def refine(
    step: StepGraph,
    fed_shapes: Sequence[Dims],
    holders: Holders | None = None,
) -> StepGraph:
    """Gives the feeds these shapes and infers all others from them.

    Args:
      step: a pruned step.
      fed_shapes: dims of each feed; None leaves what is declared.
      holders: for a block, what the stacks and TensorArrays of the whole step hold.

    Returns:
      The step with refined static shapes.  A node that refuses the shapes keeps those that it has:
      running it fails and says so.
    """
    by_feed = dict(zip(step.feeds, fed_shapes, strict=True))
    if holders is None:
        holders = _holders(step)
    walk = _Walk(step, by_feed, holders)
    for op in step.operations:
        walk.visit(op)
    return walk.rebuilder.finish()


class _Walk:
    """State: the new step, and what is known of what stacks and TensorArrays hold."""

    def __init__(self, step: StepGraph, by_feed: dict[Tensor, Dims], holders: Holders) -> None:
        self.rebuilder = Rebuilder(step)
        self.by_feed = by_feed
        self.holders = holders

    def visit(self, op: Operation) -> None:
        """Copies a node with what is known better now."""
        if blocks_of(op):
            self._visit_region(op)
            return
        # Copying infers shapes again wherever an input's shape is better known than before; others
        # follow from values that are shapes (what `tf.fill(tf.shape(x), 0.0)` makes).
        new = self.rebuilder.copy(op)
        if op.op_def.role == "feed":
            given = self.by_feed[op.outputs[0]]
            if given is not None:
                new.outputs[0].sizes = given
        elif any(t.sizes is None or None in t.sizes for t in new.outputs):
            infer_again(new)
        if op.type == "TensorArraySizeV3":
            self._replace(op, _array_size(new.inputs[0].op))
        elif op.inputs and op.inputs[0] in self.holders.held:
            self._visit_user(op, new, self.holders.held[op.inputs[0]])

    def _visit_user(self, op: Operation, new: Operation, held: Held) -> None:
        """A node that puts something into a stack or TensorArray, or takes something out."""
        if op.type in PUTS:
            if op.inputs[0] not in self.holders.gradients:
                held.note(new)
            return
        taken = new.outputs[0] if new.outputs else None
        if taken is None or held.dims is None:
            return
        if op.type in ("StackPopV2", "TensorArrayReadV3"):
            taken.sizes = _merged(taken.sizes, held.dims)
        elif op.type == "TensorArrayGatherV3":
            taken.sizes = _merged(taken.sizes, (None, *held.dims))
        if op.type == "StackPopV2":
            self._replace(op, held.value)

    def _replace(self, op: Operation, value: np.ndarray | None) -> None:
        """Lets the consumers of a node take its value, where that is known."""
        if value is None:
            return
        self.rebuilder.visit(op)
        with scopes.default_graph_scope(self.rebuilder.graph):
            known = self.rebuilder.make("Const", value=value, dtype=op.outputs[0].dtype)
        known.op.control_inputs = ()
        self.rebuilder.tensors[op.outputs[0]] = known

    def _visit_region(self, op: Operation) -> None:
        """Infers the shapes inside from those of the inputs, and the outputs' from these."""
        rebuilder = self.rebuilder
        rebuilder.visit(op)
        inputs = inputs_of(op, rebuilder.inputs(op))
        args = [t.sizes for t in inputs.args]
        blocks = list(blocks_of(op))
        if op.op_def.role == "loop":
            first = [t.sizes for t in inputs.first]
            dims = _rounds(blocks[1], first, args, self.holders)
            given = dims + args
        else:
            given = args
        blocks = [refine(block, given, self.holders) for block in blocks]
        if op.op_def.role != "loop":
            dims = [_both(*(b.fetches[i] for b in blocks)) for i in range(len(op.outputs))]
        outputs = replace_region(rebuilder, op, inputs, blocks)
        for before, new, found in zip(op.outputs, outputs, dims, strict=True):
            new.sizes = _merged(before.sizes, found)
            rebuilder.tensors[before] = new
        rebuilder.controls[op] = [rebuilder.graph.operations[-1]]


def _holders(step: StepGraph) -> Holders:
    """Nothing is known yet; what several nodes put values into is left out."""
    uses = HolderUses(step) if step.has_regions else None
    if uses is None:
        return Holders({}, set())
    held = {use: Held() for use in uses.of.values() if len(use.puts) == 1}
    return Holders(
        {tensor: held[use] for tensor, use in uses.of.items() if use in held}, uses.gradients
    )


def _array_size(array: Operation) -> np.ndarray | None:
    """The size of a TensorArray that keeps the size it is made with."""
    if array.type != "TensorArrayV3" or array.attrs["dynamic_size"]:
        return None
    return static.constant_value(array.inputs[0])


def _rounds(body: StepGraph, first: list[Dims], args: list[Dims], holders: Holders) -> list[Dims]:
    """Shapes of a loop's variables that hold in every round.

    They begin as what enters; a variable that a round gives another shape has the declared one.
    """
    declared = [feed.sizes for feed in body.feeds[: len(first)]]
    dims = [_merged(a, b) for a, b in zip(declared, first, strict=True)]
    while True:
        made = [t.sizes for t in refine(body, dims + args, holders).fetches]
        wider = [
            old if old == declared[i] or new == old else declared[i]
            for i, (old, new) in enumerate(zip(dims, made, strict=True))
        ]
        if wider == dims:
            return dims
        dims = wider


def _merged(declared: Dims, found: Dims) -> Dims:
    try:
        return shapes.merge_static(declared, found)
    except ValueError:
        return declared


def _both(first: Tensor, second: Tensor) -> Dims:
    """What holds of both."""
    if "dead" in (first.op.op_def.role, second.op.op_def.role):
        return second.sizes if first.op.op_def.role == "dead" else first.sizes
    return shapes.common_static([first.sizes, second.sizes])
