"""Activations that multiply their input by a gate of itself."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff import custom
from penstock.ops.array import nodes


def swish(features: Any) -> Tensor:
    """``features * sigmoid(features)``.

    The gradient computes the sigmoid again, so that it need not be kept from the forward pass.

    Args:
      features: a floating tensor.

    Returns:
      A tensor of the same type and shape.

    Source: Ramachandran et al. 2017.
    """
    made: Tensor = _swish(convert.convert_to_tensor(features, name="features"))
    return made


@custom.custom_gradient
def _swish(features: Tensor) -> Any:
    def gradient(dy: Tensor) -> Tensor:
        with control_dependencies([dy]):
            gate = make("Sigmoid", features)
        slope = nodes.mul(gate, nodes.add(1.0, nodes.mul(features, nodes.sub(1.0, gate))))
        made: Tensor = nodes.mul(dy, slope)
        return made

    return nodes.mul(features, make("Sigmoid", features)), gradient
