"""The logistic loss and its gradient, recognized in the nodes that TF's composite function makes.

``sigmoid_cross_entropy_with_logits`` is stable because it is written with two selects, and costs
nine nodes forward and about twelve backward.  With x the logits, z the labels and g the incoming
gradient they compute, and are replaced by one node each that computes::

    loss      max(x, 0) - x z + log(1 + exp(-|x|))
    gradient  (sigmoid(x) - z) g

Both patterns are looked for before constants fold, while the nodes still stand as they were made;
reshapes and sums that undo broadcasting are looked through where shapes show that they do nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

_SUMS = ("Add", "AddV2")


class _Logistic(NamedTuple):
    """The shared middle of both patterns: x, the condition x >= 0, and exp(-|x|)."""

    logits: Tensor
    positive: Tensor
    exponential: Tensor


def _strip(tensor: Tensor) -> Tensor:
    """``tensor`` without reshapes and sums that leave its shape as it is."""
    while tensor.op.type in ("Reshape", "Sum") and not tensor.op.control_inputs:
        source = tensor.op.inputs[0]
        inner = source.op.inputs[0] if source.op.type == "Sum" else source
        if tensor.sizes is None or None in tensor.sizes or inner.sizes != tensor.sizes:
            return tensor
        tensor = inner
    return tensor


def _operands(tensor: Tensor, *op_types: str) -> list[Tensor] | None:
    op = _strip(tensor).op
    if op.type not in op_types or op.control_inputs:
        return None
    return [_strip(t) for t in op.inputs]


def _is_constant(tensor: Tensor, value: float) -> bool:
    op = _strip(tensor).op
    if op.control_inputs:
        return False
    if op.type == "ZerosLike":
        return value == 0
    if op.type == "Fill":
        return _is_constant(op.inputs[1], value)
    return op.op_def.role == "constant" and bool(np.all(op.attrs["value"] == value))


def _middle(exponential: Tensor) -> _Logistic | None:
    """Reads ``Exp(Select(x >= 0, -x, x))``."""
    inner = _operands(exponential, "Exp")
    chosen = _operands(inner[0], "Select") if inner else None
    if chosen is None:
        return None
    positive, negated, logits = chosen
    compared = _operands(positive, "GreaterEqual")
    negative = _operands(negated, "Neg")
    if compared is None or negative is None:
        return None
    if compared[0] is not logits or negative[0] is not logits or not _is_constant(compared[1], 0):
        return None
    return _Logistic(logits, positive, _strip(exponential))


def _match_loss(op: Operation) -> tuple[Tensor, Tensor] | None:
    """Logits and labels, when ``op`` is the last sum of the loss."""
    difference, logarithm = op.inputs
    terms, grown = _operands(difference, "Sub"), _operands(logarithm, "Log1p")
    middle = _middle(grown[0]) if grown else None
    if terms is None or middle is None:
        return None
    clipped, product = _operands(terms[0], "Select"), _operands(terms[1], "Mul")
    if clipped is None or product is None or product[0] is not middle.logits:
        return None
    if clipped[:2] != [middle.positive, middle.logits] or not _is_constant(clipped[2], 0):
        return None
    return middle.logits, product[1]


def _match_gradient(op: Operation) -> tuple[Tensor, Tensor, Tensor] | None:
    """Incoming gradient, logits and labels, when ``op`` adds the four parts of the gradient."""
    if len(op.inputs) != 4:
        return None
    parts = [_strip(t) for t in op.inputs]
    by_type: dict[str, list[Tensor]] = {}
    for part in parts:
        by_type.setdefault(part.op.type, []).append(part)
    if {kind: len(found) for kind, found in by_type.items()} != {"Select": 2, "Mul": 1, "Neg": 1}:
        return None
    for first, second in (by_type["Select"], by_type["Select"][::-1]):
        found = _match_parts(first, second, by_type["Mul"][0], by_type["Neg"][0])
        if found is not None:
            return found
    return None


def _match_parts(
    clipped: Tensor, below: Tensor, labelled: Tensor, above: Tensor
) -> tuple[Tensor, Tensor, Tensor] | None:
    positive, grad, zero = _operands(clipped, "Select") or (None, None, None)
    negated = _operands(above, "Neg")
    upper = _operands(negated[0], "Select") if negated else None
    lower = _operands(below, "Select")
    weighted = _operands(labelled, "Mul")
    if positive is None or grad is None or zero is None:
        return None
    if not (upper and lower and weighted):
        return None
    if upper[0] is not positive or lower[0] is not positive or upper[1] is not lower[2]:
        return None
    if not all(_is_constant(t, 0) for t in (zero, upper[2], lower[1])):
        return None
    through = _operands(upper[1], "Mul")
    middle = _middle(through[1]) if through else None
    if through is None or middle is None or middle.positive is not positive:
        return None
    if not _is_log_gradient(through[0], grad, middle.exponential):
        return None
    minus = _operands(weighted[0], "Neg")
    if minus is None or minus[0] is not grad:
        return None
    return grad, middle.logits, weighted[1]


def _is_log_gradient(tensor: Tensor, grad: Tensor, exponential: Tensor) -> bool:
    """Whether ``tensor`` is ``grad / (1 + exponential)``, as Log1p's gradient writes it."""
    factors = _operands(tensor, "Mul")
    inverse = _operands(factors[1], "Reciprocal") if factors else None
    total = _operands(inverse[0], *_SUMS) if inverse else None
    if factors is None or total is None or factors[0] is not grad:
        return False
    return _is_constant(total[0], 1) and total[1] is exponential


def recognize_logistic_loss(step: StepGraph) -> StepGraph:
    """The pass; nodes that only the recognized ones needed die in the next ``drop_dead``."""

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.control_inputs or not op.outputs or not op.outputs[0].dtype.is_floating:
            return None
        if op.type in _SUMS:
            loss = _match_loss(op)
            if loss is not None and _same_dims(*loss):
                return [rebuilder.make("_SigmoidXent", *(rebuilder[t] for t in loss))]
        if op.type == "AddN":
            parts = _match_gradient(op)
            if parts is not None and _same_dims(*parts):
                return [rebuilder.make("_SigmoidXentGrad", *(rebuilder[t] for t in parts))]
        return None

    return Rebuilder(step).run(rule)


def _same_dims(*tensors: Tensor) -> bool:
    dims = tensors[0].sizes
    return dims is not None and None not in dims and all(t.sizes == dims for t in tensors)
