"""Of which outputs and inputs gradients are compared with TensorFlow, where not of all.

A row's ``grad`` says what can be checked numerically, which is less: TensorFlow's choice at a kink,
say, can be compared, while a difference across it means nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.ops.opcase import Bound, is_complex


@dataclasses.dataclass(frozen=True)
class Part:
    """Numbers of outputs whose projection is differentiated, and of inputs (None: all)."""

    outputs: tuple[int, ...]
    inputs: tuple[int, ...] | None = None


_MOVING = Part((0,), (0, 1, 2))  # TF 1.15 hands on the empty gradients of the empty statistics
PARTS = {
    # The other outputs have no gradient in TensorFlow.
    "BlockLSTM": Part((1, 6)),
    "CTCLoss": Part((0,)),
    "FusedBatchNorm": _MOVING,
    "FusedBatchNormV2": _MOVING,
    "FusedBatchNormV3": _MOVING,
    "FusedBatchNormGrad": Part((0, 1, 2)),
    "FusedBatchNormGradV2": Part((0, 1, 2)),
    "FusedBatchNormGradV3": Part((0, 1, 2)),
    # The gradient of the other output lacks terms there.
    "SoftmaxCrossEntropyWithLogits": Part((0,)),
    "SparseSoftmaxCrossEntropyWithLogits": Part((0,)),
    # The signs of vectors are free, and the gradient of their projection depends on them.
    "SelfAdjointEigV2": Part((0,)),
    "Svd": Part((0,)),
    # R of Householder's method has the same signs everywhere.
    "Qr": Part((1,)),
}

_UNWRITTEN = "TensorFlow's gradient leaves rows without a segment unwritten"
_CONJUGATE = "TensorFlow's gradient lacks a conjugate; ours is the derivative (tests/ops)"
# Rows with grad=False that cannot be compared either.
UNCOMPARED = {
    "BesselI0e": "NaN in TensorFlow where the argument is infinite",
    "BesselI1e": "NaN in TensorFlow where the argument is infinite",
    "DestroyTemporaryVariable": "what it gives is a variable that the step itself has made",
    "GRUBlockCell": "contrib registers TensorFlow's gradient; tests/library/recurrent compares it",
    "LSTMBlockCell": "contrib registers TensorFlow's gradient; tests/library/recurrent compares it",
    "MatrixExponential": "an op of Penstock's own: TensorFlow's expm is a loop of others",
    "SparseSegmentMean": _UNWRITTEN,
    "SparseSegmentMeanWithNumSegments": _UNWRITTEN,
    "SparseSegmentSqrtN": _UNWRITTEN,
    "SparseSegmentSqrtNWithNumSegments": _UNWRITTEN,
    "SparseSegmentSum": _UNWRITTEN,
    "SparseSegmentSumWithNumSegments": _UNWRITTEN,
}
UNCOMPARED_COMPLEX = {
    "MatrixDeterminant": _CONJUGATE,
    "MatrixSolveLs": _CONJUGATE,
    "MatrixSquareRoot": _CONJUGATE,
    "TridiagonalSolve": _CONJUGATE,
}
# Rows with grad=False whose second order cannot be compared.
SECOND_UNCOMPARED = {
    "RGBToHSV": "where channels are equal the second order depends on how the first is written",
}


def why_not(bound: Bound) -> str:
    """Why the gradients of a row are not compared with TensorFlow; empty if they are."""
    case = bound.case
    if case.raises:
        return "the row is an error"
    if case.grad is not False:
        return ""
    complex_reason = UNCOMPARED_COMPLEX.get(case.op, "") if is_complex(bound.dtype) else ""
    return UNCOMPARED.get(case.op, complex_reason)


def wanted(bound: Bound, *, kinks: bool = True) -> dict[str, Any]:
    """The fields of a job about gradients: ``grad`` (inputs) and ``project`` (outputs).

    Without ``kinks`` rows with ``grad=False`` have none.  ``grad`` is None for none, True for all
    or the numbers of inputs; ``project`` is None for all or the numbers of outputs.
    """
    if why_not(bound) or (bound.case.grad is False and not kinks):
        return {"grad": None, "project": None}
    part = PARTS.get(bound.case.op)
    inputs = bound.case.grad or (part and part.inputs) or True
    return {"grad": inputs, "project": part and part.outputs}
