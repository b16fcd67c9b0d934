"""``Dense``, and what it shares with convolutions: the arguments of weights."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.library.layer_base import (
    activations,
    constraints,
    initializers,
    regularizers,
    settings,
)
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast
from penstock.ops.linalg import contraction
from penstock.ops.nn import bias as biases
from penstock.ops.sparse import sparse_functions

_READERS = {
    "initializer": initializers, "regularizer": regularizers, "constraint": constraints,
}  # fmt: skip


def set_weight_arguments(layer: Any, weights: tuple[str, ...], given: dict[str, Any]) -> None:
    """Sets ``kernel_initializer`` and the like of a layer, each given by name or as it is."""
    for weight in weights:
        for what, family in _READERS.items():
            name = f"{weight}_{what}"
            if name in given:
                setattr(layer, name, family.get(given[name]))


def weight_config(layer: Any, weights: tuple[str, ...]) -> dict[str, Any]:
    """The arguments that ``set_weight_arguments`` has set, as configurations."""
    names = [
        (f"{weight}_{what}", family) for what, family in _READERS.items() for weight in weights
    ]
    return {
        name: family.serialize(getattr(layer, name)) for name, family in names
        if hasattr(layer, name)
    }  # fmt: skip


class Dense(Layer):
    """``activation(inputs @ kernel + bias)`` over the last dim.

    Args:
      units: size of the output's last dim.
      activation: function or its name; None is none.
      use_bias: whether to add a bias.
      kernel_initializer, bias_initializer: of the weights.
      kernel_regularizer, bias_regularizer: functions of the weights whose results are losses.
      activity_regularizer: likewise of the output.
      kernel_constraint, bias_constraint: applied to the weights after each update.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.Dense(3, activation="relu")
      ...     layer(tf.ones([2, 4])).name, [v.name for v in layer.weights]
      ('dense/Relu:0', ['dense/kernel:0', 'dense/bias:0'])
    """

    kernel_initializer: Any
    kernel_regularizer: Any
    kernel_constraint: Any
    bias_initializer: Any
    bias_regularizer: Any
    bias_constraint: Any

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs and "input_dim" in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.units = units if isinstance(units, int) else int(units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        set_weight_arguments(self, ("kernel", "bias"), {
            "kernel_initializer": kernel_initializer, "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer, "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint, "bias_constraint": bias_constraint,
        })  # fmt: skip
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` [input size, units] and ``bias`` [units]."""
        kind = dtypes.as_dtype(self.dtype or settings.floatx())
        if not (kind.is_floating or kind.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {kind}")
        size = dimension.dimension_value(shapes.as_shape(input_shape)[-1])
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight(
            "kernel", shape=[size, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
            dtype=self.dtype, trainable=True,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint,
                dtype=self.dtype, trainable=True,
            )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product, for inputs of any rank from 2 on."""
        rank = inputs.shape.ndims
        if rank > 2:
            outputs = contraction.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        elif isinstance(inputs, SparseTensor):
            outputs = sparse_functions.sparse_tensor_dense_matmul(inputs, self.kernel)
        else:
            if self.dtype is not None:  # a wrapper may have built the layer
                inputs = cast.cast(inputs, dtypes.as_dtype(self.dtype))
            outputs = make("MatMul", inputs, self.kernel)
        if self.bias is not None:
            outputs = biases.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        known = shapes.as_shape(input_shape).with_rank_at_least(2)
        if dimension.dimension_value(known[-1]) is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {known}"
            )
        return known[:-1].concatenate(self.units)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            **weight_config(self, ("kernel", "bias")),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }
