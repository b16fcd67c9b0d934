"""What nodes and copies cost: estimates from shapes, replaced by what a trace has measured.

A node's time is a fixed part, plus its arithmetic over the rate of its device, or its bytes over
the rate of the memory, whichever is more.  Unknown dims count as ``UNKNOWN_DIM``.  The rates are
those of an ordinary server and matter relative to each other only; the link between tasks is a
connection over loopback, as ``simulate.profile`` has it.

The CPU devices of a task run its program in one thread, one node after another (``lane``), and
share its memory; a GPU runs beside it.

State: per node name and device type what was measured, as a sum and a count; bytes of outputs.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

from penstock.compiler.placement.available import parts_of, task_of
from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor

UNKNOWN_DIM = 32
# What a string or another Python object counts as.
_OBJECT_BYTES = 64


@dataclass(frozen=True)
class Rates:
    """How fast a kind of device is.

    Attributes:
      flops: arithmetic operations a second.
      bytes: bytes of memory read or written a second.
      overhead: seconds that each node takes before it begins.
    """

    flops: float
    bytes: float
    overhead: float


@dataclass(frozen=True)
class Link:
    """How long a copy takes: ``latency`` seconds, and ``bytes`` of it a second."""

    latency: float
    bytes: float

    def seconds(self, size: float) -> float:
        """The time of a copy of so many bytes."""
        return self.latency + size / self.bytes


RATES = {"CPU": Rates(5e10, 1e10, 2e-6), "GPU": Rates(1e13, 1e12, 8e-6)}
BETWEEN_TASKS = Link(150e-6, 2.4e9)
BETWEEN_MEMORIES = Link(10e-6, 1.2e10)


def _sizes(tensor: Tensor) -> tuple[int, ...]:
    dims = tensor.sizes
    if dims is None:
        return (UNKNOWN_DIM,)
    return tuple(UNKNOWN_DIM if d is None else d for d in dims)


def _elements(tensor: Tensor) -> int:
    return math.prod(_sizes(tensor))


class _Estimated:
    """The shapes around a node, as ``opdef.arithmetic.Shapes`` asks for them."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def input(self, index: int) -> tuple[int, ...]:
        return _sizes(self.op.inputs[index])

    def input_dim(self, index: int, axis: int) -> int:
        sizes = self.input(index)
        return sizes[axis] if len(sizes) >= -axis else UNKNOWN_DIM

    def output(self) -> tuple[int, ...]:
        return _sizes(self.op.outputs[0])


class CostModel:
    """Estimates and measurements of one session.

    Args:
      rates: by device type.
      between_tasks: the link of any two tasks.
      between_memories: the link of a CPU and a GPU, or of two GPUs, of one task.
    """

    def __init__(
        self,
        rates: dict[str, Rates] | None = None,
        between_tasks: Link = BETWEEN_TASKS,
        between_memories: Link = BETWEEN_MEMORIES,
    ) -> None:
        self._rates = dict(rates or RATES)
        self._between_tasks, self._between_memories = between_tasks, between_memories
        self._measured: dict[tuple[str, str], tuple[float, int]] = {}
        self._sizes: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()

    # ---- asking ------------------------------------------------------------------------------

    def seconds(self, op: Operation, device: str) -> float:
        """The time that a node takes on a device; 0 for what only names or hands on a value."""
        kind = parts_of(device)[3] or "CPU"
        measured = self._measured.get((op.name, kind))
        if measured is not None:
            return measured[0] / measured[1]
        if costs_nothing(op):
            return 0.0
        rates = self._rates.get(kind) or self._rates["CPU"]
        moved = sum(map(self.bytes, op.inputs)) + sum(map(self.bytes, op.outputs))
        return rates.overhead + max(flops(op) / rates.flops, moved / rates.bytes)

    def bytes(self, tensor: Tensor) -> int:
        """The size of a tensor's value."""
        measured = self._sizes.get((tensor.op.name, tensor.value_index))
        if measured is not None:
            return measured
        dtype = tensor.dtype.base_dtype
        objects = dtype in (dtypes.string, dtypes.resource, dtypes.variant)
        return _elements(tensor) * (_OBJECT_BYTES if objects else dtype.size)

    def copy_seconds(self, tensor: Tensor, source: str, target: str) -> float:
        """The time until a value that one device has is on another."""
        if source == target:
            return 0.0
        if task_of(source) != task_of(target):
            return self._between_tasks.seconds(self.bytes(tensor))
        if lane(source) == lane(target):
            return 0.0
        return self._between_memories.seconds(self.bytes(tensor))

    # ---- learning ----------------------------------------------------------------------------

    def learn(self, step_stats: Any) -> None:
        """Takes over what a traced step took, as a mean over all steps learnt.

        Args:
          step_stats: a ``StepStats`` message (``RunMetadata.step_stats``).
        """
        taken: dict[tuple[str, str], float] = {}
        for device in step_stats.dev_stats:
            kind = parts_of(device.device)[3] or "CPU"
            for node in device.node_stats:
                nanos = node.op_end_rel_nanos or 1000 * node.op_end_rel_micros
                key = (node.node_name, kind)
                taken[key] = taken.get(key, 0.0) + nanos * 1e-9
                for output in node.output:
                    described = output.tensor_description.allocation_description
                    self._sizes[node.node_name, output.slot] = described.requested_bytes
        self._add(taken)

    def learn_costs(self, cost_graph: Any) -> None:
        """Takes over the times and sizes of a ``CostGraphDef`` message."""
        taken: dict[tuple[str, str], float] = {}
        for node in cost_graph.node:
            if node.compute_cost > 0:
                taken[node.name, parts_of(node.device)[3] or "CPU"] = node.compute_cost * 1e-6
            for index, info in enumerate(node.output_info):
                if info.size > 0:
                    self._sizes[node.name, index] = info.size
        self._add(taken)

    def _add(self, taken: dict[tuple[str, str], float]) -> None:
        with self._lock:
            for key, seconds in taken.items():
                total, count = self._measured.get(key, (0.0, 0))
                self._measured[key] = (total + seconds, count + 1)


def flops(op: Operation) -> float:
    """Arithmetic operations of a node, estimated from static shapes.

    Where nothing is said of its op, one for each element of its outputs.
    """
    formula = op.op_def.work
    if formula is None:
        return float(sum(map(_elements, op.outputs)))
    return float(formula(_Estimated(op)))


def costs_nothing(op: Operation) -> bool:
    """Whether a node only names state, holds a constant or hands a value on."""
    definition = op.op_def
    if not op.inputs and (not definition.random or definition.state is None):
        # Constants, feeds, handles; not what draws or makes values of attrs alone.
        given = definition.role in ("constant", "feed", "dead")
        return definition.state is not None or given or definition.does_nothing
    return definition.passes_through or definition.role == "read" or definition.does_nothing


def lane(device: str) -> str:
    """What runs one node after another: a task's CPUs together, or a GPU."""
    return task_of(device) if parts_of(device)[3] == "CPU" else device
