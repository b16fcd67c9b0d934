"""The nodes of a profile: each graph node with its static numbers and what traced steps measured.

State of ``Profile``: the graph, the op log, and a dict of executions for each step.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.tools.profiler import float_ops, op_log, step_stats
from penstock.tools.profiler.step_stats import MEASURED, Execution

NUMBERS = (*MEASURED, "params", "float_ops")


@dataclass(eq=False)
class NodeStats:
    """One node as a view shows it."""

    name: str
    type: str
    types: Sequence[str]
    numbers: dict[str, int]
    runs: int = 0
    devices: Sequence[str] = ()
    # The shape of the parameters, where the node has an attr of that name.
    shape: tuple[int, ...] | None = None
    input_shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    value: np.ndarray | None = None
    code: Sequence[str] = ()
    op: Operation | None = None


class Profile:
    """A graph with its op log and traced steps.

    Args:
      graph: the graph.
      log: a complete OpLogProto.
    """

    def __init__(self, graph: Graph, log: Any) -> None:
        self.graph = graph
        self.log = log
        self.steps: dict[int, list[Any]] = {}
        self._executions: dict[int, dict[str, Execution]] = {}
        self._measured: dict[str, tuple[int, ...]] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds what was measured; several runs of one step number add up."""
        self.steps.setdefault(step, []).append(run_meta)
        into = self._executions.setdefault(step, {})
        for name, found in step_stats.executions(run_meta).items():
            _merge(into.setdefault(name, Execution()), found)
        self._measured.update(step_stats.shapes(run_meta))

    def measured(self, step: int) -> dict[str, Execution]:
        """By node name: one step's executions, or the mean of all steps for -1."""
        if step >= 0:
            return self._executions.get(step, {})
        total: dict[str, Execution] = {}
        counts: dict[str, int] = {}
        for found in self._executions.values():
            for name, execution in found.items():
                _merge(total.setdefault(name, Execution()), execution)
                counts[name] = counts.get(name, 0) + 1
        for name, execution in total.items():
            for key in MEASURED:
                execution.measured[key] //= counts[name]
        return total

    def nodes(self, step: int) -> list[NodeStats]:
        """Every node of the graph, then those that only ran (made by the runtime)."""
        entries = {entry.name: entry for entry in self.log.log_entries}
        runs = dict(self.measured(step))
        made = [
            self._node(op, entries.get(op.name), runs.pop(op.name, None))
            for op in self.graph.get_operations()
        ]
        return made + [_foreign(name, found) for name, found in runs.items()]

    def _node(self, op: Operation, entry: Any, run: Execution | None) -> NodeStats:
        shape = _attr_shape(op)
        params = 0 if shape is None else math.prod(shape)
        numbers = dict.fromkeys(NUMBERS, 0) | {"params": params}
        if entry is not None:
            numbers["float_ops"] = entry.float_ops
        if run is not None:
            numbers |= run.measured
        devices = list(run.devices) if run is not None else [d for d in [op.device.lower()] if d]
        inputs = {
            i: dims
            for i, tensor in enumerate(op.inputs)
            if (dims := float_ops.known_shape(tensor, self._measured)) is not None
        }
        return NodeStats(
            name=op.name,
            type=op.type,
            types=[*devices, op.type, *(entry.types if entry is not None else ())],
            numbers=numbers,
            runs=run.runs if run is not None else 0,
            devices=devices,
            shape=shape,
            input_shapes=inputs,
            value=op.attrs["value"] if op.op_def.role == "constant" else None,
            code=self._code(entry),
            op=op,
        )

    def _code(self, entry: Any) -> list[str]:
        if entry is None:
            return []
        text = self.log.id_to_string
        return [
            f"{os.path.basename(text[t.file_id])}:{t.lineno}:{text[t.function_id]}"
            for t in entry.code_def.traces
        ]


def profile_of(graph: Graph, log: Any, run_meta: Any, add_trace: bool) -> tuple[Profile, int]:
    """A profile with at most one step.

    Args:
      graph: the graph.
      log: the user's OpLogProto or None.
      run_meta: a RunMetadata or None.
      add_trace: whether lines of code are wanted.

    Returns:
      The profile, and the number of nodes whose float operations could not be counted.
    """
    complete, uncounted = op_log.merged(graph, log, run_meta, add_trace)
    profile = Profile(graph, complete)
    if run_meta is not None:
        profile.add_step(0, run_meta)
    return profile, uncounted


def _merge(into: Execution, found: Execution) -> None:
    into.runs += found.runs
    into.type = into.type or found.type
    into.devices.extend(d for d in found.devices if d not in into.devices)
    into.times.extend(found.times)
    for key in MEASURED:
        into.measured[key] += found.measured[key]


def _foreign(name: str, run: Execution) -> NodeStats:
    kind = run.type or name
    numbers = dict.fromkeys(NUMBERS, 0) | run.measured
    return NodeStats(name, kind, [*run.devices, kind], numbers, run.runs, run.devices)


def _attr_shape(op: Operation) -> tuple[int, ...] | None:
    """The node's ``shape`` attr, which variables and placeholders have."""
    shape = op.attrs.get("shape")
    dims = getattr(shape, "sizes", None)
    if dims is None or None in dims:
        return None
    return tuple(dims)
