"""Products of a matrix with a vector, and with what is added to its rows."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.linalg.matmul import matmul


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
