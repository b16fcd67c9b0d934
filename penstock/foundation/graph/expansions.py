"""Functional nodes of a user's graph that stand there as primitives too.

``tf.gradients`` differentiates an ``If`` or ``While`` as the primitives it means: it adds these to
the graph and makes whatever took the node's outputs take theirs.  The node stays, for those who
know it by name; what a step asks of it is asked of its primitives.

State: per graph, in ``Graph.attached``, the expansion of each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.kinds import CONSTRUCTS

_KEY = "functional_expansions"


class Expansion(NamedTuple):
    """What stands for a node: a tensor for each output, and a node that runs when it has run."""

    outputs: list[Tensor]
    done: Operation


def expansions_of(graph: Graph) -> dict[Operation, Expansion]:
    """The graph's nodes that have primitives, and these."""
    # A body shares what is attached to the graph around it.
    found: dict[Operation, Expansion] = graph.attached.setdefault(_KEY, {})
    return found


def has_constructs(graph: Graph) -> bool:
    """Whether there are conditionals or loops in their functional form, or expanded ones."""
    return bool(graph.attached.get(_KEY)) or any(
        op.op_def.control in CONSTRUCTS for op in graph.operations
    )


def redirect(graph: Graph) -> None:
    """Makes nodes that take something of an expanded node take it of its primitives."""
    known = {op: e for op, e in expansions_of(graph).items() if op.graph is graph}
    for op, expansion in known.items():
        for old, new in zip(op.outputs, expansion.outputs, strict=True):
            for user in list(dict.fromkeys(old.uses)):
                for index, tensor in enumerate(user.inputs):
                    if tensor is old:
                        user._update_input(index, new)
    if not known:
        return
    for user in graph.operations:
        if any(c in known for c in user.control_inputs):
            user.control_inputs = tuple(
                dict.fromkeys(known[c].done if c in known else c for c in user.control_inputs)
            )


def redirected(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
) -> tuple[Sequence[Tensor], Sequence[Tensor], Sequence[Operation]]:
    """What is asked of expanded nodes, asked of their primitives."""
    known = graph.attached.get(_KEY)
    if not known:
        return feeds, fetches, targets
    redirect(graph)

    def of(tensor: Tensor) -> Tensor:
        found = known.get(tensor.op)
        return tensor if found is None else found.outputs[tensor.value_index]

    ops = [known[op].done if op in known else op for op in targets]
    return [of(t) for t in feeds], [of(t) for t in fetches], ops
