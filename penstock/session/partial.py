"""Partial runs: one step, run in parts, feeding and fetching as the user goes.

State of a handle: the nodes of the whole step, the nodes that have run, and the values that crossed
from what has run to what has not.  Each part is compiled like a step of its own in which those
values are fed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from penstock.graph.graph import Graph
from penstock.graph.handles import is_handle
from penstock.graph.operation import Operation
from penstock.graph.tensor import Tensor
from penstock.passes.prune import needed_operations
from penstock.session import feeds as feeding
from penstock.session.fetches import FetchPlan

_numbers = itertools.count()


@dataclass(eq=False)
class PartialStep:
    """A step that is run in parts."""

    graph: Graph
    feeds: set[Tensor]
    fetchable: set[Any]
    nodes: set[Operation]
    name: str = field(default_factory=lambda: f"partial_{next(_numbers)}")
    done: frozenset[Operation] = frozenset()
    fed: set[Tensor] = field(default_factory=set)
    values: dict[Tensor, Any] = field(default_factory=dict)


def set_up(graph: Graph, fetches: Any, feeds: Sequence[Any] | None) -> PartialStep:
    """Declares a partial run.

    Args:
      graph: the session's graph.
      fetches: everything that will be fetched, in any nesting.
      feeds: every tensor that will be fed.

    Returns:
      The state of the run.

    Raises:
      ValueError: there is nothing to fetch.
    """
    plan = FetchPlan(graph, fetches)
    if not plan.tensors and not plan.operations:
        raise ValueError("partial_run_setup needs something to fetch")
    fed = {graph.as_graph_element(f, allow_operation=False) for f in feeds or ()}
    roots = [t.op for t in plan.tensors if t not in fed] + plan.operations
    nodes = needed_operations(roots, fed)
    return PartialStep(graph, fed, {*plan.tensors, *plan.operations}, nodes)


def run_part(session: Any, step: PartialStep, fetches: Any, feed_dict: Any) -> Any:
    """Runs what ``fetches`` needs and has not run yet.

    Raises:
      ValueError: a feed or fetch that was not declared, or a tensor fed twice.
    """
    plan = FetchPlan(step.graph, fetches, session._kept)
    elements: list[Tensor | Operation] = [*plan.tensors, *plan.operations]
    for element in elements:
        if element not in step.fetchable:
            raise ValueError(f"{element.name!r} was not declared as a fetch of this partial run")
    _take_feeds(step, feed_dict or {})
    ready = set(step.values)
    wanted = [t for t in plan.tensors if t not in ready]
    roots = [t.op for t in wanted] + [op for op in plan.operations if op not in step.done]
    running = needed_operations(roots, ready, step.done)
    _check_fed(step, running)
    outgoing = _crossing(step, running, ready)
    fetched = [*wanted, *(t for t in outgoing if t not in wanted)]
    given = [t for t in ready if any(r in running for r in t._consumers)]
    targets = [op for op in plan.operations if op in running]
    program = session._part_program(given, fetched, targets, step.done)
    args = [step.values[t] for t in given]
    results = session._call(program, args)
    fresh = dict(zip(fetched, results, strict=True))
    for tensor, value in fresh.items():
        step.values[tensor] = feeding.converter(tensor)(value)
    step.done |= {op for op in running if not _is_state(op)}
    values = [fresh[t] if t in fresh else _as_fetched(step.values[t]) for t in plan.tensors]
    return plan.assemble(values)


def _take_feeds(step: PartialStep, feed_dict: Any) -> None:
    for key, pick, tensor in feeding.expand(step.graph, feed_dict):
        if tensor not in step.feeds:
            raise ValueError(f"{tensor.name!r} was not declared as a feed of this partial run")
        if tensor in step.fed:
            raise ValueError(f"{tensor.name!r} was fed in an earlier part of this run")
        step.fed.add(tensor)
        step.values[tensor] = feeding.converter(tensor)(pick(feed_dict[key]))


def _check_fed(step: PartialStep, running: set[Operation]) -> None:
    for op in running:
        for tensor in op.outputs:
            if tensor in step.feeds and tensor not in step.fed:
                raise ValueError(f"{tensor.name!r} must be fed before what depends on it can run")


def _crossing(step: PartialStep, running: set[Operation], ready: set[Tensor]) -> list[Tensor]:
    """Values made now that nodes run later will read."""
    later = step.nodes - running - step.done
    return [
        tensor
        for op in running
        for tensor in op.outputs
        if tensor not in ready
        and not is_handle(tensor)
        and any(reader in later for reader in tensor._consumers)
    ]


def _is_state(op: Operation) -> bool:
    return bool(op.outputs) and is_handle(op.outputs[0]) and op.op_def.state is not None


def _as_fetched(value: Any) -> Any:
    return value.numpy()[()] if isinstance(value, torch.Tensor) else value[()]
