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


def reached_from(inputs: Iterable[Any], targets: Iterable[Any] | None = None) -> set[Any]:
    """The ops and tensors that depend on tensors or ops, and these themselves.

    Args:
      inputs: tensors and ops.
      targets: where all of these were reached, the search ends.
    """
    wanted = None if targets is None else set(targets)
    waiting = [one for one in inputs if hasattr(one, "graph")]
    found = set(waiting)
    held_back = _held_back(waiting[0].graph) if waiting else {}
    while waiting and not (wanted is not None and wanted <= found):
        item = waiting.pop()
        if hasattr(item, "control_inputs"):
            after = [*item.outputs, *held_back.get(item, ())]
        else:
            after = item.consumers()
        new = [one for one in after if one not in found]
        found.update(new)
        waiting += new
    return found


def _held_back(graph: Any) -> dict[Any, list[Any]]:
    """By op, those that have it as a control input."""
    found: dict[Any, list[Any]] = {}
    for op in graph.get_operations():
        for before in op.control_inputs:
            found.setdefault(before, []).append(op)
    return found


def _op(item: Any) -> Any:
    if hasattr(item, "control_inputs"):
        return item
    return getattr(item, "op", None)
