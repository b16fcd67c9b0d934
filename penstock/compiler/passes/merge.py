"""Common subexpressions: pure nodes of one type with equal inputs and attrs are computed once.

Reads of one resource are merged as well, as long as no write of it stands between them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from penstock.foundation.graph.handles import handle_of, resource_key, written_keys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

_SMALL_BYTES = 4096


def merge_common(step: StepGraph) -> StepGraph:
    """The pass."""
    seen: dict[Any, Operation] = {}
    # Of nodes that are merged into others: the others' outputs.
    merged: dict[Tensor, Tensor] = {}
    writes: Counter[tuple[str, str]] = Counter()

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        definition = op.op_def
        writes.update(written_keys(op))
        if op.control_inputs or not op.outputs:
            return None
        epoch = 0
        if definition.reads and definition.aliases and not definition.effect:
            epoch = writes[resource_key(handle_of(op.inputs[0]))]
        elif not definition.pure or definition.random or definition.state:
            return None
        inputs = [merged.get(t, t) for t in op.inputs]
        first = seen.setdefault((op.type, epoch, _operands(op, inputs), *_attr_keys(op)), op)
        if first is op:
            return None
        merged.update(zip(op.outputs, first.outputs, strict=True))
        return [rebuilder[t] for t in first.outputs]

    return Rebuilder(step).run(rule)


def _operands(op: Operation, inputs: list[Tensor]) -> Any:
    if op.op_def.commutative and len(inputs) == 2:
        return frozenset(inputs) if inputs[0] is not inputs[1] else (inputs[0], inputs[0])
    return tuple(inputs)


def _attr_keys(op: Operation) -> list[Any]:
    return [(name, _hashable(value)) for name, value in op.attrs.items() if name != "_class"]


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.nbytes > _SMALL_BYTES:
            return id(value)
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list):
        return tuple(_hashable(v) for v in value)
    if hasattr(value, "sizes"):
        return "shape", value.sizes
    if isinstance(value, float):
        # 0.0 and -0.0 are equal but not the same.
        return repr(value)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value).__name__, value
