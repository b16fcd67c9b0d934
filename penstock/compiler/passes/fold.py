"""Constant folding: nodes whose values are known before the step runs become constants.

Two sources: a value that follows from static shapes (``Shape`` of a fully known tensor), and a pure
node all of whose inputs are constants, which is evaluated by its own kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.rebuild import Rebuilder, Rule
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static

Evaluate = Callable[[Operation, list[np.ndarray]], list[np.ndarray] | None]
_LARGEST_BYTES = 10 << 20
# Nodes that are evaluated without having inputs.
_ALONE = frozenset({"PyFuncStateless"})


def fold_constants(evaluate: Evaluate) -> Callable[[StepGraph], StepGraph]:
    """The pass, with the function that runs a kernel on arrays passed in."""
    return lambda step: Rebuilder(step).run(_rule(evaluate))


def _rule(evaluate: Evaluate) -> Rule:
    # A rule may be asked twice, but a user's function is called once.
    evaluated: dict[Operation, list[np.ndarray] | None] = {}

    def rule(rebuilder: Rebuilder, op: Operation) -> list[Tensor] | None:
        if op.op_def.role == "constant" or not op.outputs or op.control_inputs:
            return None
        if not op.op_def.pure:
            return None
        known = [static.constant_value(tensor) for tensor in op.outputs]
        values: list[np.ndarray] | None
        if all(value is not None for value in known):
            if _waits(rebuilder, op):
                return None
            values = [value for value in known if value is not None]
        else:
            if op not in evaluated:
                evaluated[op] = _evaluated(rebuilder, op, evaluate)
            values = evaluated[op]
        if values is None:
            return None
        return [
            rebuilder.make("Const", value=value, dtype=tensor.dtype.base_dtype)
            for value, tensor in zip(values, op.outputs, strict=True)
        ]

    return rule


def _waits(rebuilder: Rebuilder, op: Operation) -> bool:
    """Whether a known input comes from a node that stays, as it waits for another (an assert)."""
    return any(
        static.constant_value(old) is not None
        and (new.op.op_def.role != "constant" or new.op.control_inputs)
        for old, new in zip(op.inputs, rebuilder.inputs(op), strict=True)
    )


def _evaluated(rebuilder: Rebuilder, op: Operation, evaluate: Evaluate) -> list[np.ndarray] | None:
    definition = op.op_def
    if definition.random or definition.state is not None:
        return None
    if definition.internal and definition.role is not None:  # a conditional, a loop, a feed
        return None
    inputs = rebuilder.inputs(op)
    if not inputs and op.type not in _ALONE or _too_large(op):
        return None
    if any(t.op.op_def.role != "constant" or t.op.control_inputs for t in inputs):
        return None
    try:
        return evaluate(op, [t.op.attrs["value"] for t in inputs])
    except Exception:
        # The node fails on these values: leave it, so that running it says so with its name.
        return None


def _too_large(op: Operation) -> bool:
    for tensor in op.outputs:
        if tensor.sizes is None or None in tensor.sizes:
            continue
        size = math.prod(d or 0 for d in tensor.sizes) * (tensor.dtype.size or 1)
        if size > _LARGEST_BYTES:
            return True
    return False
