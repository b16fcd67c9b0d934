"""Separable convolutions: one of each channel, then one of all channels at each place."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import initializers as contrib_initializers, plumbing
from penstock.contrib.layers.convolutions import finished
from penstock.contrib.layers.model_variables import add_to_collections, renaming
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layers.separable import SeparableConv2D
from penstock.library.nn.dilation import depthwise_conv2d
from penstock.library.variables import initializers
from penstock.library.variables.scoping import variable_scope
from penstock.ops.nn.activation import relu
from penstock.ops.nn.bias import bias_add

_XAVIER = contrib_initializers.xavier_initializer()
_ZEROS = initializers.zeros_initializer()


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel by itself, then one that mixes channels.

    Args:
      inputs: [batch, height, width, channels], or [batch, channels, height, width].
      num_outputs: channels of the output; None leaves the second convolution out.
      kernel_size: [height, width] of the kernel, or one for both.
      depth_multiplier: channels that the first convolution makes of each.
      stride: steps, or one for both; not above 1 with a ``rate`` above 1.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      rate: steps between what the kernel reads, or one for both.
      activation_fn: applied to the result; None for none.
      normalizer_fn: applied in place of biases, such as ``batch_norm``.
      normalizer_params: its arguments.
      weights_initializer: of both kernels.
      pointwise_initializer: of the second one, in place of that.
      weights_regularizer, biases_regularizer: functions of variables whose results are losses.
      biases_initializer: of the biases; None: there are none.
      reuse: whether the variables exist already.
      variables_collections: collections of all variables, or a dictionary from their names.
      outputs_collections: collections of the output.
      trainable: whether the variables are trained.
      scope: variable scope; default "SeparableConv2d".

    Returns:
      A tensor of rank 4.

    Raises:
      ValueError: another format.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC.; found {data_format!r}")
    getter = renaming(
        bias="biases", depthwise_kernel="depthwise_weights", pointwise_kernel="pointwise_weights"
    )
    biased = not normalizer_fn and bool(biases_initializer)
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is not None:
            layer = SeparableConv2D(
                filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
                data_format="channels_first" if data_format == "NCHW" else "channels_last",
                dilation_rate=plumbing.two_element_tuple(rate), activation=None,
                depth_multiplier=depth_multiplier, use_bias=biased,
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
                activity_regularizer=None, trainable=trainable, name=sc.name,
                dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
            )  # fmt: skip
            outputs = layer.apply(inputs)
            add_to_collections(layer.depthwise_kernel, variables_collections, "weights")
            add_to_collections(layer.pointwise_kernel, variables_collections, "weights")
            add_to_collections(layer.bias, variables_collections, "biases")
            if normalizer_fn is not None:
                outputs = normalizer_fn(outputs, **(normalizer_params or {}))
            return finished(outputs, activation_fn, outputs_collections, sc)
        kind = inputs.dtype.base_dtype
        height, width = plumbing.two_element_tuple(kernel_size)
        down, right = plumbing.two_element_tuple(stride)
        channels = plumbing.channel_dimension(inputs.get_shape(), data_format, min_rank=4)
        weights = model_variable(
            "depthwise_weights", shape=[height, width, channels, depth_multiplier], dtype=kind,
            initializer=weights_initializer, regularizer=weights_regularizer, trainable=trainable,
            collections=plumbing.get_variable_collections(variables_collections, "weights"),
        )  # fmt: skip
        strides = [1, 1, down, right] if data_format == "NCHW" else [1, down, right, 1]
        outputs = depthwise_conv2d(
            inputs, weights, strides, padding, rate=plumbing.two_element_tuple(rate),
            data_format=data_format,
        )  # fmt: skip
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        elif biased:
            biases = model_variable(
                "biases", shape=[depth_multiplier * channels], dtype=kind,
                initializer=biases_initializer, regularizer=biases_regularizer,
                trainable=trainable,
                collections=plumbing.get_variable_collections(variables_collections, "biases"),
            )  # fmt: skip
            outputs = bias_add(outputs, biases, data_format=data_format)
        return finished(outputs, activation_fn, outputs_collections, sc)


separable_conv2d = separable_convolution2d
