"""A step in which no node calls a function, runs a branch or a loop of functions.

Functional nodes are expanded before a step is pruned (``expander``), so that from there on a
functional graph is like any other.  Most steps have none, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.compiler.passes.expander import Body, Expander
from penstock.compiler.passes.prune import needed_in_order
from penstock.foundation.graph.expansions import redirected
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import reshaped_variables
from penstock.foundation.graph.operation import Operation, calls_functions
from penstock.foundation.graph.tensor import Tensor

Request = tuple[Graph, Sequence[Tensor], Sequence[Tensor], Sequence[Operation]]


def expand_functions(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    done: frozenset[Operation] = frozenset(),
) -> Request:
    """What is asked of a graph, in terms of one that calls no functions.

    Args:
      graph, feeds, fetches, targets, done: as for ``prune``.

    Returns:
      Graph, feeds, fetches and targets; what was given when the step calls nothing and all its
      variables keep their shapes.

    Raises:
      tf.errors.InvalidArgumentError: a function is only declared, or calls itself.
    """
    feeds, fetches, targets = redirected(graph, feeds, fetches, targets)
    names = reshaped_variables(graph)
    if not names and not any(calls_functions(op) for op in graph.operations):
        return graph, feeds, fetches, targets  # whatever of it the step needs
    ordered = needed_in_order(feeds, fetches, targets, done)
    reshaped = {t for op in ordered if op.name in names for t in op.outputs} if names else set()
    if not reshaped and not any(calls_functions(op) for op in ordered):
        return graph, feeds, fetches, targets
    expander = Expander(reshaped)
    body = Body("", None)
    for tensor in feeds:
        body.tensors[tensor] = expander.stand_in(tensor, ordered)
    given = dict(body.tensors)
    expander.copy(ordered, body, given)
    wanted = [op for target in targets if target not in done for op in body.controls[target]]
    return (
        expander.graph,
        [body.tensors[t] for t in feeds],
        [body.tensors[t] for t in fetches],
        list(dict.fromkeys([*wanted, *expander.effects])),
    )
