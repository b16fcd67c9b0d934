"""Which nodes depend on given tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.graph import nest


def depends_on(item: Any, inputs: Any) -> bool:
    """Whether an op or tensor is computed from one of the tensors in a nesting."""
    wanted = {op for op in map(_op, nest.flatten(inputs)) if op is not None}
    waiting, seen = [_op(item)], set()
    while waiting:
        op = waiting.pop()
        if op is None or op in seen:
            continue
        if op in wanted:
            return True
        seen.add(op)
        waiting += [*(t.op for t in op.inputs), *op.control_inputs]
    return False


def dependents(items: Iterable[Any], inputs: Any) -> list[Any]:
    """Those of ``items`` that depend on ``inputs``."""
    return [item for item in items if depends_on(item, inputs)]


def _op(item: Any) -> Any:
    if hasattr(item, "control_inputs"):
        return item
    return getattr(item, "op", None)
