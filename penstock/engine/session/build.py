"""The pipeline on one screen: from (graph, feeds, fetches) to a program.

Cut the step out of the graph, look at the devices it asks for, read variables where they are used,
take the shapes that are fed, rewrite, decide about memory, write the text, link it to state.  Only
the rewriting is optional (``opt_level=-1`` in the session's OptimizerOptions leaves it out).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from penstock.compiler.codegen.emit import emit
from penstock.compiler.codegen.moves import moves_between_devices
from penstock.compiler.codegen.plan import make_plan
from penstock.compiler.codegen.source import FetchSource, Source, Watch
from penstock.compiler.passes import pipeline
from penstock.compiler.passes.frames import Unstructured
from penstock.compiler.passes.functional import expand_functions
from penstock.compiler.passes.primitives import with_primitives
from penstock.compiler.passes.prune import needed_in_order, prune
from penstock.compiler.passes.refine import refine
from penstock.engine.native.tier import promote
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime.dataflow_program import DataflowProgram
from penstock.engine.runtime.program import Compile, Program, evaluate, when_hot
from penstock.engine.runtime.values import fetch_source, value_source
from penstock.engine.session.function import BodyFunction
from penstock.engine.session.options import Options
from penstock.engine.session.prepared import shared_source
from penstock.foundation.base.collector import collector_paused
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, has_control_flow, is_marked
from penstock.foundation.graph.step import StepGraph, intermediate_steps
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify
from penstock.foundation.machine.cache import folder


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
    result_source: FetchSource = fetch_source,
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
      result_source: how values are returned: as users get them, or run-time values.

    Returns:
      A program that takes the feeds' values in order (and, if it is observed, the observer) and
      returns the fetches' values in order.
    """
    options.placer.check(graph.operations)
    asked = Asked(graph, feeds, fetches, targets, shapes, done)
    compiler = function_compiler(resources, options)
    program = _program(
        asked, resources, options, compiler, watch=watch, result_source=result_source
    )
    if options.native != "off" and not watch:
        _on_its_way(program, options.native)
    return program


# A program of fewer lines has no native form.
_FEW_LINES = 4


def _on_its_way(program: Program, mode: str) -> None:
    """Has a program get a native form, when it is time for that.

    Nodes that ask for it do not wait until the program is hot, nor does what was compiled before.
    """
    if mode != "on" and any(map(is_marked, program.source.line_ops.values())):
        promote(program, "marked")
    elif mode == "on":
        promote(program, mode)
    elif mode == "auto" and len(program.source.line_ops) >= _FEW_LINES:
        kept = folder()
        if kept is not None and (kept / "native").exists():
            promote(program, "auto")
        elif type(program) is Program:
            held = weakref.ref(program)
            when_hot(program, lambda: promote(held(), "hot"))


@dataclass(frozen=True)
class Asked:
    """What a program is to be for."""

    graph: Graph
    feeds: Sequence[Tensor]
    fetches: Sequence[Tensor]
    targets: Sequence[Operation]
    shapes: Sequence[tuple[int, ...]] | None
    done: frozenset[Operation] = frozenset()

    def key(self) -> tuple[Any, ...]:
        """What tells it from others of the same graph."""
        shapes = None if self.shapes is None else tuple(self.shapes)
        return tuple(self.feeds), tuple(self.fetches), tuple(self.targets), shapes, self.done


def _program(
    asked: Asked,
    resources: ResourceManager,
    options: Options,
    compiler: Compile,
    private: dict[str, Any] | None = None,
    result_source: FetchSource = fetch_source,
    watch: Watch = "",
) -> Program:
    """The program; where control flow does not nest, one that the dataflow executor runs."""
    key = (*asked.key(), watch, result_source)
    with collector_paused():
        try:
            source = shared_source(
                asked.graph, key, options, lambda: _source(asked, options, watch, result_source)
            )
            return Program(source, resources, "step", compiler, private, options.threads)
        except Unstructured as reason:
            why = str(reason)
        asked = without_functions(asked)
        step = with_primitives(asked.graph, asked.feeds, asked.fetches, asked.targets, asked.done)
        options.placer.assign(step)
        return DataflowProgram(
            step, why, resources, compiler, private, result_source, watch, options.threads
        )


def _source(asked: Asked, options: Options, watch: Watch, result_source: FetchSource) -> Source:
    """The source of a step.

    Raises:
      Unstructured: it is one for the dataflow executor.
    """
    asked = without_functions(asked)
    if options.dataflow and _has_control_flow(asked):
        raise Unstructured("PENSTOCK_DATAFLOW=1")
    with intermediate_steps() as intermediate:
        pruned = _pruned(asked, options)
        source = compiled(pruned, asked.shapes, options, watch, result_source)
        intermediate.let_go(nodes_of(source))
        return source


def nodes_of(source: Source) -> Iterator[Operation]:
    """The nodes that a program may ask about as long as it lives."""
    yield from source.step.operations
    yield from source.line_ops.values()
    yield from source.resources.values()
    yield from source.states.values()
    yield from (tensor.op for _, tensor in chain(*source.line_inputs.values()))


def _pruned(asked: Asked, options: Options) -> StepGraph:
    graph, feeds, fetches, targets = asked.graph, asked.feeds, asked.fetches, asked.targets
    pruned = verify(prune(graph, feeds, fetches, targets, asked.done), "prune")
    options.placer.assign(pruned)
    return pruned


def without_functions(asked: Asked) -> Asked:
    """The same of a graph where the bodies of functions stand in place of their calls."""
    request = expand_functions(asked.graph, asked.feeds, asked.fetches, asked.targets, asked.done)
    return Asked(*request, asked.shapes, asked.done)


def _has_control_flow(asked: Asked) -> bool:
    needed = needed_in_order(asked.feeds, asked.fetches, asked.targets, asked.done)
    return has_control_flow(needed)


def function_compiler(resources: ResourceManager, options: Options) -> Compile:
    """What makes callables of the functions that a program's nodes call.

    Args:
      resources: the state that they work on.
      options: of the session that they are called for.
    """

    def compile_body(
        body: FunctionGraph, shapes: Sequence[tuple[int, ...]] | None, private: dict[str, Any]
    ) -> Program:
        asked = Asked(body, body.inputs, body.outputs, body.effects(), shapes)
        return _program(asked, resources, options, compiler, private, value_source)

    def compiler(body: FunctionGraph) -> BodyFunction:
        return BodyFunction(body, compile_body)

    return compiler


def compiled(
    pruned: StepGraph,
    shapes: Sequence[tuple[int, ...]] | None,
    options: Options,
    watch: Watch,
    result_source: FetchSource,
) -> Source:
    """The stages after pruning and placement, one a line."""
    meant = pipeline.meaning(pruned)
    refined = _refined(meant, shapes)
    rewritten = pipeline.rewrite(refined, evaluate) if options.optimize else refined
    moved = moves_between_devices(rewritten) if rewritten.uses_gpus else rewritten
    plan = make_plan(moved)
    return emit(plan, result_source, name="step", watch=watch)


def _refined(step: StepGraph, shapes: Sequence[tuple[int, ...]] | None) -> StepGraph:
    if shapes is None and not step.has_regions:
        return step
    # The shapes of a loop's variables follow from what enters it.
    return refine(step, shapes or [None] * len(step.feeds))
