"""Sums of products whose operands are gathered first: a weight's gradient over a loop's rounds.

Each round of a recurrent network's gradient adds ``a.T @ b``, of few rows, to that of a weight.
One product of many rows costs half of what as many small ones do (20 rows by 400 and by 800, 25
times, one thread: 132 us a round one by one, 70 us gathered), so the rounds only hand their
operands over, and these are multiplied every few hundred rows.

State of a ``ProductSum``: the sum so far, and the operands not multiplied yet.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import from_attr, no_outputs, unknown
from penstock.ops.linalg import products

_NO_GRADIENT = "made by passes only, after gradients are built"
# Rows that are worth a product, and that bound the memory which the operands keep.
_ROWS = 512


class ProductSum:
    """``initial`` and the products added to it."""

    __slots__ = ("_left", "_right", "_rows", "_total", "_add")

    def __init__(self, initial: torch.Tensor) -> None:
        self._total = initial
        # The kernel, once something was multiplied; the sum is in memory of its own then.
        self._add: Callable[..., torch.Tensor] | None = None
        self._left: list[torch.Tensor] = []
        self._right: list[torch.Tensor] = []
        self._rows = 0

    def add(self, a: torch.Tensor, b: torch.Tensor) -> None:
        """Adds ``a.T @ b``."""
        self._left.append(a)
        self._right.append(b)
        self._rows += a.shape[0]
        if self._rows >= _ROWS:
            self._multiply()

    def total(self) -> torch.Tensor:
        """The sum, in memory of its own; nothing may be added after it."""
        if self._left:
            self._multiply()
        return self._total.clone() if self._add is None else self._total

    def _multiply(self) -> None:
        left, right = torch.cat(self._left).t(), torch.cat(self._right)
        self._left.clear()
        self._right.clear()
        self._rows = 0
        if self._add is None:
            self._add = products.adder(left, right)
            self._total = self._total.clone()
        self._add(left, right, into=self._total)


define_op(
    "_ProductSum",
    "initial: T -> handle: resource",
    attrs=["T: type"],
    shape=unknown,
    kernel=ProductSum,
    keeps=("initial",),
    no_gradient=_NO_GRADIENT,
    stateful=True,
    internal=True,
)
define_op(
    "_AddToProductSum",
    "handle: resource, a: T, b: T ->",
    attrs=["T: type"],
    shape=no_outputs,
    kernel="{handle}.add({a}, {b})",
    keeps=("a", "b"),
    writes=("handle",),
    no_gradient=_NO_GRADIENT,
    stateful=True,
    internal=True,
)
define_op(
    "_ProductTotal",
    "handle: resource -> total: T",
    attrs=["T: type", "shape: shape"],
    shape=from_attr("shape"),
    kernel="{handle}.total()",
    no_gradient=_NO_GRADIENT,
    stateful=True,
    internal=True,
)
