"""Convolutions, their transposes, and one kernel for every channel."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import initializers as contrib_initializers, plumbing
from penstock.contrib.layers.model_variables import add_to_collections, renaming
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layers import convolution as plain, transposed
from penstock.library.nn.dilation import depthwise_conv2d
from penstock.library.variables import initializers
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.tile import tile
from penstock.ops.nn.activation import relu
from penstock.ops.nn.bias import bias_add

_XAVIER = contrib_initializers.xavier_initializer()
_ZEROS = initializers.zeros_initializer()
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_BY_RANK: dict[Any, Any] = {3: plain.Conv1D, 4: plain.Conv2D, 5: plain.Conv3D}


def finished(outputs: Any, activation_fn: Any, outputs_collections: Any, scope: Any) -> Any:
    """The output of a layer after its activation, in its collections."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return plumbing.collect_named_outputs(outputs_collections, scope.name, outputs)


@add_arg_scope
def convolution(
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
    conv_dims: int | None = None,
) -> Any:
    """``activation_fn(convolution(inputs, weights) + biases)`` over 1, 2 or 3 dims.

    Args:
      inputs: [batch, *space, channels], or [batch, channels, *space]; floating.
      num_outputs: channels of the output.
      kernel_size: sizes of the kernel, or one for all.
      stride: steps, or one for all; not above 1 with a ``rate`` above 1.
      padding: "SAME" or "VALID".
      data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW"; default channels last.
      rate: steps between what the kernel reads, or one for all.
      activation_fn: applied to the result; None for none.
      normalizer_fn: applied in place of biases, such as ``batch_norm``.
      normalizer_params: its arguments.
      weights_initializer, biases_initializer: of the variables; no initializer of the biases: none.
      weights_regularizer, biases_regularizer: functions of variables whose results are losses.
      reuse: whether the variables exist already.
      variables_collections: collections of all variables, or a dictionary from their names.
      outputs_collections: collections of the output.
      trainable: whether the variables are trained.
      scope: variable scope; default "Conv".
      conv_dims: how many dims of space there must be.

    Returns:
      A tensor of the rank of ``inputs``.

    Raises:
      ValueError: another format or rank.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.contrib.layers.conv2d(tf.ones([1, 8, 8, 3]), 4, 3, stride=2)
      <tf.Tensor 'Conv/Relu:0' shape=(1, 4, 4, 4) dtype=float32>
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}; allowed are {_FORMATS}")
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _BY_RANK:
            raise ValueError("Convolution not supported for input with rank", rank)
        layer = _BY_RANK[rank](
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=_keras_format(data_format), dilation_rate=rate, activation=None,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            activity_regularizer=None, trainable=trainable, name=sc.name,
            dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        add_to_collections(layer.bias, variables_collections, "biases")
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        return finished(outputs, activation_fn, outputs_collections, sc)


def _keras_format(data_format: str | None) -> str:
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


@add_arg_scope
def convolution1d(
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
    """``convolution`` over 1 dim; arguments as there."""
    return convolution(
        inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
        normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
        biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
        trainable, scope, conv_dims=1,
    )  # fmt: skip


@add_arg_scope
def convolution2d(
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
    """``convolution`` over 2 dims; arguments as there.

    Example:
      >>> import penstock as tf
      >>> net = tf.contrib.slim.conv2d(tf.zeros([8, 28, 28, 3]), 16, 3, stride=2, scope="conv1")
      >>> net.shape.as_list(), [v.name for v in tf.trainable_variables()]
      ([8, 14, 14, 16], ['conv1/weights:0', 'conv1/biases:0'])
    """
    return convolution(
        inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
        normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
        biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
        trainable, scope, conv_dims=2,
    )  # fmt: skip


@add_arg_scope
def convolution3d(
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
    """``convolution`` over 3 dims; arguments as there."""
    return convolution(
        inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
        normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
        biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
        trainable, scope, conv_dims=3,
    )  # fmt: skip


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
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
    """A convolution of each channel by itself, all by the same kernel; see ``convolution``.

    Args:
      inputs: [batch, height, width, channels].
      kernel_size: [height, width] of the kernel, or one for both.

    Returns:
      As many channels as ``inputs`` has.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        kind = inputs.dtype.base_dtype
        height, width = plumbing.two_element_tuple(kernel_size)
        down, right = plumbing.two_element_tuple(stride)
        channels = plumbing.last_dimension(inputs.get_shape(), min_rank=4)
        weights = model_variable(
            "weights", shape=[height, width, 1, 1], dtype=kind, initializer=weights_initializer,
            regularizer=weights_regularizer, trainable=trainable,
            collections=plumbing.get_variable_collections(variables_collections, "weights"),
        )  # fmt: skip
        kernel = tile(weights, [1, 1, channels, 1])
        outputs: Any = depthwise_conv2d(inputs, kernel, [1, down, right, 1], padding)
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        elif biases_initializer is not None:
            biases = model_variable(
                "biases", shape=[channels], dtype=kind, initializer=biases_initializer,
                regularizer=biases_regularizer, trainable=trainable,
                collections=plumbing.get_variable_collections(variables_collections, "biases"),
            )  # fmt: skip
            outputs = bias_add(outputs, biases)
        return finished(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """The transpose (gradient) of a convolution over 2 dims; arguments as ``convolution``.

    Args:
      data_format: "NHWC" or "NCHW".

    Returns:
      A tensor of the rank of ``inputs``, with ``num_outputs`` channels.

    Raises:
      ValueError: another format.
    """
    _check_format(data_format, "NCHW", "NHWC")
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(
        scope, "Conv2d_transpose", [inputs], reuse=reuse, custom_getter=getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = transposed.Conv2DTranspose(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=_keras_format(data_format), activation=None,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            activity_regularizer=None, trainable=trainable, name=sc.name,
            dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        add_to_collections(layer.bias, variables_collections, "biases")
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        return finished(outputs, activation_fn, outputs_collections, sc)


@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
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
    """The transpose (gradient) of a convolution over 3 dims; arguments as ``convolution``.

    Args:
      data_format: "NDHWC" or "NCDHW".

    Returns:
      A tensor of the rank of ``inputs``, with ``num_outputs`` channels.

    Raises:
      ValueError: another format.
    """
    _check_format(data_format, "NCDHW", "NDHWC")
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(
        scope, "Conv3d_transpose", [inputs], reuse=reuse, custom_getter=getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = transposed.Conv3DTranspose(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=_keras_format(data_format), activation=None,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer,
            activity_regularizer=None, trainable=trainable, name=sc.name,
            dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse,
        )  # fmt: skip
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        add_to_collections(layer.bias, variables_collections, "biases")
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        return finished(outputs, activation_fn, outputs_collections, sc)


def _check_format(data_format: str, *allowed: str) -> None:
    if data_format not in allowed:
        raise ValueError(
            f"data_format has to be either {' or '.join(allowed)}.; found {data_format!r}"
        )


conv1d = convolution1d
conv2d = convolution2d
conv3d = convolution3d
conv2d_in_plane = convolution2d_in_plane
conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose
