"""What the tests of partitioning share: all parts of a step in threads of this process.

A ``whole`` cluster runs steps uncut, for comparison.

``Cluster`` keeps one ResourceManager a task, so state survives from step to step as on servers, and
runs steps as masters do: prune, place, cut, write and read each part, compile, run all at once.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.compiler.partition import wire
from penstock.compiler.partition.split import Part, partition
from penstock.compiler.passes.functional import expand_functions
from penstock.compiler.passes.prune import prune
from penstock.compiler.placement.available import DeviceAttributes
from penstock.compiler.placement.place import place
from penstock.engine.resources import rendezvous, waiting
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.runtime import values
from penstock.engine.session.options import Options
from penstock.engine.session.task_parts import program_of_step
from penstock.foundation.graph.handles import resource_key
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from tests.suite.clock import PATIENCE

PS, WORKER, OTHER = (f"/job:{job}/replica:0/task:{i}" for job, i in
                     (("ps", 0), ("worker", 0), ("worker", 1)))  # fmt: skip
TASKS = (PS, WORKER, OTHER)
Placement = dict[Operation, str]


def everything(step: StepGraph) -> list[Operation]:
    """All nodes of a step, those in blocks too."""
    found = []
    for op in step.operations:
        found.append(op)
        for block in blocks_of(op):
            found += everything(block)
    return found


def groups(step: StepGraph) -> dict[Operation, object]:
    """Nodes that must be together, for each a common mark: by state and by what cannot travel."""
    parent: dict[object, object] = {}

    def find(x: object) -> object:
        while parent.setdefault(x, x) is not x:
            x = parent[x]
        return x

    def visit(graph: StepGraph, outer: Mapping[Tensor, object]) -> dict[Tensor, object]:
        marks: dict[Tensor, object] = dict(outer)
        for op in graph.operations:
            find(op)
            if _has_shared_state(op):
                parent[find(op)] = find(resource_key(op))
            for tensor in op.inputs:
                stays = tensor.dtype.base_dtype in (tf.resource, tf.variant)
                if blocks_of(op):
                    continue
                mark = marks.get(tensor, tensor.op)
                if stays or tensor.dtype.is_ref and takes_reference(op, tensor):
                    parent[find(op)] = find(mark)
            if blocks_of(op):
                loop = op.type == "_While"
                for block in blocks_of(op):
                    given = op.inputs[0 if loop else 1 :]
                    inner = {
                        feed: marks.get(t, t.op)
                        for feed, t in zip(block.feeds, given, strict=False)
                        if t.dtype.base_dtype in (tf.resource, tf.variant)
                    }
                    visit(block, inner)
                for index, out in enumerate(op.outputs):
                    if out.dtype.base_dtype in (tf.resource, tf.variant):
                        for block in blocks_of(op)[1 if loop else 0 :]:
                            fetch = block.fetches[index]
                            if fetch.op.type != "_Feed":
                                parent[find(out.op)] = find(fetch.op)
                        if loop:
                            marks[out] = marks.get(op.inputs[index], op.inputs[index].op)
        return marks

    visit(step, {})
    return {op: find(op) for op in everything(step)}


def _has_shared_state(op: Operation) -> bool:
    return op.op_def.state is not None and bool(op.outputs) and "shared_name" in op.attrs


def takes_reference(op: Operation, tensor: Tensor) -> bool:
    """Whether a node works on the state itself."""
    position = 0
    for arg in op.op_def.inputs:
        for _ in range(arg.count(op.attrs)):
            if op.inputs[position] is tensor and arg.is_ref:
                return True
            position += 1
    return False


def at_random(seed: int, together: bool = False) -> Callable[[StepGraph], Placement]:
    """Random placement, the same in all steps: state is where its name says.

    ``together``: all state is in one task, as where an update works on several variables.
    """

    def place(step: StepGraph) -> Placement:
        found = groups(step)
        placed: Placement = {}
        states = {mark for op, mark in found.items() if _has_shared_state(op)}
        for op, mark in found.items():
            name = mark.name if isinstance(mark, Operation) else str(mark)
            if together and mark in states:
                name = "state"
            task = random.Random(f"{seed} {name}").choice(TASKS)
            placed[op] = f"{task}/device:CPU:0"
        return placed

    return place


def as_asked(step: StepGraph, default: str = WORKER) -> Placement:
    """Every node where it asks to be, as masters place it."""
    devices = [DeviceAttributes(f"{task}/device:CPU:0", "CPU", 1 << 28) for task in TASKS]
    return place(step, devices, default)


class Cluster:
    """Tasks with state of their own, in this process."""

    def __init__(
        self,
        place: Callable[[StepGraph], Placement] = as_asked,
        *,
        on_wire: bool = True,
        optimize: bool = True,
        compress: bool = False,
        whole: bool = False,
    ) -> None:
        self.place = place
        self.on_wire, self.compress, self.whole = on_wire, compress, whole
        self.options = Options(optimize=optimize)
        self.managers: dict[str, ResourceManager] = {}
        self.parts: list[Part] = []
        self.sent: list[tuple[str, str, Any]] = []
        self.left = 0

    def cut(
        self, fetches: Sequence[Any], feeds: Iterable[Any] = ()
    ) -> tuple[StepGraph, list[Part]]:
        """The step and its parts."""
        graph = tf.get_default_graph()
        elements = [graph.as_graph_element(f) for f in fetches]
        tensors = [e for e in elements if isinstance(e, Tensor)]
        targets = [e for e in elements if isinstance(e, Operation)]
        request = expand_functions(graph, list(feeds), tensors, targets, frozenset())
        step = prune(*request)
        if self.whole:
            return step, [Part("", step, list(range(len(step.feeds))), list(range(len(tensors))))]
        parts = partition(step, self.place(step), compress=self.compress)
        if self.on_wire:
            parts = [wire.decode(wire.encode(part)) for part in parts]
        return step, parts

    def run(self, fetches: Any, feed: Mapping[Any, Any] | None = None) -> Any:
        """Runs one step; like ``Session.run`` for a list of tensors and operations."""
        listed = list(fetches) if isinstance(fetches, list | tuple) else [fetches]
        listed = [getattr(f, "_as_graph_element", lambda f=f: f)() for f in listed]
        feed = feed or {}
        step, self.parts = self.cut(listed, feed)
        given = [
            values.from_array(np.asarray(v, dtype=k.dtype.as_numpy_dtype), copy=True)
            for k, v in feed.items()
        ]
        found = self._run_parts(step, given)
        results = iter(found)
        made = [next(results) if isinstance(f, Tensor) else None for f in listed]
        return made if isinstance(fetches, list | tuple) else made[0]

    def _run_parts(self, step: StepGraph, given: list[Any]) -> list[Any]:
        meeting = rendezvous.LocalRendezvous()
        found: list[Any] = [None] * len(step.fetches)
        failures: list[BaseException] = []
        programs = [
            program_of_step(part.step, self.managers.setdefault(part.task, ResourceManager()),
                            self.options)
            for part in self.parts
        ]  # fmt: skip

        def work(part: Part, program: Any) -> None:
            try:
                with waiting.running(None, PATIENCE), rendezvous.running(meeting):
                    made = program.function(*[given[i] for i in part.feeds])
                for index, value in zip(part.fetches, made, strict=True):
                    found[index] = values.to_array(value)
            except BaseException as raised:
                error = program.error(raised) or raised
                failures.append(error)
                meeting.abort(tf.errors.AbortedError(None, None, f"{part.task}: {error}"))

        threads = [
            threading.Thread(target=work, args=pair, daemon=True)
            for pair in zip(self.parts, programs, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        self.left = meeting.mailbox.left()
        return found
