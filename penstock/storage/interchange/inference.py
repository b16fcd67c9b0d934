"""A step as it serves: without checks, without dropout that drops nothing, defaults as constants.

``portable`` simplifies a step with the passes that make no ops of Penstock's own.  ``serving`` is
for steps whose variables are constants: nothing is written in them, so that edges of
data alone order the nodes.
"""

from __future__ import annotations

from penstock.compiler.passes.fold import Evaluate
from penstock.compiler.passes.inside import change_blocks
from penstock.compiler.passes.pipeline import passes
from penstock.compiler.passes.prune import drop_dead
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

# Draws from [0, 1); the first input is the shape.
_UNIFORM = ("RandomUniform", "StatelessRandomUniform")
# The passes of every step that leave nothing but TensorFlow's ops.
_PORTABLE = frozenset(
    ["simplify", "fold_constants", "simplify_folded", "merge_common", "sink_constants",
     "drop_unused_args", "drop_dead", "drop_dead_again"]
)  # fmt: skip


def portable(step: StepGraph, evaluate: Evaluate) -> StepGraph:
    """The step simplified, its blocks too.

    Args:
      step: the step.
      evaluate: runs a kernel on arrays.
    """
    step = _simplified(step, evaluate)
    if step.has_regions:
        step = change_blocks(step, lambda block: portable(block, evaluate))
        step = _simplified(step, evaluate)
    return step


def _simplified(step: StepGraph, evaluate: Evaluate) -> StepGraph:
    for row in passes(evaluate):
        if row.name in _PORTABLE:
            step = row(step)
    return step


def serving(step: StepGraph) -> StepGraph:
    """The step without control edges, and so without asserts; its defaults are constants."""
    if step.has_regions:
        step = change_blocks(step, serving)
    if not any(op.control_inputs or _is_default(op) for op in step.operations):
        return drop_dead(step)

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        rebuilder.controls.clear()
        return [rebuilder[op.inputs[0]]] if _is_default(op) else None

    return drop_dead(Rebuilder(step).run(rule))


def _is_default(op: Operation) -> bool:
    """Whether a node is a placeholder that has a value of its own."""
    return op.op_def.role == "placeholder" and bool(op.inputs)


def without_dropout(step: StepGraph) -> StepGraph:
    """The step without masks that are one everywhere: of dropout with a rate of zero."""
    if step.has_regions:
        step = change_blocks(step, without_dropout)
    if not any(op.type in _UNIFORM for op in step.operations):
        return step
    ones: set[Tensor] = set()

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if _is_one(op, ones):
            ones.add(op.outputs[0])
        if op.type == "Mul" and op.inputs[1] in ones:
            return [rebuilder[op.inputs[0]]]
        if op.type in ("Select", "SelectV2") and op.inputs[0] in ones:
            return [rebuilder[op.inputs[1]]]
        return None

    return drop_dead(Rebuilder(step).run(rule))


def _is_one(op: Operation, ones: set[Tensor]) -> bool:
    """Whether a node gives ones, or truths, whatever is drawn."""
    if op.type == "Cast":
        return op.inputs[0] in ones
    if op.type == "GreaterEqual":
        least, bound = _least(op.inputs[0]), _number(op.inputs[1])
        return least is not None and bound is not None and bound <= least
    return op.type == "Floor" and _least(op.inputs[0]) == 1


def _number(tensor: Tensor) -> float | None:
    """The value of a scalar constant."""
    if tensor.op.op_def.role != "constant" or tensor.op.attrs["value"].shape:
        return None
    return float(tensor.op.attrs["value"])


def _least(tensor: Tensor) -> float | None:
    """What a uniform draw is at least, scaled and moved by constants as it may be."""
    op = tensor.op
    if op.type in _UNIFORM:
        return 0.0
    if op.type not in ("Mul", "Add", "AddV2"):
        return None
    for drawn, other in (op.inputs, op.inputs[::-1]):
        least, number = _least(drawn), _number(other)
        if least is not None and number is not None and number >= 0:
            return least * number if op.type == "Mul" else least + number
    return None
