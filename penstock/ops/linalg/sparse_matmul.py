"""SparseMatMul: a product of matrices of which one may be mostly zeros."""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.ops.array import nodes
from penstock.ops.linalg.matmul import RULES, TRANSPOSES, matmul, matmul_shape


def _sparse_matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    a, b = a.float(), b.float()
    return torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)


def _sparse_matmul_grad(op: Any, grad: Tensor) -> list[Tensor]:
    a, b = op.inputs
    operands = {"a": a, "b": b, "g": grad}
    sparse = {
        "a": op.attrs["a_is_sparse"],
        "b": op.attrs["b_is_sparse"],
        "g": isinstance(grad, Tensor) and grad.op_type == "ReluGrad",
    }

    def product(first: str, second: str, ta: bool, tb: bool, dtype: Any) -> Tensor:
        right = operands[second]
        if tb:
            right = nodes.transpose(right, [1, 0])
        made = matmul(
            operands[first],
            right,
            transpose_a=ta,
            a_is_sparse=sparse[first],
            b_is_sparse=sparse[second],
        )
        return nodes.cast(made, dtype)

    rules = RULES[op.attrs["transpose_a"], op.attrs["transpose_b"]]
    return [product(*rule, t.dtype) for rule, t in zip(rules, (a, b), strict=True)]


define_op(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float",
    attrs=[
        *TRANSPOSES,
        "a_is_sparse: bool = False",
        "b_is_sparse: bool = False",
        "Ta: {float, bfloat16} = float",
        "Tb: {float, bfloat16} = float",
    ],
    shape=matmul_shape,
    kernel=_sparse_matmul,
    gradient=_sparse_matmul_grad,
    work=arithmetic.product("transpose_a"),
)


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two float32 or bfloat16 matrices that may have many zeros, in float32.

    Args:
      a, b: matrices ``[m, k]`` and ``[k, n]``.
      transpose_a, transpose_b: whether the operand is transposed first.
      a_is_sparse, b_is_sparse: hints; results do not depend on them.

    Returns:
      A float32 matrix ``[m, n]``.
    """
    return make(
        "SparseMatMul",
        a,
        b,
        name=name,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
    )
