"""Which values of loops are Python numbers: counters, and the tests made of them.

A tensor operation on one int costs twenty times as much as Python's own.  Inside loops, scalars of
integer and bool types are therefore Python numbers where every node that makes them has a form as
one (``number``); a node that wants a tensor gets one made where it stands.  What wraps around as a
tensor wraps around here (``wraps``), but for counters that the loop's own test holds below a limit.

The decision: all such variables of a loop are taken for numbers; those are dropped whose next
value is then none; and so on, until nothing changes.  Inner loops are decided first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.compiler.codegen.lines import Line, Plan
from penstock.foundation.base import dtypes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.program_text import literal

# Numbers of a loop's test, and of what it counts.
_SUM, _DIFFERENCE, _BOTH = "{0} + {1}", "{0} - {1}", "{0} and {1}"
_BELOW, _ABOVE, _NOT_BELOW = "{0} < {1}", "{0} > {1}", "{0} >= {1}"
_KINDS = (dtypes.int32, dtypes.int64, dtypes.bool)


@dataclass(eq=False)
class Numbers:
    """The decision.

    State: the tensors that are Python numbers, for each loop the inputs that are made numbers
    before it, and the nodes that cannot overflow.
    """

    values: set[Tensor] = field(default_factory=set)
    converted: dict[Operation, list[int]] = field(default_factory=dict)
    bounded: set[Operation] = field(default_factory=set)


def decide_numbers(plan: Plan) -> Numbers:
    """Decides for all loops of a program."""
    numbers = Numbers()
    _visit(plan.lines, numbers)
    return numbers


def expression(op: Operation, sources: Sequence[str], numbers: Numbers) -> str:
    """Source of the Python number that a node makes."""
    definition = op.op_def
    assert definition.number is not None
    text = definition.number.format(*sources)
    if definition.wraps and op not in numbers.bounded:
        half = 1 << (31 if op.outputs[0].dtype.base_dtype is dtypes.int32 else 63)
        return f"({text} + {half} & {2 * half - 1}) - {half}"
    return text


def literal_of(tensor: Tensor) -> str | None:
    """Source of a constant that is such a number."""
    if tensor.op.op_def.role != "constant" or not _is_scalar(tensor):
        return None
    return literal(np.asarray(tensor.op.attrs["value"]).item())


def _is_scalar(tensor: Tensor) -> bool:
    return tensor.sizes == () and tensor.dtype.base_dtype in _KINDS


def _visit(lines: Iterable[Line], numbers: Numbers) -> None:
    for line in lines:
        for block in line.blocks:
            _visit(block.lines, numbers)
        if line.op.op_def.role == "loop":
            _decide_loop(line, numbers)


def _decide_loop(line: Line, numbers: Numbers) -> None:
    body = line.blocks[1]
    count = len(line.op.outputs)
    variables = {i for i in range(count) if _is_scalar(body.step.feeds[i])}
    while variables:
        found = set(numbers.values)
        for block in line.blocks:
            feeds = block.step.feeds
            found.update(feeds[i] for i in variables)
            found.update(feed for feed in feeds[count:] if _is_scalar(feed))
            _spread(block.lines, found)
        kept = {i for i in variables if _is_number(body.step.fetches[i], found)}
        if kept == variables:
            break
        variables = kept
    if not variables:
        return
    numbers.converted[line.op] = [
        count + i
        for i in range(len(body.step.feeds) - count)
        if any(_is_used(block, block.step.feeds[count + i], found) for block in line.blocks)
    ]
    for block in line.blocks:
        feeds = block.step.feeds
        dropped = [feeds[i] for i in range(count, len(feeds))]
        found.difference_update(dropped)
    numbers.values |= found
    numbers.values.update(line.op.outputs[i] for i in variables)
    _note_bounded(line, variables, numbers)


def _spread(lines: Iterable[Line], found: set[Tensor]) -> None:
    for line in lines:
        op = line.op
        if op.op_def.number is None or not _is_scalar(op.outputs[0]):
            continue
        if all(_is_scalar(t) and _is_number(t, found) for t in op.inputs):
            found.add(op.outputs[0])


def _is_number(tensor: Tensor, found: set[Tensor]) -> bool:
    return tensor in found or literal_of(tensor) is not None


def _is_used(block: Plan, feed: Tensor, found: set[Tensor]) -> bool:
    """Whether something that is a number is made of what a block is given."""
    if feed not in found:
        return False
    users = (line.op for line in block.lines if feed in line.op.inputs)
    return any(op.outputs and op.outputs[0] in found for op in users) or feed in block.step.fetches


def _note_bounded(line: Line, variables: set[int], numbers: Numbers) -> None:
    """Counters that step by one towards a limit which the loop's test compares them with.

    A counter that no test limits but that steps up beside one, from no higher a start, is limited
    with it: a gradient's count of the rounds.
    """
    condition, body = line.blocks
    tests = _conjuncts(condition.step.fetches[0])
    free: list[tuple[int, Operation]] = []
    limited: list[int] = []
    for index in variables:
        begin, last = condition.step.feeds[index], body.step.feeds[index]
        op = body.step.fetches[index].op
        if op.op_def.number not in (_SUM, _DIFFERENCE) or op.inputs[0] is not last:
            continue
        if literal_of(op.inputs[1]) != "1":
            continue
        up, start = op.op_def.number == _SUM, literal_of(line.op.inputs[index])
        if any(_limits(test, begin, up) for test in tests):
            numbers.bounded.add(op)
            limited += [int(start)] if up and start is not None else []
        elif up and start is not None:
            free.append((int(start), op))
    numbers.bounded.update(op for start, op in free if limited and start <= max(limited))


def _conjuncts(pred: Tensor) -> list[Operation]:
    op = pred.op
    if op.op_def.number != _BOTH:
        return [op]
    return [found for tensor in op.inputs for found in _conjuncts(tensor)]


def _limits(test: Operation, variable: Tensor, up: bool) -> bool:
    """Whether a test says that the variable is below something (up) or above something."""
    if len(test.inputs) != 2:
        return False
    first, second = test.inputs
    sign = test.op_def.number
    below = (sign == _BELOW and first is variable) or (sign == _ABOVE and second is variable)
    if up:
        return below
    above = (sign == _ABOVE and first is variable) or (sign == _BELOW and second is variable)
    # `i >= c` leaves room for one step down where c is not the least number.
    value = literal_of(second)
    positive = value is not None and int(value) > 0
    return above or (sign == _NOT_BELOW and first is variable and positive)
