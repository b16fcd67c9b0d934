"""Partial runs: one step, run in parts, feeding and fetching as the user goes.

State of a handle: the nodes of the whole step, the nodes that have run, and the values that crossed
from what has run to what has not.  Each part is compiled like a step of its own in which those
values are fed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from penstock.compiler.passes.prune import needed_operations
from penstock.engine.session import feeds as feeding
from penstock.engine.session.fetches import FetchPlan
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.handles import is_handle
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

_numbers = itertools.count()


@dataclass(eq=False)
class PartialStep:
    """A step that is run in parts; it is over when all was fed and fetched that was declared."""

    graph: Graph
    feeds: frozenset[Tensor]
    fetchable: frozenset[Any]
    nodes: set[Operation]
    name: str = field(default_factory=lambda: f"partial_{next(_numbers)}")
    done: frozenset[Operation] = frozenset()
    fed: set[Tensor] = field(default_factory=set)
    fetched: set[Any] = field(default_factory=set)
    values: dict[Tensor, Any] = field(default_factory=dict)
    failed: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing is left to feed or to fetch, or a node failed."""
        everything = self.fed == self.feeds and self.fetched == self.fetchable
        return self.failed or everything


def set_up(graph: Graph, fetches: Any, feeds: Sequence[Any] | None) -> PartialStep:
    """Declares a partial run.

    Args:
      graph: the session's graph.
      fetches: everything that will be fetched, in any nesting.
      feeds: everything that will be fed: what ``feed_dict`` takes as keys.

    Returns:
      The state of the run.

    Raises:
      InvalidArgumentError: there is nothing to fetch, or a tensor is fed twice, or is both fed and
        fetched.
    """
    plan = FetchPlan(graph, fetches)
    if not plan.tensors and not plan.operations:
        raise errors.invalid(
            "Must specify at least one target to fetch or execute. partial_run_setup was asked"
            " for nothing"
        )
    fed = [
        graph.as_graph_element(part, allow_operation=False)
        for key in feeds or ()
        for part in feeding.parts(key)
    ]
    for tensor in fed:
        if fed.count(tensor) > 1:
            raise errors.invalid(f'Endpoint "{tensor.name}" fed more than once.')
        if tensor in plan.tensors:
            raise errors.invalid(f"{tensor.name} is both fed and fetched.")
    nodes = needed_operations([t.op for t in plan.tensors] + plan.operations, set(fed))
    return PartialStep(graph, frozenset(fed), frozenset((*plan.tensors, *plan.operations)), nodes)


def step_of(steps: Mapping[str, PartialStep], handle: str) -> PartialStep:
    """The run that a handle names.

    Raises:
      InvalidArgumentError: there is none, or it is over.
    """
    step = steps.get(handle)
    if step is None:
        raise errors.invalid(
            "Must run 'setup' before performing partial runs! This session has no partial run"
            f" {handle!r} that is not over"
        )
    return step


def run_part(session: Any, step: PartialStep, fetches: Any, feed_dict: Any) -> Any:
    """Runs what ``fetches`` needs and has not run yet.

    A part that is refused changes nothing; one whose nodes fail ends the run, since nobody knows
    which of its effects were done.

    Returns:
      Values in the nesting of ``fetches``.

    Raises:
      InvalidArgumentError: a feed or fetch that was not declared, or that an earlier part had, or
        a fetch that needs what is not fed yet.
      tf.errors.OpError: a node failed.
    """
    plan = FetchPlan(step.graph, fetches, session.kept_value)
    given = _fed_now(step, feed_dict or {})
    wanted: list[Tensor | Operation] = [*plan.tensors, *plan.operations]
    _check_fetches(step, wanted)
    ready = {*step.values, *given}
    roots = [t.op for t in plan.tensors if t not in ready]
    roots += [op for op in plan.operations if op not in step.done]
    running = needed_operations(roots, ready, step.done)
    _check_fed(step, ready, running)
    step.fed |= given.keys()
    step.values |= given
    fresh = _computed(session, step, plan, running)
    step.done |= {op for op in running if not _is_state(op)}
    step.fetched |= set(wanted)
    values = [fresh[t] if t in fresh else _as_fetched(step.values[t]) for t in plan.tensors]
    return plan.assemble(values)


def _fed_now(step: PartialStep, feed_dict: Any) -> dict[Tensor, Any]:
    rows = feeding.expand(step.graph, feed_dict)
    given = {t: feeding.converter(t)(pick(feed_dict[key])) for key, pick, t in rows}
    for tensor in given:
        if tensor not in step.feeds:
            raise errors.invalid(f"The feed {tensor.name} was not specified in partial_run_setup.")
        if tensor in step.fed:
            raise errors.invalid(f"The feed {tensor.name} has already been fed.")
    return given


def _check_fetches(step: PartialStep, wanted: Sequence[Tensor | Operation]) -> None:
    for element in wanted:
        if element not in step.fetchable:
            raise errors.invalid(
                f"The fetch {element.name} was not specified in partial_run_setup."
            )
        if element in step.fetched:
            raise errors.invalid(f"The fetch {element.name} has already been fetched.")


def _check_fed(step: PartialStep, ready: set[Tensor], running: set[Operation]) -> None:
    for op in running:
        for tensor in op.outputs:
            if tensor in step.feeds and tensor not in ready:
                raise errors.invalid(
                    f"Fetch {tensor.name} can't be computed from the feeds that have been fed so"
                    " far: it is a feed of this partial run, and must be fed before what depends"
                    " on it can run"
                )


def _computed(
    session: Any, step: PartialStep, plan: FetchPlan, running: set[Operation]
) -> dict[Tensor, Any]:
    """Runs the nodes; what later parts will read is kept with the step."""
    ready = set(step.values)
    wanted = [t for t in plan.tensors if t not in ready]
    fetched = [*wanted, *(t for t in _crossing(step, running, ready) if t not in wanted)]
    given = [t for t in ready if any(r in running for r in t.uses)]
    targets = [op for op in plan.operations if op in running]
    program = session.part_program(given, fetched, targets, step.done)
    try:
        results = session.call_program(program, [step.values[t] for t in given])
    except BaseException:
        step.failed = True
        raise
    fresh = dict(zip(fetched, results, strict=True))
    for tensor, value in fresh.items():
        step.values[tensor] = feeding.converter(tensor)(value)
    return fresh


def _crossing(step: PartialStep, running: set[Operation], ready: set[Tensor]) -> list[Tensor]:
    """Values made now that nodes run later will read."""
    later = step.nodes - running - step.done
    return [
        tensor
        for op in running
        for tensor in op.outputs
        if tensor not in ready
        and not is_handle(tensor)
        and any(reader in later for reader in tensor.uses)
    ]


def _is_state(op: Operation) -> bool:
    return bool(op.outputs) and is_handle(op.outputs[0]) and op.op_def.state is not None


def _as_fetched(value: Any) -> Any:
    return value.numpy()[()] if isinstance(value, torch.Tensor) else value[()]
