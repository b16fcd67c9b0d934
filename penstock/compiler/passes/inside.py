"""Passes inside regions: what a pass does to a step, done to the blocks of its regions."""

from __future__ import annotations

from collections.abc import Callable

from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.region import Inputs, inputs_of, replace_region
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

Change = Callable[[StepGraph], StepGraph]


def change_blocks(step: StepGraph, change: Change) -> StepGraph:
    """Changes every block of a step's regions; feeds and fetches stay as many as they are."""
    changed = {}
    for op in step.operations:
        old = blocks_of(op)
        if not old:
            continue
        new = [change(block) for block in old]
        if any(a is not b for a, b in zip(old, new, strict=True)):
            changed[op] = new
    if not changed:
        return step

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op not in changed:
            return None
        inputs = inputs_of(op, rebuilder.inputs(op))
        return replace_region(rebuilder, op, inputs, changed[op])

    return Rebuilder(step).run(rule)


def sink_constants(step: StepGraph) -> StepGraph:
    """Moves constants that regions are given into their blocks, where passes see them."""

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if not blocks_of(op):
            return None
        inputs = inputs_of(op, rebuilder.inputs(op))
        kept: list[int] = []
        sunk: dict[int, Tensor] = {}
        for index, tensor in enumerate(inputs.args):
            if tensor.op.op_def.role == "constant" and not tensor.op.control_inputs:
                sunk[index] = tensor
            elif any(_is_used(block, index, len(inputs.args)) for block in blocks_of(op)):
                kept.append(index)
        if len(kept) == len(inputs.args):
            return None
        blocks = [_with_constants(block, sunk, kept, len(inputs.args)) for block in blocks_of(op)]
        args = [inputs.args[i] for i in kept]
        changed = Inputs(inputs.first, args, inputs.reads, inputs.writes)
        return replace_region(rebuilder, op, changed, blocks)

    return Rebuilder(step).run(rule)


def _is_used(block: StepGraph, index: int, count: int) -> bool:
    feed = block.feeds[len(block.feeds) - count + index]
    return bool(block.uses(feed)) or feed in block.fetches


def _with_constants(
    block: StepGraph, sunk: dict[int, Tensor], kept: list[int], count: int
) -> StepGraph:
    """The block without the args that are not ``kept``; those ``sunk`` are constants in it."""
    first = len(block.feeds) - count
    constant = {block.feeds[first + i].op: t for i, t in sunk.items()}
    feeds = block.feeds[:first] + [block.feeds[first + i] for i in kept]
    dropped = {feed.op for feed in block.feeds} - {feed.op for feed in feeds}

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        tensor = constant.get(op)
        if tensor is None:
            return None
        value, dtype = tensor.op.attrs["value"], tensor.dtype.base_dtype
        return [rebuilder.make("Const", value=value, dtype=dtype)]

    names = [feed.op.name for feed in feeds]
    left = StepGraph(block.graph, feeds, block.fetches, block.targets, names)
    keep = lambda op: op not in dropped or op in constant  # noqa: E731
    return Rebuilder(left).run(rule, keep)
