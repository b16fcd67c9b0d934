"""Static shapes of a node, by the shape rule of its op type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import mismatch
from penstock.foundation.graph.operation import Operation, Refusal
from penstock.foundation.opdef.inference import FailsAtRun, ShapeContext, show


def infer_shapes(op: Operation) -> None:
    """Gives a node's outputs the static shapes that its rule infers.

    Raises:
      ValueError: the rule refuses the inputs.
    """
    op_def = op.op_def
    rule = op_def.shape
    if rule is None:
        return
    try:
        result = _run_rule(op, rule)
    except FailsAtRun as failure:
        op.refusal = Refusal(str(failure), failure.error)
        result = failure.result
        if result is None and len(op.outputs) > 1:
            return
    if not op.outputs:
        return
    if len(op.outputs) == 1 and not op_def.has_list_output:
        op.outputs[0].sizes = result
        return
    if len(result) != len(op.outputs):
        raise RuntimeError(
            f"shape rule of {op.type} gave {len(result)} shapes for {len(op.outputs)} outputs"
        )
    for tensor, dims in zip(op.outputs, result, strict=True):
        tensor.sizes = dims


def _run_rule(op: Operation, rule: Callable[[ShapeContext], Any]) -> Any:
    try:
        return rule(ShapeContext(op))
    except FailsAtRun:
        raise
    except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
        operands = ", ".join(f"{t.name} {show(t.sizes)} {t.dtype.name}" for t in op.inputs)
        reason = mismatch.in_a_node(error)
        raise ValueError(f"{op.type} {op.name!r}: {reason}; its inputs are {operands}") from error
