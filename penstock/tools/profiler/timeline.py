"""A step's StepStats as a Chrome trace (load it in ``chrome://tracing`` or Perfetto).

Each device is two processes of the trace: ``... Compute`` with the nodes, in as many lanes as ran
at one time, and ``... Tensors`` with the life of each output.  Arrows lead from the end of a node
to the start of each that takes its output; counters give the bytes that each allocator has handed
out, a tensor counting from its making to the end of its last reader.

The events are those that TensorFlow 1.15 writes for the same StepStats, in its order.  Nothing here
depends on who made the StepStats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")
_GPU_TRACE = ("/stream:", "/memcpy")


class AllocationMaximum(NamedTuple):
    """When an allocator had handed out the most, in microseconds; how much; of which tensors."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """The trace (``chrome_trace.format_to_string()``) and each allocator's maximum."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events of the Trace Event Format: times in microseconds, metadata ahead of the others."""

    def __init__(self) -> None:
        self._metadata: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def process(self, name: str, pid: int) -> None:
        """Names a process."""
        event = {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        self._metadata.append(event)

    def add(
        self, phase: str, category: str, name: str, pid: int, tid: int, ts: int, **more: Any
    ) -> None:
        """Adds an event of any other kind."""
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts}
        self._events.append({**event, **more})

    def counter(self, category: str, name: str, pid: int, ts: int, value: int) -> None:
        """Adds a counter's value, which belongs to a process: the lane says nothing."""
        self.add("C", category, name, pid, 0, ts, args={name: value})

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON, indented if ``pretty``."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


@dataclass(eq=False)
class _Tensor:
    """An output: where it was made (process, lane, end of its node) and until when it was used."""

    name: str
    number: int
    tensors_pid: int
    made: int
    allocator: str
    num_bytes: int
    flow: tuple[int, int, int]
    last_use: int


@dataclass(frozen=True)
class _Row:
    """One NodeExecStats, read once."""

    stats: Any
    lane: int
    compute_pid: int
    tensors_pid: int
    on_gpu_trace: bool

    @property
    def start(self) -> int:
        return int(self.stats.all_start_micros)

    @property
    def duration(self) -> int:
        return int(self.stats.all_end_rel_micros)

    @property
    def end(self) -> int:
        return self.start + self.duration

    def operation(self) -> tuple[str, str, list[str]]:
        """Name of the node, its op and its inputs, from the label."""
        stats = self.stats
        if self.on_gpu_trace:
            return (*_kernel(stats.node_name), [])
        if stats.node_name == "RecvTensor":
            return stats.node_name, "RecvTensor", []
        return (stats.node_name, *_op_and_inputs(stats.timeline_label))


def _op_and_inputs(label: str) -> tuple[str, list[str]]:
    """Op and inputs of a label ``name = op(input, input)``; ``unknown`` where it is none."""
    match = _LABEL.match(label)
    if match is None:
        return "unknown", []
    return match.group(2), match.group(3).split(", ") if match.group(3) else []


def _kernel(name: str) -> tuple[str, str]:
    """Node and op of a GPU kernel, which is listed as ``node:op``."""
    node, op = [*name.split(":"), "unknown"][:2]
    return node, op


class Timeline:
    """A step's timeline.

    Args:
      step_stats: a ``StepStats``, such as ``run_metadata.step_stats``.  Its ``thread_id`` fields
        are set to the lanes of the trace.
      graph: accepted for compatibility; labels say what there is to know.

    Example::

        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(train, options=options, run_metadata=metadata)
        trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    """

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats
        self._graph = graph

    def analyze_step_stats(
        self, show_dataflow: bool = True, show_memory: bool = True
    ) -> StepStatsAnalysis:
        """The trace together with what it says of memory.

        Args:
          show_dataflow: draw arrows from outputs to the nodes that take them.
          show_memory: show the life of each output, and count bytes.

        Returns:
          The trace and, with ``show_memory``, each allocator's maximum.
        """
        return _Analysis(self._step_stats, show_dataflow, show_memory).run()

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False
    ) -> str:
        """The trace as text.

        Args:
          show_dataflow: draw arrows from outputs to the nodes that take them.
          show_memory: show the life of each output, and count bytes.

        Returns:
          JSON in Chrome's Trace Event Format.
        """
        analysis = self.analyze_step_stats(show_dataflow, show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)


class _Analysis:
    """One reading of a StepStats.  State: the trace so far, and the tensors by name."""

    def __init__(self, step_stats: Any, dataflow: bool, memory: bool) -> None:
        self._step_stats = step_stats
        self._dataflow, self._memory = dataflow, memory
        self._trace = ChromeTrace()
        self._tensors: dict[str, _Tensor] = {}
        self._flows = 0
        self._numbers = 0

    def run(self) -> StepStatsAnalysis:
        self._trace.process("Allocators", 0)
        rows = list(self._rows())
        for row in rows:
            self._outputs(row)
        for row in rows:
            self._node(row)
        maximums = self._counters() if self._memory else {}
        return StepStatsAnalysis(self._trace, maximums)

    def _rows(self) -> Iterator[_Row]:
        for index, device in enumerate(self._step_stats.dev_stats):
            compute, tensors = 2 * index + 1, 2 * index + 2
            self._trace.process(f"{device.device} Compute", compute)
            self._trace.process(f"{device.device} Tensors", tensors)
            on_gpu_trace = any(part in device.device for part in _GPU_TRACE)
            ends = [0]
            for stats in device.node_stats:
                stats.thread_id = lane = _free_lane(ends, stats.all_start_micros)
                ends[lane] = stats.all_start_micros + stats.all_end_rel_micros
                yield _Row(stats, lane, compute, tensors, on_gpu_trace)

    def _outputs(self, row: _Row) -> None:
        for index, output in enumerate(row.stats.output):
            name = f"{row.stats.node_name}:{index}" if index else row.stats.node_name
            allocation = output.tensor_description.allocation_description
            tensor = _Tensor(
                name,
                self._numbers,
                row.tensors_pid,
                row.start,
                allocation.allocator_name,
                allocation.requested_bytes,
                (row.compute_pid, row.lane, row.end),
                row.end,
            )
            self._numbers += 1
            self._tensors[name] = tensor
            if self._memory:
                self._life(row, tensor, output)

    def _life(self, row: _Row, tensor: _Tensor, output: Any) -> None:
        place = ("Tensor", tensor.name, row.tensors_pid, row.lane)
        self._trace.add("N", *place, row.start, id=tensor.number)
        text = {"tensor_description": str(output.tensor_description).replace('"', "")}
        self._trace.add("O", *place, row.end - 1, id=tensor.number, args={"snapshot": text})

    def _node(self, row: _Row) -> None:
        name, op, inputs = row.operation()
        args = {"name": name, "op": op} | {f"input{i}": value for i, value in enumerate(inputs)}
        place = (row.compute_pid, row.lane, row.start)
        self._trace.add("X", "Op", op, *place, dur=row.duration, args=args)
        for taken in inputs:
            tensor = self._taken(taken)
            if tensor is None:
                continue
            tensor.last_use = max(tensor.last_use, row.end - 1)
            if self._dataflow and tensor.flow[:2] != place[:2]:
                flow = {"id": self._flows}
                self._flows += 1
                self._trace.add("s", "DataFlow", tensor.name, *tensor.flow, **flow)
                self._trace.add("t", "DataFlow", tensor.name, *place, **flow)

    def _taken(self, name: str) -> _Tensor | None:
        if name not in self._tensors:
            # A node between devices: what it takes has the name before the number.
            name = name[: name.rindex("/_")] if name.rfind("/_") > 0 else name
        return self._tensors.get(name)

    def _counters(self) -> dict[str, AllocationMaximum]:
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for tensor in self._tensors.values():
            place = (tensor.name, tensor.tensors_pid, 0)
            self._trace.add("D", "Tensor", *place, tensor.last_use, id=tensor.number)
        for tensor in self._tensors.values():
            mine = changes.setdefault(tensor.allocator, [])
            mine.append((tensor.made, tensor.num_bytes, tensor.name))
            mine.append((tensor.last_use, -tensor.num_bytes, tensor.name))
        return {name: self._count(name, mine) for name, mine in changes.items()}

    def _count(self, allocator: str, changes: list[tuple[int, int, str]]) -> AllocationMaximum:
        changes.sort()
        maximum = AllocationMaximum(0, 0, set())
        held: set[str] = set()
        total = 0
        for time, num_bytes, name in changes:
            total += num_bytes
            if num_bytes < 0:
                held.discard(name)
            else:
                held.add(name)
            if total > maximum.num_bytes:
                maximum = AllocationMaximum(time, total, set(held))
            self._trace.counter("Memory", allocator, 0, time, total)
        return maximum


def _free_lane(ends: list[int], start: int) -> int:
    """The first lane whose last node had ended before ``start``, a new one if there is none."""
    for lane, end in enumerate(ends):
        if start > end:
            return lane
    ends.append(0)
    return len(ends) - 1
