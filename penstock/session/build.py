"""The pipeline on one screen: from (graph, feeds, fetches) to a program.

Cut the step out of the graph, look at the devices it asks for, read variables where they are used,
take the shapes that are fed, rewrite, decide about memory, write the text, link it to state.  Only
the rewriting is optional (``opt_level=-1`` in the session's OptimizerOptions leaves it out).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.codegen.emit import FetchSource, Source, Watch, emit
from penstock.codegen.plan import make_plan
from penstock.graph.function import FunctionGraph
from penstock.graph.graph import Graph
from penstock.graph.operation import Operation
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor
from penstock.graph.verify import verify
from penstock.passes import pipeline
from penstock.passes.blocking import order_blocking
from penstock.passes.prune import prune
from penstock.passes.reads import read_at_use
from penstock.passes.refine import refine
from penstock.placement.available import local_devices
from penstock.placement.check import check_devices
from penstock.resources.manager import ResourceManager
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
    with _collector_paused():
        source = _compiled(graph, feeds, fetches, targets, options, shapes, watch, done)
        return Program(source, resources, "step", _compiler(resources, options))


def _compiler(resources: ResourceManager, options: Options) -> Compile:
    """What makes callables of the functions that a program's nodes call."""

    def compile_body(
        body: FunctionGraph, shapes: Sequence[tuple[int, ...]] | None, private: dict[str, Any]
    ) -> Program:
        with _collector_paused():
            source = _compiled(
                body, body.inputs, body.outputs, body.effects(), options, shapes, "", frozenset(),
                value_source,
            )  # fmt: skip
            return Program(source, resources, "step", compiler, private)

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


def _compiled(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    options: Options,
    shapes: Sequence[tuple[int, ...]] | None,
    watch: Watch,
    done: frozenset[Operation],
    result_source: FetchSource = fetch_source,
) -> Source:
    """The stages, one a line."""
    pruned = verify(prune(graph, feeds, fetches, targets, done), "prune")
    check_devices(
        pruned, local_devices(), options.allow_soft_placement, options.log_device_placement
    )
    read = verify(read_at_use(pruned), "read_at_use")
    meant = verify(order_blocking(read), "order_blocking")
    refined = _refined(meant, shapes)
    rewritten = pipeline.rewrite(refined, evaluate) if options.optimize else refined
    plan = make_plan(rewritten)
    return emit(plan, result_source, name="step", watch=watch)


def _refined(step: StepGraph, shapes: Sequence[tuple[int, ...]] | None) -> StepGraph:
    if shapes is None:
        return step
    try:
        return refine(step, shapes)
    except ValueError:
        # A node refuses these shapes: the general program fails at that node and says so.
        return step
