"""Second derivatives: ``tf.hessians`` and products of a Hessian with vectors.

A Hessian is made of one gradient for each element of x, in a loop, so x must be small.  A
Hessian-vector product needs two gradients whatever the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.gradients import gradients
from penstock.library.control_flow.tensor_array import TensorArray
from penstock.library.control_flow.while_loop import while_loop
from penstock.ops.array import (
    constant as constant_ops,
    join,
    ranks,
    reshape as reshape_ops,
    shape as shape_ops,
)


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """Second derivatives of the sum of ``ys`` with respect to each of ``xs``.

    Args:
      ys: a tensor or a list of tensors.
      xs: a tensor or variable, or a list.
      colocate_gradients_with_ops, gate_gradients, aggregation_method: as for ``tf.gradients``.

    Returns:
      For each x of shape S, a tensor of shape S + S.

    Raises:
      ValueError: ys do not depend on an x.
    """
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    x_list = list(xs) if isinstance(xs, list | tuple) else [xs]
    del name  # TensorFlow 1.15 takes it and opens no scope
    first = gradients(ys, x_list, **options)
    return [_hessian(g, x, options) for g, x in zip(first, x_list, strict=True)]


def _hessian(gradient: Any, x: Any, options: dict[str, Any]) -> Tensor:
    """One gradient a round of a loop: of each element of the gradient."""
    if gradient is None:
        raise ValueError(
            "Tried to convert 'tensor' to a tensor and failed. Error: None values not supported.:"
            f" no y depends on {x.name}; it has no gradient and so no Hessian"
        )
    flat = reshape_ops.reshape(gradient, [-1])
    size = ranks.size(flat)

    def more(index: Any, rows: Any) -> Any:
        return index < size

    def row(index: Any, rows: Any) -> Any:
        following = index + 1
        made = gradients(flat[index], x, unconnected_gradients="zero", **options)[0]
        return following, rows.write(index, convert_to_tensor(made))

    first = constant_ops.constant(0), TensorArray(x.dtype, size)
    rows = while_loop(more, row, first)[1].stack()
    dims = shape_ops.shape(x)
    return reshape_ops.reshape(rows, join.concat([dims, dims], 0))


def hessian_vector_product(ys: Any, xs: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """The Hessian of ``ys`` times the vector ``v``, without making the Hessian.

    Args:
      ys: a scalar tensor (or several, summed).
      xs: tensors or variables.
      v: tensors shaped like ``xs``; they are taken as constants.

    Returns:
      Tensors shaped like ``xs``; None where the first derivative does not depend on the x.

    Raises:
      ValueError: ``xs`` and ``v`` are not of the same length.
    """
    if len(xs) != len(v):
        raise ValueError(f"xs and v must have the same length; found {len(xs)} and {len(v)}")
    first = gradients(ys, list(xs))
    products = [
        make("Mul", convert_to_tensor(g), make("StopGradient", vector))
        for g, vector in zip(first, v, strict=True)
        if g is not None
    ]
    if not products:
        return [None] * len(xs)
    return gradients(products, list(xs))
