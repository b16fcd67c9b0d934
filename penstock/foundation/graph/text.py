"""Graphs as text, one node a line, for golden tests and error messages.

``y: float32[?,10] = Add(x, b) {..attrs..} ^control``; the blocks of a conditional or loop follow
it, further in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.region import block_labels
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


def _short(tensor: Tensor) -> str:
    return tensor.op.name if tensor.value_index == 0 else tensor.name


def _value(value: Any) -> str:
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, shapes.TensorShape):
        return shapes.format_static(value.sizes)
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 8 else f"<{value.dtype} {list(value.shape)}>"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


def node_text(op: Operation) -> str:
    """One node as a line."""
    outputs = (
        ", ".join(f"{t.dtype.name}{shapes.format_static(t.sizes)}" for t in op.outputs) or "()"
    )
    inputs = ", ".join(_short(t) for t in op.inputs)
    shown = {
        name: value
        for name, value in op.attrs.items()
        if name not in op.op_def.inferred_attrs and not name.startswith("_") and name != "blocks"
        and not _is_default(op, name, value)
    }  # fmt: skip
    attrs = ", ".join(f"{k}={_value(v)}" for k, v in shown.items())
    controls = "".join(f" ^{c.name}" for c in op.control_inputs)
    braced = f" {{{attrs}}}" if attrs else ""
    return f"{op.name}: {outputs} = {op.type}({inputs}){braced}{controls}"


def _is_default(op: Operation, name: str, value: Any) -> bool:
    definition = op.op_def.attrs.get(name)
    if definition is None or isinstance(value, np.ndarray):
        return False
    return bool(definition.default == value)


def step_text(step: StepGraph) -> str:
    """A whole step: its nodes, then what is fetched and run."""
    lines = []
    for op in step.operations:
        lines.append(node_text(op))
        for label, block in zip(block_labels(op), blocks_of(op), strict=True):
            lines.append(f"  {label}")
            lines += [f"    {line}" for line in step_text(block).splitlines()]
    lines.append("fetch " + ", ".join(_short(t) for t in step.fetches))
    if step.targets:
        lines.append("run " + ", ".join(op.name for op in step.targets))
    return "\n".join(lines) + "\n"
