"""What a traced run tells of each node: time, memory, devices and shapes, from its RunMetadata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# Measured of a node, in bytes and microseconds.
MEASURED = (
    "micros", "accelerator_micros", "cpu_micros", "bytes", "peak_bytes", "residual_bytes",
    "output_bytes",
)  # fmt: skip
_STREAM = re.compile(r"/stream:(\w+)$")
_LABEL = re.compile(r"= (\w+)\(")


@dataclass
class Execution:
    """One node in one step; a node that ran several times has the sums."""

    runs: int = 0
    type: str = ""
    devices: list[str] = field(default_factory=list)
    measured: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURED, 0))
    # Kept for ProfileProto: device, on an accelerator, start and length in microseconds.
    times: list[tuple[str, bool, int, int]] = field(default_factory=list)


def executions(run_meta: Any) -> dict[str, Execution]:
    """Every node of a traced step by name.

    Args:
      run_meta: a RunMetadata.

    Returns:
      Node name to what was measured of it.  The time of kernels on an accelerator is the device's
      (``.../stream:all``), that of their launch is CPU time.
    """
    found: dict[str, Execution] = {}
    for device, node in _rows(run_meta):
        stream = _STREAM.search(device)
        if stream and stream.group(1) != "all":
            continue  # "all" holds the sum of the streams
        entry = found.setdefault(_node_name(node), Execution())
        _add_time(entry, _STREAM.sub("", device).lower(), stream is not None, node)
        if stream is None:
            entry.runs += 1
            _add_memory(entry.measured, node)
            label = _LABEL.search(node.timeline_label)
            entry.type = entry.type or (label.group(1) if label else "")
    return found


def shapes(run_meta: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of the tensors that a traced step made, by tensor name."""
    found: dict[str, tuple[int, ...]] = {}
    for _, node in _rows(run_meta):
        for output in node.output:
            if output.HasField("tensor_description"):
                name = f"{_node_name(node)}:{output.slot}"
                dims = output.tensor_description.shape.dim
                found[name] = tuple(d.size for d in dims)
    return found


def _rows(run_meta: Any) -> Iterator[tuple[str, Any]]:
    for device in run_meta.step_stats.dev_stats:
        for node in device.node_stats:
            yield device.device, node


def _node_name(node: Any) -> str:
    """Rows of an accelerator's streams are called ``node:OpType``."""
    return str(node.node_name).partition(":")[0]


def _add_time(entry: Execution, device: str, accelerator: bool, node: Any) -> None:
    micros = max(node.op_end_rel_micros - node.op_start_rel_micros, 0)
    entry.measured["micros"] += micros
    entry.measured["accelerator_micros" if accelerator else "cpu_micros"] += micros
    entry.times.append((device, accelerator, node.all_start_micros, micros))
    if device not in entry.devices:
        entry.devices.append(device)


def _add_memory(measured: dict[str, int], node: Any) -> None:
    for used in node.memory:
        measured["bytes"] += used.total_bytes
        measured["peak_bytes"] += used.peak_bytes
        measured["residual_bytes"] += used.live_bytes
    for output in node.output:
        described = output.tensor_description.allocation_description
        measured["output_bytes"] += described.allocated_bytes or described.requested_bytes
