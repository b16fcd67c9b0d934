"""Matrix products: one, batched, and what is decomposed into them (``tensordot`` and ``einsum``
live in ``contraction``).

A transposed operand is a view, so the emitted line of a MatMul is one call: ``torch.mm(a, b.t())``.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import arithmetic, define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, show
from penstock.ops.array import nodes
from penstock.ops.linalg import products

_TYPES = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"


# ---- shape rules -----------------------------------------------------------------------------


def _swapped(dims: tuple[int | None, ...], swap: bool) -> tuple[int | None, ...]:
    return (*dims[:-2], dims[-1], dims[-2]) if swap else dims


def _check_inner(a: tuple[int | None, ...], b: tuple[int | None, ...], names: str) -> None:
    if None not in (a[-1], b[-2]) and a[-1] != b[-2]:
        raise ValueError(
            f"Dimensions must be equal, but are {a[-1]} and {b[-2]}: inner dims of {names} must be"
            f" equal; they are {a[-1]} (of {show(a)}) and {b[-2]} (of {show(b)}), transposition"
            " included"
        )


def _matmul_shape(ctx: ShapeContext) -> Dims:
    a = _swapped(ctx.rank("a", 2), ctx.attr("transpose_a"))
    b = _swapped(ctx.rank("b", 2), ctx.attr("transpose_b"))
    _check_inner(a, b, "a and b")
    return a[0], b[1]


def _batch_shape(ctx: ShapeContext) -> Dims:
    x, y = ctx.rank_at_least("x", 2), ctx.rank_at_least("y", 2)
    if x is None or y is None:
        return None
    x, y = _swapped(x, ctx.attr("adj_x")), _swapped(y, ctx.attr("adj_y"))
    _check_inner(x, y, "x and y")
    if ctx.op.type == "BatchMatMul":
        batch = shapes.merge_static(x[:-2], y[:-2])
    else:
        batch = shapes.broadcast_static(x[:-2], y[:-2])
    return (*(batch or ()), x[-2], y[-1])


# ---- kernels ---------------------------------------------------------------------------------


def _matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    return torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)


def _adjoint(x: Any) -> Any:
    return x.mT.conj_physical() if x.dtype.is_complex else x.mT


def _batch_matmul(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    if x.dim() < 2 or y.dim() < 2:
        raise ValueError(
            f"x and y must have rank at least 2; their shapes are {list(x.shape)} and"
            f" {list(y.shape)}"
        )
    return torch.matmul(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y)


def _strict_batch_matmul(x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    if x.shape[:-2] != y.shape[:-2]:
        raise ValueError(
            f"batch dims of x and y must be equal; the shapes are {list(x.shape)} and"
            f" {list(y.shape)}"
        )
    return _batch_matmul(x, y, adj_x, adj_y)


def _inline_batch_matmul(call: Any) -> str | None:
    x, y = call.dims("x"), call.dims("y")
    if x is None or y is None or call.dtype("x").is_complex:
        return None
    same = x[:-2] == y[:-2] and None not in x[:-2]
    if call.op.type == "BatchMatMul" and not same:
        return None
    function = "bmm" if same and len(x) == 3 else "matmul"
    x_text = call.arg["x"] + (".mT" if call.attr("adj_x") else "")
    y_text = call.arg["y"] + (".mT" if call.attr("adj_y") else "")
    return f"torch.{function}({x_text}, {y_text})"


def _sparse_matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    return _matmul(a.float(), b.float(), transpose_a, transpose_b)


# ---- gradients -------------------------------------------------------------------------------

# For each (transposed a, transposed b): (first, second, transpose first, transpose second) of the
# product that is the gradient of a, then of b; "g" is the incoming gradient.
_RULES = {
    (False, False): (("g", "b", False, True), ("a", "g", True, False)),
    (False, True): (("g", "b", False, False), ("g", "a", True, False)),
    (True, False): (("b", "g", False, True), ("a", "g", False, False)),
    (True, True): (("b", "g", True, True), ("g", "a", True, True)),
}


def _matmul_grad(op: Any, grad: Tensor) -> list[Tensor]:
    operands = {"a": nodes.conj(op.inputs[0]), "b": nodes.conj(op.inputs[1]), "g": grad}
    rules = _RULES[op.attrs["transpose_a"], op.attrs["transpose_b"]]
    return [
        make("MatMul", operands[first], operands[second], transpose_a=ta, transpose_b=tb)
        for first, second, ta, tb in rules
    ]


def _batch_products(op: Any, grad: Tensor) -> list[Tensor]:
    operands = {"a": op.inputs[0], "b": op.inputs[1], "g": grad}
    rules = _RULES[op.attrs["adj_x"], op.attrs["adj_y"]]
    return [
        make(op.type, operands[first], operands[second], name="MatMul", adj_x=ta, adj_y=tb)
        for first, second, ta, tb in rules
    ]


def _batch_matmul_grad(op: Any, grad: Tensor) -> list[Tensor]:
    grads = _batch_products(op, grad)
    x, y = op.inputs
    if op.type == "BatchMatMul":
        return grads
    # TF asks for equal shapes, not only equal batch dims; the nodes are to be the same.
    if nodes.is_known(x) and x.sizes == y.sizes:
        return grads
    # Where one operand was broadcast, its gradient is summed over the batch dims it lacked.
    shapes = nodes.shape(x), nodes.shape(y)
    batches = [nodes.head(s, -2) for s in shapes]
    axes = make("BroadcastGradientArgs", *batches)
    return [
        nodes.reshape(make("Sum", g, a), s) for g, a, s in zip(grads, axes, shapes, strict=True)
    ]


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

    rules = _RULES[op.attrs["transpose_a"], op.attrs["transpose_b"]]
    return [product(*rule, t.dtype) for rule, t in zip(rules, (a, b), strict=True)]


# ---- the ops ---------------------------------------------------------------------------------

_TRANSPOSES = ["transpose_a: bool = False", "transpose_b: bool = False"]
define_op(
    "MatMul",
    "a: T, b: T -> product: T",
    attrs=[*_TRANSPOSES, _TYPES],
    shape=_matmul_shape,
    kernel=_matmul,
    inline=products.inline_product,
    gradient=_matmul_grad,
    flops=arithmetic.product("transpose_a"),
    later=["grad_a: bool", "grad_b: bool"],
)
for _name, _kernel in (("BatchMatMul", _strict_batch_matmul), ("BatchMatMulV2", _batch_matmul)):
    define_op(
        _name,
        "x: T, y: T -> output: T",
        attrs=[_TYPES, "adj_x: bool = False", "adj_y: bool = False"],
        shape=_batch_shape,
        kernel=_kernel,
        inline=_inline_batch_matmul,
        gradient=_batch_matmul_grad,
        # The attr by which TensorFlow's formula would look, "transpose_a", is "adj_x" here.
        flops=arithmetic.product("adj_x"),
        later=["grad_x: bool", "grad_y: bool"],
    )
define_op(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float",
    attrs=[
        *_TRANSPOSES,
        "a_is_sparse: bool = False",
        "b_is_sparse: bool = False",
        "Ta: {float, bfloat16} = float",
        "Tb: {float, bfloat16} = float",
    ],
    shape=_matmul_shape,
    kernel=_sparse_matmul,
    gradient=_sparse_matmul_grad,
    work=arithmetic.product("transpose_a"),
)


# ---- public functions ------------------------------------------------------------------------


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


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices ``a`` and vectors ``b``.

    Args:
      a: tensor of shape ``[..., m, n]``.
      b: tensor of shape ``[..., n]``.
      transpose_a, adjoint_a, a_is_sparse, b_is_sparse: as of ``matmul``.

    Returns:
      A tensor of shape ``[..., m]``.
    """
    with name_scope(name, "MatVec", [a, b]):
        column = make("ExpandDims", convert_to_tensor(b, name="b"), -1)
        product = matmul(
            a,
            column,
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return make("Squeeze", product, squeeze_dims=[-1])


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``matmul(x, weights) + biases``.

    Args:
      x: matrix ``[batch, in]``.
      weights: matrix ``[in, out]``.
      biases: vector ``[out]``.

    Returns:
      A matrix ``[batch, out]``.
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return make("BiasAdd", matmul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``relu(matmul(x, weights) + biases)``; arguments as of ``xw_plus_b``."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return make("Relu", make("BiasAdd", matmul(x, weights), biases), name=scope)
