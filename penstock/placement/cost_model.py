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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.base import dtypes
from penstock.graph.operation import Operation
from penstock.graph.tensor import Tensor
from penstock.placement.available import parts_of, task_of

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


def _elements(tensor: Tensor) -> int:
    dims = tensor.sizes
    if dims is None:
        return UNKNOWN_DIM
    return math.prod(UNKNOWN_DIM if d is None else d for d in dims)


def _dim(tensor: Tensor, axis: int) -> int:
    dims = tensor.sizes
    if dims is None or len(dims) < -axis:
        return UNKNOWN_DIM
    return UNKNOWN_DIM if dims[axis] is None else int(dims[axis] or 0)


def _product(transposed: str) -> Callable[[Operation], float]:
    def flops(op: Operation) -> float:
        inner = _dim(op.inputs[0], -2 if op.attrs.get(transposed) else -1)
        return 2.0 * inner * _elements(op.outputs[0])

    return flops


def _window(result: Callable[[Operation], Tensor], taps: Callable[[Operation], Tensor]) -> Any:
    """Each element of a result takes a product for each element of a filter but its last dim."""

    def flops(op: Operation) -> float:
        weights = taps(op)
        return 2.0 * _elements(result(op)) * _elements(weights) / max(1, _dim(weights, -1))

    return flops


def _each_of_first(op: Operation) -> float:
    return float(_elements(op.inputs[0]))


# Arithmetic by op type; any other node counts one operation for each element of its outputs.
_FLOPS: dict[str, Callable[[Operation], float]] = {
    "MatMul": _product("transpose_a"),
    "BatchMatMul": _product("adj_x"),
    "BatchMatMulV2": _product("adj_x"),
    "SparseMatMul": _product("transpose_a"),
    "Conv2D": _window(lambda op: op.outputs[0], lambda op: op.inputs[1]),
    "Conv3D": _window(lambda op: op.outputs[0], lambda op: op.inputs[1]),
    "DepthwiseConv2dNative": _window(lambda op: op.outputs[0], lambda op: op.inputs[1]),
    "Conv2DBackpropInput": _window(lambda op: op.inputs[2], lambda op: op.inputs[1]),
    "Conv2DBackpropFilter": _window(lambda op: op.inputs[2], lambda op: op.outputs[0]),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "L2Loss"), _each_of_first),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Tanh", "Sigmoid", "Exp", "Log", "Pow"),
                    lambda op: 10.0 * _each_of_first(op)),
    "AddN": lambda op: float(sum(map(_elements, op.inputs))),
}  # fmt: skip


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
    """Arithmetic operations of a node, estimated from static shapes."""
    rule = _FLOPS.get(op.type)
    return rule(op) if rule is not None else float(sum(map(_elements, op.outputs)))


def costs_nothing(op: Operation) -> bool:
    """Whether a node only names state, holds a constant or hands a value on."""
    definition = op.op_def
    if not op.inputs and (not definition.random or definition.state is None):
        # Constants, feeds, handles; not what draws or makes values of attrs alone.
        return definition.state is not None or op.type in ("Const", "_Feed", "_Dead", "NoOp")
    return definition.passes_through or op.type in ("NoOp", "ReadVariableOp")


def lane(device: str) -> str:
    """What runs one node after another: a task's CPUs together, or a GPU."""
    return task_of(device) if parts_of(device)[3] == "CPU" else device
