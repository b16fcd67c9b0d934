"""Products of two matrices: MatMul, and ``tf.matmul``, which makes the batched one, too.

A transposed operand is a view, so the emitted line of a MatMul is one call: ``torch.mm(a, b.t())``.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make, one_operation
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.linalg import products

TYPES = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"


# ---- shape rules -----------------------------------------------------------------------------


def swapped(dims: tuple[int | None, ...], swap: bool) -> tuple[int | None, ...]:
    return (*dims[:-2], dims[-1], dims[-2]) if swap else dims


def check_inner(a: tuple[int | None, ...], b: tuple[int | None, ...], names: str) -> None:
    if None not in (a[-1], b[-2]) and a[-1] != b[-2]:
        raise ValueError(
            f"Dimensions must be equal, but are {a[-1]} and {b[-2]}: inner dims of {names} must be"
            f" equal; they are {a[-1]} (of {show(a)}) and {b[-2]} (of {show(b)}), transposition"
            " included"
        )


def matmul_shape(ctx: ShapeContext) -> Dims:
    a = swapped(ctx.rank("a", 2), ctx.attr("transpose_a"))
    b = swapped(ctx.rank("b", 2), ctx.attr("transpose_b"))
    check_inner(a, b, "a and b")
    return a[0], b[1]


# ---- kernels ---------------------------------------------------------------------------------


def _matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    return torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)


# ---- gradients -------------------------------------------------------------------------------

# For each (transposed a, transposed b): (first, second, transpose first, transpose second) of the
# product that is the gradient of a, then of b; "g" is the incoming gradient.
RULES = {
    (False, False): (("g", "b", False, True), ("a", "g", True, False)),
    (False, True): (("g", "b", False, False), ("g", "a", True, False)),
    (True, False): (("b", "g", False, True), ("a", "g", False, False)),
    (True, True): (("b", "g", True, True), ("g", "a", True, True)),
}


def _matmul_grad(op: Any, grad: Tensor) -> list[Tensor]:
    operands = {"a": nodes.conj(op.inputs[0]), "b": nodes.conj(op.inputs[1]), "g": grad}
    rules = RULES[op.attrs["transpose_a"], op.attrs["transpose_b"]]
    return [
        make("MatMul", operands[first], operands[second], transpose_a=ta, transpose_b=tb)
        for first, second, ta, tb in rules
    ]


# ---- the ops ---------------------------------------------------------------------------------

TRANSPOSES = ["transpose_a: bool = False", "transpose_b: bool = False"]
define_op(
    "MatMul",
    "a: T, b: T -> product: T",
    attrs=[*TRANSPOSES, TYPES],
    shape=matmul_shape,
    kernel=_matmul,
    inline=products.inline_product,
    gradient=_matmul_grad,
    flops=arithmetic.product("transpose_a"),
    later=["grad_a: bool", "grad_b: bool"],
)


# ---- public functions ------------------------------------------------------------------------


@one_operation
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices ``a`` and ``b``, or of batches of them.

    Args:
      a: tensor of shape ``[..., m, k]``: float16, bfloat16, float32, float64, int32, int64 or
        complex.
      b: tensor of that dtype and shape ``[..., k, n]``; leading dims broadcast.
      transpose_a, transpose_b: whether the operand is transposed first.
      adjoint_a, adjoint_b: whether it is conjugated and transposed first.
      a_is_sparse, b_is_sparse: hints that a float32 or bfloat16 matrix has many zeros.

    Returns:
      A tensor of shape ``[..., m, n]``.

    Raises:
      ValueError: an operand both transposed and adjoint, or inner dims that differ.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True)).tolist()
      [[11.0]]
    """
    special = adjoint_a or adjoint_b or a_is_sparse or b_is_sparse
    if not special and get_default_graph().executes:  # no scope is needed to name a node
        a = a if getattr(a, "has_value", False) else convert_to_tensor(a)
        b = b if getattr(b, "has_value", False) else convert_to_tensor(b)
        have = a.has_value and b.has_value  # or it is between the layers of a model
        if have and len(a.value.shape) == 2 == len(b.value.shape) and a.dtype is b.dtype:
            attrs = {"transpose_a": bool(transpose_a), "transpose_b": bool(transpose_b)}
            product: Tensor = make("MatMul", a, b, name=name, **attrs)
            return product
    with name_scope(name, "MatMul", [a, b]) as scope:
        for operand, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
            if both:
                raise ValueError(
                    f"matmul: only one of transpose_{operand} and adjoint_{operand} can be True"
                )
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        flags = (transpose_a, transpose_b, adjoint_a, adjoint_b)
        if not (a_is_sparse or b_is_sparse) and (_may_be_batch(a) or _may_be_batch(b)):
            return _batched(a, b, *flags, scope)
        return _single(a, b, *flags, bool(a_is_sparse), bool(b_is_sparse), scope)


def _may_be_batch(x: Tensor) -> bool:
    sizes = x.sizes
    return sizes is None or len(sizes) > 2


def _batched(a: Tensor, b: Tensor, ta: bool, tb: bool, aa: bool, ab: bool, scope: str) -> Tensor:
    # The batched op transposes and conjugates together.
    if ta:
        a = nodes.conj(a)
    if tb:
        b = nodes.conj(b)
    return make("BatchMatMulV2", a, b, name=scope, adj_x=ta or aa, adj_y=tb or ab)


def _single(
    a: Tensor, b: Tensor, ta: bool, tb: bool, aa: bool, ab: bool, sa: bool, sb: bool, scope: str
) -> Tensor:
    if aa:
        a = nodes.conj(a)
    if ab:
        b = nodes.conj(b)
    ta, tb = bool(ta or aa), bool(tb or ab)
    sparse_types = (dtypes.float32, dtypes.bfloat16)  # the usual one first: it is itself
    both = a.dtype.base_dtype in sparse_types and b.dtype.base_dtype in sparse_types
    mixed = both and a.dtype.base_dtype is not b.dtype.base_dtype
    if not (both and (sa or sb)) and not mixed:
        return make("MatMul", a, b, name=scope, transpose_a=ta, transpose_b=tb)
    made = make(
        "SparseMatMul",
        a,
        b,
        name=scope,
        transpose_a=ta,
        transpose_b=tb,
        a_is_sparse=sa,
        b_is_sparse=sb,
    )
    if a.dtype.base_dtype is dtypes.bfloat16 and b.dtype.base_dtype is dtypes.bfloat16:
        made = nodes.cast(made, dtypes.bfloat16)
    return made
