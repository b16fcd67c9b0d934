"""One multi-tensor update for all ``ApplyAdam`` (``ApplyMomentum``, ...) nodes of a step.

The nodes of one optimizer share their hyper-parameters; they become one node at the place of the
last of them.  That moves the earlier updates later, so it is done only when no node in between
depends on one of them or touches one of their variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.handles import handle_of, resource_key, resource_keys, states_behind
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor


@dataclass(frozen=True)
class _Family:
    """How the nodes of one op type combine: which inputs become lists."""

    target: str
    states: tuple[str, ...]
    gradient: str


_FAMILIES = {
    f"{prefix}Apply{name}": _Family(f"_Multi{kind}Apply{name}", states, "grad")
    for prefix, kind in (("", "Ref"), ("Resource", "Resource"))
    for name, states in (("Momentum", ("var", "accum")), ("Adam", ("var", "m", "v")))
}
COMBINED = frozenset(_FAMILIES)
_FUSABLE = (dtypes.float32, dtypes.float64)


def _group_key(op: Operation, family: _Family) -> Any:
    shared = tuple(
        tensor
        for name, tensor in op.inputs_by_name().items()
        if name not in family.states and name != family.gradient
    )
    flags = tuple(v for k, v in sorted(op.attrs.items()) if k.startswith("use_"))
    return op.type, op.device, op.attrs["T"], shared, flags, tuple(op.control_inputs)


def _groups(step: StepGraph) -> list[list[Operation]]:
    found: dict[Any, list[Operation]] = {}
    for op in step.operations:
        family = _FAMILIES.get(op.type)
        if family is None or op.attrs["T"] not in _FUSABLE or op.attrs["use_locking"]:
            continue
        if op.attrs.get("use_nesterov") and "Adam" in op.type:
            continue
        if states_behind(op.inputs_by_name()[family.gradient]):
            # It may lie in a variable's memory, where another update would change it.
            continue
        found.setdefault(_group_key(op, family), []).append(op)
    return [group for group in found.values() if len(group) > 1]


def _may_move(step: StepGraph, group: list[Operation]) -> bool:
    """Whether every update of the group may happen where the last one stands."""
    members = set(group)
    written = [key for op in group for key in _written(op)]
    touched = set(written)
    if len(touched) != len(written):
        return False
    order = step.operations
    for op in order[order.index(group[0]) : order.index(group[-1])]:
        if op in members:
            continue
        before = [*(t.op for t in op.inputs), *op.control_inputs]
        if any(other in members for other in before):
            return False
        if touched & resource_keys(op):
            return False
    return not any(
        other in members for op in group for other in [t.op for t in op.inputs] if other is not op
    )


def _written(op: Operation) -> list[tuple[str, str]]:
    by_name = op.inputs_by_name()
    return [resource_key(handle_of(by_name[name])) for name in _FAMILIES[op.type].states]


def combine_updates(step: StepGraph) -> StepGraph:
    """The pass."""
    groups = [group for group in _groups(step) if _may_move(step, group)]
    if not groups:
        return step
    last = {group[-1]: group for group in groups}
    earlier = {op for group in groups for op in group[:-1]}
    rebuilder = Rebuilder(step)

    def rule(new: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op in earlier:
            new.controls[op] = []
            return [_state(new, op)] if op.outputs else []
        group = last.get(op)
        if group is None:
            return None
        made = _combined(new, group)
        for member in group:
            new.controls[member] = [made]
        return [_state(new, op)] if op.outputs else []

    with scopes.default_graph_scope(rebuilder.graph):
        for op in step.operations:
            outputs = rule(rebuilder, op)
            if outputs is None:
                rebuilder.keep(op)
            else:
                rebuilder.tensors.update(zip(op.outputs, outputs, strict=True))
    return rebuilder.finish()


def _state(new: Rebuilder, op: Operation) -> Tensor:
    """What the ref output of an update stands for: the variable itself."""
    return new[op.inputs[0]]


def _combined(new: Rebuilder, group: list[Operation]) -> Operation:
    family = _FAMILIES[group[0].type]
    new.current = group[-1]
    inputs: list[Any] = []
    for name in group[0].inputs_by_name():
        listed = name in family.states or name == family.gradient
        tensors = [new[op.inputs_by_name()[name]] for op in group]
        inputs.append(tensors if listed else tensors[0])
    flags = {"use_nesterov": group[0].attrs["use_nesterov"]} if "Momentum" in group[0].type else {}
    made: Operation = new.make(family.target, *inputs, **flags)
    return made
