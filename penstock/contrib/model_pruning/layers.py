"""Convolutions and dense layers whose weights are under masks."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.layers.convolutions import finished
from penstock.contrib.layers.initializers import xavier_initializer
from penstock.contrib.layers.model_variables import add_to_collections, renaming
from penstock.contrib.model_pruning.masks import MASKED_WEIGHT_NAME, collect
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layer_base.scoped import Layer
from penstock.library.nn.dilation import convolution as convolve
from penstock.library.ragged_tensors.dispatched import multiply
from penstock.library.variables.initializers import ones_initializer, zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.linalg.matmul import matmul
from penstock.ops.nn.activation import relu
from penstock.ops.nn.bias import bias_add

_XAVIER, _ZEROS = xavier_initializer(), zeros_initializer()


class _Masked(Layer):
    """A layer of a kernel under a mask, and a bias."""

    def __init__(self, inputs: Any, scope: Any, reuse: Any, how: dict[str, Any]) -> None:
        super().__init__(
            trainable=how["trainable"], name=scope.name, dtype=inputs.dtype.base_dtype,
            _scope=scope, _reuse=reuse,
        )  # fmt: skip
        self._how = how
        self.bias: Any = None

    def _mask(self, shape: list[int]) -> Any:
        return self.add_variable("mask", shape, initializer=ones_initializer(), trainable=False)

    def _weights(self, shape: list[int]) -> Any:
        return self.add_variable(
            "kernel", shape, initializer=self._how["weights_initializer"],
            regularizer=self._how["weights_regularizer"], trainable=True,
        )  # fmt: skip

    def _make(self, shape: list[int], mask_first: bool) -> None:
        """Makes the variables; the order is that of TensorFlow's layers."""
        mask = self._mask(shape) if mask_first else None
        self.kernel = self._weights(shape)
        self.mask = self._mask(shape) if mask is None else mask
        self.threshold = self.add_variable(
            "threshold", [], initializer=zeros_initializer(), trainable=False
        )
        self._masked = multiply(self.mask, self.kernel, MASKED_WEIGHT_NAME)
        collect(self.mask, self.threshold, self._masked, self.kernel)
        if self._how["use_bias"]:
            self.bias = self.add_variable(
                "bias", [shape[-1]], initializer=self._how["biases_initializer"],
                regularizer=self._how["biases_regularizer"], trainable=True,
            )  # fmt: skip
        self.built = True


class _MaskedConvolution(_Masked):
    def build(self, input_shape: Any) -> None:
        """Makes mask, kernel, threshold and bias."""
        channels = dimension_value(input_shape[-1])
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. Found `None`."
            )  # fmt: skip
        self._make([*self._how["kernel_size"], channels, self._how["num_outputs"]], True)

    def call(self, inputs: Any) -> Any:
        """The convolution with the masked kernel."""
        outputs = convolve(
            inputs, self._masked, padding=self._how["padding"].upper(),
            strides=self._how["stride"], dilation_rate=self._how["rate"],
        )  # fmt: skip
        return outputs if self.bias is None else bias_add(outputs, self.bias)


class _MaskedDense(_Masked):
    def build(self, input_shape: Any) -> None:
        """Makes kernel, mask, threshold and bias."""
        depth = dimension_value(input_shape[-1])
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self._make([depth, self._how["num_outputs"]], False)

    def call(self, inputs: Any) -> Any:
        """The product with the masked kernel."""
        outputs = matmul(inputs, self._masked)
        return outputs if self.bias is None else bias_add(outputs, self.bias)


def _two(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


@add_arg_scope
def masked_convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """As ``tf.contrib.layers.conv2d``, with the weights under a mask.

    Args:
      inputs: [batch, height, width, channels].
      num_outputs .. scope: as there; ``data_format`` is "NHWC" or None.

    Returns:
      A tensor [batch, height, width, num_outputs].

    Raises:
      ValueError: another format, a rank other than 4, or strides with a rate.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     y = tf.contrib.model_pruning.masked_conv2d(tf.ones([1, 8, 8, 3]), 4, 3, scope="c")
      ...     y.shape.as_list(), [v.name for v in tf.trainable_variables()]
      ([1, 8, 8, 4], ['c/weights:0', 'c/biases:0'])
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    if data_format and data_format.startswith("NC"):
        raise ValueError(f"data_format {data_format} is not supported: channels must be last")
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank != 4:
            raise ValueError(f"Masked Convolution not supported for input with rank {rank}")
        how = {
            "num_outputs": num_outputs, "kernel_size": _two(kernel_size), "stride": _two(stride),
            "rate": _two(rate), "padding": padding, "weights_initializer": weights_initializer,
            "weights_regularizer": weights_regularizer, "biases_initializer": biases_initializer,
            "biases_regularizer": biases_regularizer, "trainable": trainable,
            "use_bias": not normalizer_fn and bool(biases_initializer),
        }  # fmt: skip
        layer = _MaskedConvolution(inputs, sc, reuse, how)
        return _outputs(
            layer, inputs, normalizer_fn, normalizer_params, activation_fn,
            variables_collections, outputs_collections, sc,
        )  # fmt: skip


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """As ``tf.contrib.layers.fully_connected``, with the weights under a mask.

    Args:
      inputs: [batch, size].
      num_outputs .. scope: as there.

    Returns:
      A tensor [batch, num_outputs].

    Raises:
      ValueError: ``num_outputs`` is no integer of Python's.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        how = {
            "num_outputs": num_outputs, "weights_initializer": weights_initializer,
            "weights_regularizer": weights_regularizer, "biases_initializer": biases_initializer,
            "biases_regularizer": biases_regularizer, "trainable": trainable,
            "use_bias": not normalizer_fn and bool(biases_initializer),
        }  # fmt: skip
        layer = _MaskedDense(inputs, sc, reuse, how)
        return _outputs(
            layer, inputs, normalizer_fn, normalizer_params, activation_fn,
            variables_collections, outputs_collections, sc,
        )  # fmt: skip


def _outputs(
    layer: _Masked, inputs: Any, normalizer_fn: Any, normalizer_params: Any, activation_fn: Any,
    variables_collections: Any, outputs_collections: Any, scope: Any,
) -> Any:  # fmt: skip
    outputs = layer.apply(inputs)
    add_to_collections(layer.kernel, variables_collections, "weights")
    add_to_collections(layer.bias, variables_collections, "biases")
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return finished(outputs, activation_fn, outputs_collections, scope)
