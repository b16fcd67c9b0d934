"""How many float operations a node takes: formulas over the shapes around it.

An op's definition has one of them as its ``flops``.  They are those that TensorFlow counts by
(1.15's, with the op types that 2.x adds to them), so totals can be compared: multiplications and
additions count one each, and an op without a formula counts nothing, as there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol


class Shapes(Protocol):
    """What a formula sees: a node and the shapes around it, known or estimated."""

    op: Any

    def input(self, index: int) -> tuple[int, ...]:
        """Shape of input ``index``."""

    def input_dim(self, index: int, axis: int) -> int:
        """One dim of input ``index``, which may be known where others are not."""

    def output(self) -> tuple[int, ...]:
        """Shape of the first output."""


Flops = Callable[[Shapes], int]


def each_input(count: int) -> Flops:
    """So many for each element of the first input."""
    return lambda at: count * math.prod(at.input(0))


def each_output(count: int) -> Flops:
    """So many for each element of the output."""
    return lambda at: count * math.prod(at.output())


def reduction(finish: int) -> Flops:
    """One for each element but the first of a group, ``finish`` more for the result."""

    def rule(at: Shapes) -> int:
        return math.prod(at.input(0)) + math.prod(at.output()) * (finish - 1)

    return rule


def product(transposed: str) -> Flops:
    """A product of matrices; the attr says whether the first is transposed."""

    def rule(at: Shapes) -> int:
        inner = at.input_dim(0, -2 if at.op.attrs[transposed] else -1)
        return 2 * inner * math.prod(at.output())

    return rule


def window(dims: int) -> Flops:
    """A multiplication and an addition for each of the first ``dims`` filter dims' elements."""

    def rule(at: Shapes) -> int:
        return 2 * math.prod(at.output()) * math.prod(at.input(1)[:dims])

    return rule
