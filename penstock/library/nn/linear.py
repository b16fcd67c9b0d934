"""Affine layers: a product, a bias, and optionally a rectifier."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.linalg import matmul
from penstock.ops.nn import bias


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``x @ weights + biases``.

    Args:
      x: ``[batch, inputs]``.
      weights: ``[inputs, outputs]``.
      biases: ``[outputs]``.

    Returns:
      ``[batch, outputs]``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     session.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [0.5])).tolist()
      [[11.5]]
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x, weights, biases = _converted(x, weights, biases)
        return bias.bias_add(matmul.matmul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """``relu(x @ weights + biases)``; arguments as of ``xw_plus_b``."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x, weights, biases = _converted(x, weights, biases)
        return make_tensor("Relu", bias.bias_add(matmul.matmul(x, weights), biases), name=scope)


def _converted(x: Any, weights: Any, biases: Any) -> tuple[Tensor, Tensor, Tensor]:
    return (
        convert.convert_to_tensor(x, name="x"),
        convert.convert_to_tensor(weights, name="weights"),
        convert.convert_to_tensor(biases, name="biases"),
    )
