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


@functools.cache
def onednn_is_faster() -> bool:
    """Whether this machine's matrix products should go to oneDNN."""
    if not torch.backends.mkldnn.is_available() or torch.cuda.is_available():
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


def prefers_onednn(call: Any) -> bool:
    """Whether a product with inputs ``a`` and ``b`` and transpose attrs should go to oneDNN."""
    if call.dtype("a") is not dtypes.float32 or not onednn_is_faster():
        return False
    a, b = call.dims("a"), call.dims("b")
    if a is None or b is None or None in a or None in b or len(a) != 2 or len(b) != 2:
        return False
    rows, inner = a if not call.attr("transpose_a") else a[::-1]
    columns = b[0] if call.attr("transpose_b") else b[1]
    work = rows * inner * columns
    return bool(work >= (_LEAST_WORK_LONG if inner >= _LONG else _LEAST_WORK))


def inline_product(call: Any) -> str | None:
    """Source of a matrix product."""
    left = f"{call.arg['a']}.t()" if call.attr("transpose_a") else call.arg["a"]
    if prefers_onednn(call):
        right = call.arg["b"] if call.attr("transpose_b") else f"{call.arg['b']}.t()"
        function = call.function(linear, "linear")
        return f'{function}({left}, {right}, None, "none", [], "")'
    right = f"{call.arg['b']}.t()" if call.attr("transpose_b") else call.arg["b"]
    return f"torch.mm({left}, {right})"
