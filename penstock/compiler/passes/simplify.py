"""Local simplifications, as rows of a table: each rule sees one node and may give other tensors.

Rules look at traits where they can; a rule about particular arithmetic names its op
types in its row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

LocalRule = Callable[[Rebuilder, Operation], "list[Tensor] | None"]


def drop_idle_controls(step: StepGraph) -> StepGraph:
    """Cuts control edges that order nothing with an effect.

    A control edge orders a node after the nearest nodes with an effect (or that may wait) behind
    it.  Those that the node's inputs come after anyway need no edge, and where the others are no
    more than the edges were, edges lead to them directly.  The nodes stand in a valid order
    already, so nothing is lost but needless computing: a gradient gate no longer makes every other
    gradient run, also in a step whose images come out of a queue.  Nodes with an effect become
    targets: whatever later passes find out about the values that led to them, they run.
    """
    others = _fewer_controls(step) if any(op.control_inputs for op in step.operations) else {}
    cut = _with_controls(step, others) if others else step
    effects = [op for op in cut.operations if op.op_def.effect]
    targets = list(dict.fromkeys([*cut.targets, *effects]))
    return cut if targets == cut.targets else replace(cut, targets=targets)


def _fewer_controls(step: StepGraph) -> dict[Operation, tuple[Operation, ...]]:
    """The control inputs that nodes need, of those that have others."""
    position = {op: index for index, op in enumerate(step.operations)}
    # For each node the nearest nodes with an effect that it comes after; itself, if it has one.
    after: dict[Operation, frozenset[Operation]] = {}
    others: dict[Operation, tuple[Operation, ...]] = {}
    for op in step.operations:
        inputs = _joined(after[t.op] for t in op.inputs)
        controls = _joined(after[c] for c in op.control_inputs)
        has_effect = op.op_def.effect or op.op_def.blocking
        after[op] = frozenset([op]) if has_effect else _joined((inputs, controls))
        if op.control_inputs:
            wanted: Collection[Operation] = controls - inputs
            if len(wanted) > len(op.control_inputs):
                wanted = [c for c in op.control_inputs if after[c]]
            ordered = tuple(sorted(wanted, key=position.__getitem__))
            if ordered != op.control_inputs:
                others[op] = ordered
    return others


def _with_controls(step: StepGraph, controls: dict[Operation, tuple[Operation, ...]]) -> StepGraph:
    rebuilder = Rebuilder(step)
    for op in step.operations:
        if op in controls:
            rebuilder.copy(op).control_inputs = tuple(rebuilder.ops(controls[op]))
        else:
            rebuilder.keep(op)
    return rebuilder.finish()


def _joined(sets: Iterable[frozenset[Operation]]) -> frozenset[Operation]:
    """The union; one of the sets itself where it holds the others, as it mostly does."""
    found: frozenset[Operation] = frozenset()
    for one in sets:
        if found is not one and not one <= found:
            found = one if found <= one else found | one
    return found


# ---- rules ---------------------------------------------------------------------------------------


def bypass_pass_through(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A node that hands its input on; what reads a reference variable here is left (``reads``)."""
    if not op.op_def.passes_through or op.control_inputs:
        return None
    source = rebuilder[op.inputs[0]]
    return None if source.dtype.is_ref else [source]


def bypass_same_cast(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A cast to the type that the input has."""
    if op.attrs["SrcT"] is op.attrs["DstT"] and not op.control_inputs:
        return [rebuilder[op.inputs[0]]]
    return None


def bypass_same_reshape(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A reshape to the shape that the input certainly has: at most one dim may be unknown."""
    before, after = rebuilder[op.inputs[0]].sizes, op.outputs[0].sizes
    same = before is not None and before == after and before.count(None) <= 1
    if same and 0 not in (before or ()) and not op.control_inputs:
        return [rebuilder[op.inputs[0]]]
    return None


_RESHAPES = ("Reshape", "ExpandDims", "Squeeze")


def _behind_reshapes(source: Tensor) -> Tensor:
    """What reshapes that wait for nothing were given."""
    while source.op.type in _RESHAPES and not source.op.control_inputs:
        source = source.op.inputs[0]
    return source


def collapse_reshapes(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A reshape of reshapes: only the last one counts, and none where it undoes the others."""
    source = rebuilder[op.inputs[0]]
    if source.op.type not in _RESHAPES or op.control_inputs or source.op.control_inputs:
        return None
    source = _behind_reshapes(source)
    dims = op.outputs[0].sizes
    if dims is not None and None not in dims and source.sizes == dims:
        return [source]
    if op.type != "Reshape":
        return None
    return [rebuilder.make("Reshape", source, rebuilder[op.inputs[1]])]


def bypass_empty_reduction(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A reduction over no axes."""
    axes = constant_of(rebuilder[op.inputs[1]])
    if axes is not None and axes.size == 0 and not op.control_inputs:
        return [rebuilder[op.inputs[0]]]
    return None


def bypass_unit_tile(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A tile with all multiples one."""
    multiples = constant_of(rebuilder[op.inputs[1]])
    if multiples is not None and np.all(multiples == 1) and not op.control_inputs:
        return [rebuilder[op.inputs[0]]]
    return None


def bypass_unit_factor(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A product with a constant one that does not broadcast the other factor."""
    if op.control_inputs or not op.outputs[0].dtype.is_floating:
        return None
    first, second = rebuilder.inputs(op)
    for factor, other in ((second, first), (first, second)):
        value = constant_of(factor)
        if value is not None and value.size == 1 and value.ravel()[0] == 1:
            if other.sizes is not None and other.sizes == op.outputs[0].sizes:
                return [other]
            if value.ndim == 0:
                return [other]
        if op.type != "Mul":
            break
    return None


def bypass_single_sum(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A sum of one tensor."""
    return [rebuilder[op.inputs[0]]] if len(op.inputs) == 1 and not op.control_inputs else None


def sum_to_shape(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """The gradient of broadcasting: sum over broadcast dims, in the operand's shape."""
    if op.control_inputs:
        return None
    total = rebuilder[op.inputs[0]].op
    if total.type != "Sum" or total.control_inputs:
        return None
    axes = total.inputs[1]
    if axes.op.type != "BroadcastGradientArgs":
        return None
    shape = axes.op.inputs[axes.value_index]
    if rebuilder[op.inputs[1]] is not shape or shape.op.type != "Shape":
        return None
    grad, operand = total.inputs[0], shape.op.inputs[0]
    if is_known(grad) and grad.sizes == operand.sizes:
        return [grad]
    if is_known(grad) and is_known(operand):
        # The axes fold to constants, and a plain sum is the faster.
        return None
    return [rebuilder.make("_SumToShape", grad, operand)]


# Dims of one: programs that work for any number of dims make them, and take them away again around
# each call.  What only moves them is a reshape, and reshapes of reshapes are one.


def unit_reduction(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A reduction over dims of one."""
    source = rebuilder[op.inputs[0]]
    axes = constant_of(rebuilder[op.inputs[1]])
    if op.control_inputs or axes is None or not _is_plain(op, source):
        return None
    dims = source.sizes or ()
    if not all(-len(dims) <= axis < len(dims) and dims[axis] == 1 for axis in axes.ravel()):
        return None
    return [_reshaped(rebuilder, source, op.outputs[0].sizes or ())]


def single_pack(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A stack of one tensor."""
    if len(op.inputs) != 1 or op.control_inputs:
        return None
    source = rebuilder[op.inputs[0]]
    if not _is_plain(op, source):
        return None
    return [_reshaped(rebuilder, source, op.outputs[0].sizes or ())]


def unit_transpose(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
    """A transpose that moves dims of one: none of them where a reshape had made them."""
    perm, source = constant_of(rebuilder[op.inputs[1]]), rebuilder[op.inputs[0]]
    if op.control_inputs or perm is None or not is_known(source) or 1 not in (source.sizes or ()):
        return None
    dims = source.sizes or ()
    order = [int(axis) for axis in perm if dims[axis] != 1]
    if order == sorted(order):
        return [_reshaped(rebuilder, source, [dims[axis] for axis in perm])]
    if source.op.type not in _RESHAPES:
        return None
    kept = _reshaped(rebuilder, source, [d for d in dims if d != 1])
    ranks = np.argsort(np.argsort(order)).astype(np.int32)
    moved = rebuilder.make("Transpose", kept, make_constant(rebuilder, ranks))
    return [_reshaped(rebuilder, moved, [dims[axis] for axis in perm])]


def _is_plain(op: Operation, source: Tensor) -> bool:
    """Whether shapes are known, of floats: whole numbers may be the host's, as sizes are."""
    return is_known(source) and is_known(op.outputs[0]) and source.dtype.is_floating


def _reshaped(rebuilder: Rebuilder, source: Tensor, dims: Sequence[int | None]) -> Tensor:
    origin = _behind_reshapes(source)
    if origin.sizes == tuple(dims):
        return origin
    made: Tensor = rebuilder.make(
        "Reshape", origin, make_constant(rebuilder, np.array(dims, np.int32).reshape(-1))
    )
    return made


def constant_of(tensor: Tensor) -> np.ndarray | None:
    """The value of a constant that waits for nothing, so that no control edge is lost with it."""
    op = tensor.op
    return op.attrs["value"] if op.op_def.role == "constant" and not op.control_inputs else None


def make_constant(rebuilder: Rebuilder, value: np.ndarray) -> Tensor:
    """A constant of a value's own type."""
    made: Tensor = rebuilder.make("Const", value=value, dtype=dtypes.as_dtype(value.dtype))
    return made


def is_known(tensor: Tensor) -> bool:
    """Whether all dims of a tensor are known."""
    return tensor.sizes is not None and None not in tensor.sizes


# Op type to the rules that are tried on it, in order; None stands for every type.
Rules = dict[str | None, list[LocalRule]]
RULES: Rules = {
    None: [bypass_pass_through],
    "Cast": [bypass_same_cast],
    "Reshape": [bypass_same_reshape, collapse_reshapes, sum_to_shape],
    "ExpandDims": [collapse_reshapes],
    "Squeeze": [collapse_reshapes],
    **{kind: [bypass_empty_reduction, unit_reduction] for kind in ("Sum", "Mean", "Max")},
    **{kind: [unit_reduction] for kind in ("Min", "Prod")},
    "Pack": [single_pack],
    "Transpose": [unit_transpose],
    "Tile": [bypass_unit_tile],
    "Mul": [bypass_unit_factor],
    "RealDiv": [bypass_unit_factor],
    "AddN": [bypass_single_sum],
}
# The same for nodes that change nothing, where another task may have made what they are given.
SAME_VALUE: Rules = {"Cast": [bypass_same_cast], "Reshape": [bypass_same_reshape]}


def simplify(step: StepGraph, rules: Rules = RULES) -> StepGraph:
    """Applies the first rule that fires to each node."""
    general = rules.get(None, [])
    if not any(op.type in rules or general and op.op_def.passes_through for op in step.operations):
        return step

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        for one in (*general, *rules.get(op.type, ())):
            found: list[Tensor] | None = one(rebuilder, op)
            if found is not None:
                return found
        return None

    return Rebuilder(step).run(rule)
