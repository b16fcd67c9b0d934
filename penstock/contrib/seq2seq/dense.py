"""The affine layer that attention mechanisms and their wrapper make for themselves.

It stands in for ``tf.layers.Dense``: the same variables (``kernel``, ``bias``) under the same
names.  Layers that a user gives only need to be callable and to have ``compute_output_shape``.
"""

from __future__ import annotations

from typing import Any

from penstock.base import shapes
from penstock.graph.convert import convert_to_tensor
from penstock.graph.tensor import Tensor
from penstock.ops import bias, contraction, matmul
from penstock.recurrent.layer import Layer
from penstock.variables import initializers


class Dense(Layer):
    """``activation(inputs @ kernel + bias)`` over the last dim.

    Args:
      units: size of the output's last dim.
      activation: function, or None.
      use_bias: whether to add a bias, zero at first.
      name: name of the variable scope.
      dtype: element type; default that of the first input.
      **kwargs: ``trainable``.

    Raises:
      ValueError: the last dim of the input is not known (when called).
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.units, self.use_bias, self.activation = int(units), use_bias, activation

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [input size, units] and ``bias`` [units]."""
        size = shapes.dimension_value(shapes.as_shape(input_shape)[-1])
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.kernel = self.add_weight("kernel", [size, self.units])
        self.bias = None
        if self.use_bias:
            zeros = initializers.zeros_initializer()
            self.bias = self.add_weight("bias", [self.units], initializer=zeros)
        self.built = True

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The product, for inputs of any rank from 2 on."""
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is not None and rank > 2:
            outputs = contraction.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.get_shape().as_list()[:-1], self.units])
        else:
            outputs = matmul.matmul(inputs, self.kernel)
        if self.bias is not None:
            outputs = bias.bias_add(outputs, self.bias)
        made: Tensor = outputs if self.activation is None else self.activation(outputs)
        return made

    def compute_output_shape(self, input_shape: Any) -> shapes.TensorShape:
        """The shape of the output for one of the input."""
        known = shapes.as_shape(input_shape).with_rank_at_least(2)
        return known[:-1].concatenate(self.units)


def is_layer(given: Any) -> bool:
    """Whether ``given`` can serve as a layer."""
    return callable(given) and hasattr(given, "compute_output_shape")
