"""Which library multiplies matrices.

ATen's ``mm`` calls MKL on CPU, which is slow on processors that are not Intel's; oneDNN's linear
primitive, which ATen also carries, is 1.5 to 2.5 times faster there for all but small products.
Measured on an AMD EPYC with AVX-512, 2 threads (medians, us, mm / oneDNN): 128x784x512 524 / 232,
400x200x10000 7975 / 3317, 100x784x10 48 / 18, 128x128x64 13 / 16, 32x32x32 3 / 12.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from penstock.base import dtypes

# Multiplications below which the primitive's fixed cost (about 10 us) is not won back.
_LEAST_WORK = 1_500_000
_LEAST_WORK_LONG = 500_000
_LONG = 256
# Columns up to which a product counts as narrow: 784x100x10 takes 43 us, its transpose 20.
_NARROW = 32
# Weights from this many elements on are large; products of up to so many rows read them but once.
_LARGE = 1 << 21
_FEW_ROWS = 64


@functools.cache
def onednn_runs() -> bool:
    """Whether programs of this process can call oneDNN's primitives directly."""
    return torch.backends.mkldnn.is_available() and not torch.cuda.is_available()


@functools.cache
def onednn_is_faster() -> bool:
    """Whether this machine's matrix products should go to oneDNN."""
    if not onednn_runs():
        return False
    try:
        with open("/proc/cpuinfo") as info:
            return "GenuineIntel" not in info.read(4096)
    except OSError:
        return False


def _linear_operator() -> Any:
    return torch.ops.mkldnn._linear_pointwise.default if onednn_is_faster() else None


# oneDNN's ``x @ w.T + bias``, then an activation by name.
linear = _linear_operator()


class Product:
    """One matrix product being written: its operands' source and sizes.

    ``call`` has inputs ``a`` and ``b`` and attrs ``transpose_a`` and ``transpose_b``.
    """

    def __init__(self, call: Any) -> None:
        self.call = call
        self.transpose_a, self.transpose_b = call.attr("transpose_a"), call.attr("transpose_b")
        a, b = call.dims("a"), call.dims("b")
        known = a is not None and b is not None and None not in a and None not in b
        self.sizes: tuple[int, int, int] | None = None
        if known:
            rows, inner = a[::-1] if self.transpose_a else a
            self.sizes = (rows, inner, b[0] if self.transpose_b else b[1])

    def operand(self, name: str, transposed: bool = False) -> str:
        """Source of an operand, or of its transpose; views are free."""
        flip = (self.transpose_a if name == "a" else self.transpose_b) != transposed
        source: str = self.call.arg[name]
        return f"{source}.t()" if flip else source

    @property
    def is_narrow(self) -> bool:
        """Whether the result has few columns, which MKL is slow at: its transpose is not."""
        if self.sizes is None or not onednn_is_faster():
            return False
        rows, _, columns = self.sizes
        return columns <= _NARROW and rows >= 4 * columns

    @property
    def suits_onednn(self) -> bool:
        """Whether oneDNN is the faster library for it."""
        if self.sizes is None or self.call.dtype("a") is not dtypes.float32:
            return False
        if not onednn_is_faster():
            return False
        rows, inner, columns = self.sizes
        work = rows * inner * columns
        return work >= (_LEAST_WORK_LONG if inner >= _LONG else _LEAST_WORK)

    def choose_layout(self) -> None:
        """Asks that a weight variable be kept column by column where that is the faster way.

        Narrow weights, because their gradient is computed so; and large ones that meet few rows,
        whose time is that of reading them once (16 x 6400 x 4096: 7.8 ms row by row, 4.8 ms so).
        """
        if self.sizes is None or not onednn_is_faster() or self.transpose_b:
            return
        rows, inner, columns = self.sizes
        narrow = columns <= _NARROW and inner >= 4 * columns
        large = rows <= _FEW_ROWS and inner * columns >= _LARGE
        if narrow or large:
            self.call.prefer_layout("b", (1, 0))

    def linear(self, bias: str = "None", activation: str = "none") -> str:
        """Source of the product by oneDNN."""
        function = self.call.function(linear, "linear")
        if self.call.result_layout == (1, 0) and bias == "None" and activation == "none":
            # The transpose of the product, transposed, lies in memory as its variable does.
            left, right = self.operand("b", transposed=True), self.operand("a")
            return f'{function}({left}, {right}, None, "none", [], "").t()'
        left, right = self.operand("a"), self.operand("b", transposed=True)
        return f'{function}({left}, {right}, {bias}, "{activation}", [], "")'


def inline_product(call: Any) -> str | None:
    """Source of a matrix product."""
    product = Product(call)
    product.choose_layout()
    if product.suits_onednn and not (product.is_narrow and product.transpose_a):
        return product.linear()
    if product.is_narrow and product.transpose_a:
        return f"torch.mm({product.operand('b', True)}, {product.operand('a', True)}).t()"
    return f"torch.mm({product.operand('a')}, {product.operand('b')})"
