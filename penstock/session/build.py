"""The pipeline on one screen: from (graph, feeds, fetches) to a program.

Cut the step out of the graph, look at the devices it asks for, read variables where they are used,
take the shapes that are fed, rewrite, decide about memory, write the text, link it to state.  Only
the rewriting is optional (``opt_level=-1`` in the session's OptimizerOptions leaves it out).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from penstock.codegen.emit import emit
from penstock.codegen.plan import make_plan
from penstock.codegen.source import FetchSource, Source, Watch
from penstock.graph.function import FunctionGraph
from penstock.graph.graph import Graph
from penstock.graph.operation import Operation
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor
from penstock.graph.verify import verify
from penstock.passes import pipeline
from penstock.passes.blocking import order_blocking
from penstock.passes.frames import Unstructured
from penstock.passes.functional import expand_functions
from penstock.passes.inside import has_regions
from penstock.passes.primitives import with_primitives
from penstock.passes.prune import needed_in_order, prune
from penstock.passes.reads import read_at_use
from penstock.passes.refine import refine
from penstock.passes.regions import has_control_flow
from penstock.placement.available import local_devices
from penstock.placement.check import check_devices
from penstock.resources.manager import ResourceManager
from penstock.runtime.dataflow_program import DataflowProgram
from penstock.runtime.program import Compile, Program, evaluate
from penstock.runtime.values import fetch_source, value_source
from penstock.session.function import BodyFunction
from penstock.session.options import Options


def build_program(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    resources: ResourceManager,
    options: Options,
    *,
    shapes: Sequence[tuple[int, ...]] | None = None,
    watch: Watch = "",
    done: frozenset[Operation] = frozenset(),
) -> Program:
    """Compiles one step.

    Args:
      graph: the user's graph.
      feeds, fetches: tensors of it; ``targets``: nodes of it to run.
      resources: the state that the program works on.
      options: the session's options.
      shapes: of the values fed, when the program is to be for these shapes alone.
      watch: what the program does between lines: nothing, look for deadlines, or call an observer.
      done: nodes that an earlier part of a partial run has run.

    Returns:
      A program that takes the feeds' values in order (and, if it is observed, the observer) and
      returns the fetches' values in order.
    """
    asked = _Asked(graph, feeds, fetches, targets, shapes, done)
    return _program(asked, resources, options, _compiler(resources, options), watch=watch)


@dataclass(frozen=True)
class _Asked:
    """What a program is to be for."""

    graph: Graph
    feeds: Sequence[Tensor]
    fetches: Sequence[Tensor]
    targets: Sequence[Operation]
    shapes: Sequence[tuple[int, ...]] | None
    done: frozenset[Operation] = frozenset()


def _program(
    asked: _Asked,
    resources: ResourceManager,
    options: Options,
    compiler: Compile,
    private: dict[str, Any] | None = None,
    result_source: FetchSource = fetch_source,
    watch: Watch = "",
) -> Program:
    """The program; where control flow does not nest, one that the dataflow executor runs."""
    with _collector_paused():
        asked = _without_functions(asked)
        why = "PENSTOCK_DATAFLOW=1" if options.dataflow and _has_control_flow(asked) else ""
        if not why:
            try:
                source = _compiled(asked, options, watch, result_source)
                return Program(source, resources, "step", compiler, private)
            except Unstructured as reason:
                why = str(reason)
        step = with_primitives(
            asked.graph, asked.feeds, asked.fetches, asked.targets, asked.done
        )
        _check_devices(step, options)
        return DataflowProgram(step, why, resources, compiler, private, result_source, watch)


def _without_functions(asked: _Asked) -> _Asked:
    """The same of a graph where the bodies of functions stand in place of their calls."""
    request = expand_functions(
        asked.graph, asked.feeds, asked.fetches, asked.targets, asked.done
    )
    return _Asked(*request, asked.shapes, asked.done)


def _has_control_flow(asked: _Asked) -> bool:
    needed = needed_in_order(asked.feeds, asked.fetches, asked.targets, asked.done)
    return has_control_flow(needed)


def _check_devices(step: StepGraph, options: Options) -> None:
    check_devices(
        step, local_devices(), options.allow_soft_placement, options.log_device_placement
    )


def _compiler(resources: ResourceManager, options: Options) -> Compile:
    """What makes callables of the functions that a program's nodes call."""

    def compile_body(
        body: FunctionGraph, shapes: Sequence[tuple[int, ...]] | None, private: dict[str, Any]
    ) -> Program:
        asked = _Asked(body, body.inputs, body.outputs, body.effects(), shapes)
        return _program(asked, resources, options, compiler, private, value_source)

    def compiler(body: FunctionGraph) -> BodyFunction:
        return BodyFunction(body, compile_body)

    return compiler


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Passes make many small objects that live to the end; looking for garbage only costs."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _compiled(asked: _Asked, options: Options, watch: Watch, result_source: FetchSource) -> Source:
    """The stages, one a line."""
    graph, feeds, fetches, targets = asked.graph, asked.feeds, asked.fetches, asked.targets
    pruned = verify(prune(graph, feeds, fetches, targets, asked.done), "prune")
    _check_devices(pruned, options)
    read = verify(read_at_use(pruned), "read_at_use")
    meant = verify(order_blocking(read), "order_blocking")
    refined = _refined(meant, asked.shapes)
    rewritten = pipeline.rewrite(refined, evaluate) if options.optimize else refined
    plan = make_plan(rewritten)
    return emit(plan, result_source, name="step", watch=watch)


def _refined(step: StepGraph, shapes: Sequence[tuple[int, ...]] | None) -> StepGraph:
    if shapes is None and not has_regions(step):
        return step
    # The shapes of a loop's variables follow from what enters it.
    return refine(step, shapes or [None] * len(step.feeds))
