"""The verifier: what must hold of a step graph at every boundary of the pipeline.

1. Every input and control input of a node stands before it, in the same graph.
2. Inputs agree with the op definition in number and (base) type.
3. A ref input is fed by a ref output.
4. Feeds are outputs of ``_Feed`` nodes; fetches and targets are in the graph.
5. Node names are unique.

A violation is a defect of Penstock, never of the user; the error prints the neighbourhood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.text import node_text
from penstock.foundation.opdef.opdef import ArgDef


def verify(step: StepGraph, after: str, before: StepGraph | None = None) -> StepGraph:
    """Checks ``step`` and returns it.

    Args:
      step: the step graph.
      after: the stage that made it, for the message.
      before: what it was made of, which was checked: nodes that it shares have the inputs that
        they had.

    Raises:
      tf.errors.InternalError: an invariant does not hold.
    """
    known: set[Operation] = set() if before is None else set(before.operations)
    seen: set[Operation] = set()
    names: set[str] = set()
    for op in step.operations:
        for tensor in op.inputs:
            if tensor.op not in seen:
                _fail_order(after, op, tensor.op)
        for other in op.control_inputs:
            if other not in seen:
                _fail_order(after, op, other)
        if op not in known:
            _check_inputs(op, after)
        if op.name in names:
            _fail(after, op, "shares its name with another node")
        names.add(op.name)
        seen.add(op)
    for tensor in step.feeds:
        if tensor.op not in seen or tensor.op.op_def.role != "feed":
            _fail(after, tensor.op, "is fed but is no _Feed node of the step")
    for wanted in [t.op for t in step.fetches] + step.targets:
        if wanted not in seen:
            _fail(after, wanted, "is wanted but not in the step")
    return step


def verified(step: StepGraph, change: Callable[[StepGraph], StepGraph], name: str) -> StepGraph:
    """What a pass makes of a step, looked at if it is not the step itself.

    Args:
      step: the step graph.
      change: the pass.
      name: of the pass, for the message.

    Raises:
      tf.errors.InternalError: an invariant does not hold.
    """
    made = change(step)
    return step if made is step else verify(made, name, step)


def _check_inputs(op: Operation, after: str) -> None:
    flat: Sequence[ArgDef] = op.op_def.inputs
    if op.op_def.has_list_input:
        flat = [arg for arg in flat for _ in range(arg.count(op.attrs))]
    if len(flat) != len(op.inputs):
        _fail(after, op, f"takes {len(flat)} inputs, has {len(op.inputs)}")
    for arg, tensor in zip(flat, op.inputs, strict=True):
        wanted = arg.dtype or (op.attrs.get(arg.type_attr) if arg.type_attr else None)
        if wanted is not None and tensor.dtype.base_dtype is not wanted.base_dtype:
            _fail(after, op, f"{arg.name} is {tensor.dtype.name}, must be {wanted.name}")
        if arg.is_ref and not tensor.dtype.is_ref:
            _fail(after, op, f"{arg.name} must be a reference")


def _fail_order(after: str, op: Operation, other: Operation) -> None:
    _fail(after, op, f"needs {other.name!r}, which does not stand before it")


def _fail(after: str, op: Operation, what: str) -> None:
    around = [op, *(t.op for t in op.inputs), *op.control_inputs]
    lines = "\n  ".join(node_text(o) for o in around)
    raise errors.InternalError(None, op, f"after {after}: {op.name!r} {what}:\n  {lines}")
