"""Parts of a step that tasks run: cut out of a graph to be placed, and compiled once they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.compiler.codegen.source import Watch
from penstock.compiler.passes.frames import Unstructured
from penstock.compiler.passes.primitives import with_primitives
from penstock.compiler.passes.prune import prune
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime.dataflow_program import DataflowProgram
from penstock.engine.runtime.program import Program
from penstock.engine.runtime.values import value_source
from penstock.engine.session.build import (
    Asked,
    compiled,
    function_compiler,
    nodes_of,
    without_functions,
)
from penstock.engine.session.options import Options
from penstock.foundation.base.collector import collector_paused
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, has_control_flow
from penstock.foundation.graph.step import StepGraph, intermediate_steps
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.verify import verify


def program_of_step(
    step: StepGraph,
    resources: ResourceManager,
    options: Options,
    *,
    shapes: Sequence[tuple[int, ...]] | None = None,
    watch: Watch = "",
    private: dict[str, Any] | None = None,
) -> Program:
    """Compiles a step that is pruned and placed already: a task's part of a larger one.

    Args:
      step: as ``prune`` leaves it.
      resources, options, shapes, watch: as for ``build_program``.
      private: state of single nodes (random streams) by name, where several graphs share
        ``resources``.

    Returns:
      A program as ``build_program`` makes, but its values are run-time values in memory of their
      own, not what users get.
    """
    with collector_paused():
        compiler = function_compiler(resources, options)
        if has_control_flow(step.operations):
            why = "its control flow does not nest"
            return DataflowProgram(
                step, why, resources, compiler, private, value_source, watch, options.threads
            )
        with intermediate_steps() as intermediate:
            source = compiled(step, shapes, options, watch, value_source)
            # The step is compiled again: for other shapes, to be explained, and to be traced.
            intermediate.let_go([*step.operations, *nodes_of(source)])
        return Program(source, resources, "step", compiler, private, options.threads)


def step_to_place(
    graph: Graph,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    done: frozenset[Operation] = frozenset(),
) -> StepGraph:
    """Cuts a step out of a graph, for placing its nodes on several tasks.

    Control flow that does not nest stays in primitives, which one task must run together.

    Args:
      graph, feeds, fetches, targets, done: as for ``build_program``.
    """
    with collector_paused():
        asked = without_functions(Asked(graph, feeds, fetches, targets, None, done))
        request = asked.graph, asked.feeds, asked.fetches, asked.targets, asked.done
        try:
            return verify(prune(*request), "prune")
        except Unstructured:
            return with_primitives(*request)
