"""Keep only what the fetches and targets need, with fed tensors cut off from what makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.compiler.passes.regions import structured
from penstock.foundation.base import errors, shapes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import (
    Operation,
    has_control_flow,
    is_back_edge,
    is_given,
)
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_attr
from penstock.foundation.opdef.registry import OPS

define_op(
    "_Feed",
    "-> output: dtype",
    attrs=["dtype: type", "shape: shape", "index: int"],
    shape=from_attr("shape"),
    role="feed",
    no_gradient="made by pruning only, after gradients are built",
    stateful=True,
    internal=True,
)


def needed_operations(
    roots: Iterable[Operation],
    fed: set[Tensor],
    done: frozenset[Operation] = frozenset(),
) -> set[Operation]:
    """The nodes that ``roots`` need, directly or not, when ``fed`` tensors are given.

    Nodes in ``done`` have run already (in an earlier part of a partial run) and are left out.
    """
    needed: set[Operation] = set()
    stack = list(roots)
    wanted = set(stack)
    while stack:
        op = stack.pop()
        if op in needed or op in done:
            continue
        needed.add(op)
        if is_given(op, fed) and op not in wanted:
            continue
        stack.extend(t.op for t in op.inputs if t not in fed)
        stack.extend(op.control_inputs)
    return needed


def needed_in_order(
    feeds: Iterable[Tensor],
    fetches: Iterable[Tensor],
    targets: Iterable[Operation],
    done: frozenset[Operation],
) -> list[Operation]:
    """The nodes of a step, each after what it needs but for the back edges of loops."""
    fed = set(feeds)
    roots = [t.op for t in fetches if t not in fed] + list(targets)
    return _in_order(needed_operations(roots, fed, done), fed)


def prune(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    done: frozenset[Operation] = frozenset(),
) -> StepGraph:
    """Cuts a user's graph down to one step.

    Args:
      graph: the user's graph.
      feeds: tensors whose values are given.
      fetches: tensors whose values are wanted.
      targets: nodes to run.
      done: nodes not to run again; their outputs that are needed must be fed.

    Returns:
      A step graph of its own, in which each fed tensor is a ``_Feed`` node's output.
    """
    fed = set(feeds)
    ordered = needed_in_order(feeds, fetches, targets, done)
    if has_control_flow(ordered):
        return structured(graph, ordered, feeds, fetches, [t for t in targets if t not in done])
    rebuilder = Rebuilder(StepGraph(graph, [], [], []))
    new_feeds = []
    for index, tensor in enumerate(feeds):
        feed = feed_node(rebuilder.graph, tensor, index)
        rebuilder.tensors[tensor] = feed
        new_feeds.append(feed)
    to_run = set(targets)
    for op in ordered:
        if is_given(op, fed) and op not in to_run:
            rebuilder.controls[op] = [rebuilder.tensors[op.outputs[0]].op]
            continue
        given = {t: rebuilder.tensors[t] for t in op.outputs if t in fed}
        rebuilder.copy(op)
        rebuilder.tensors.update(given)
    return StepGraph(
        rebuilder.graph,
        new_feeds,
        [rebuilder.tensors[t] for t in fetches],
        [rebuilder.controls[op][0] for op in targets if op not in done],
        [t.name for t in feeds],
    )


def feed_node(graph: Graph, tensor: Tensor, index: int) -> Tensor:
    """A ``_Feed`` node that stands for a tensor of the user's."""
    attrs = {"dtype": tensor.dtype.base_dtype, "shape": _feed_shape(tensor), "index": index}
    name = graph.unique_name(f"_feed/{tensor.op.name}")
    node = graph.add_operation(OPS["_Feed"], [], attrs, [tensor.dtype.base_dtype], name)
    node.origin = tensor.op.origin
    return node.outputs[0]


def _feed_shape(tensor: Tensor) -> shapes.TensorShape:
    return shapes.from_static(tensor.sizes)


def _in_order(needed: set[Operation], fed: set[Tensor]) -> list[Operation]:
    """Creation order, mended where an input or control was made later than its user."""
    ordered = sorted(needed, key=lambda op: op.id)
    done: set[Operation] = set()
    for op in ordered:
        for other in _before(op, fed):
            if other not in done and other in needed:
                return _depth_first(ordered, needed, fed)
        done.add(op)
    return ordered


def _before(op: Operation, fed: set[Tensor]) -> list[Operation]:
    inputs = [t.op for t in op.inputs if t not in fed and not is_back_edge(op, t)]
    return [*inputs, *op.control_inputs]


def _depth_first(
    ordered: list[Operation], needed: set[Operation], fed: set[Tensor]
) -> list[Operation]:
    result: list[Operation] = []
    state: dict[Operation, int] = {}
    for root in ordered:
        stack = [(root, False)]
        while stack:
            op, leaving = stack.pop()
            if leaving:
                state[op] = 2
                result.append(op)
                continue
            if state.get(op):
                continue
            state[op] = 1
            stack.append((op, True))
            for other in _before(op, fed):
                if state.get(other) == 1:
                    raise errors.invalid(f"Graph is invalid, contains a cycle with {other.name}")
                if other in needed and state.get(other) != 2:
                    stack.append((other, False))
    return result


def drop_dead(step: StepGraph) -> StepGraph:
    """Removes nodes that no fetch or target needs any more."""
    needed = needed_operations([t.op for t in step.fetches] + step.targets, set())
    needed |= {t.op for t in step.feeds}
    if len(needed) == len(step.operations):
        return step
    return Rebuilder(step).run(lambda _, __: None, keep=needed.__contains__)
