"""Fully connected layers, biases alone, and the layers of TF 0.x that they come from."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import initializers as contrib_initializers, plumbing
from penstock.contrib.layers.model_variables import add_to_collections, renaming
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import collecting
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.layers.basic import Dense
from penstock.library.variables import initializers
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.join import stack
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.split import unstack
from penstock.ops.linalg.matmul import matmul
from penstock.ops.nn.activation import elu as elu_of, relu as relu_of, relu6 as relu6_of
from penstock.ops.nn.bias import bias_add as bias_added

_XAVIER = contrib_initializers.xavier_initializer()
_ZEROS = initializers.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu_of,
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
    """``activation_fn(inputs @ weights + biases)`` over the last dim.

    Args:
      inputs: floating, of rank 2 or more; the last dim is known.
      num_outputs: size of the output's last dim.
      activation_fn: applied to the result; None for none.
      normalizer_fn: applied in place of biases, such as ``batch_norm``.
      normalizer_params: its arguments.
      weights_initializer, biases_initializer: of the variables; no initializer of the biases: none.
      weights_regularizer, biases_regularizer: functions of variables whose results are losses.
      reuse: whether the variables exist already.
      variables_collections: collections of all variables, or a dictionary from their names.
      outputs_collections: collections of the output.
      trainable: whether the variables are trained.
      scope: variable scope; default "fully_connected".

    Returns:
      ``inputs`` with ``num_outputs`` as its last dim.

    Raises:
      ValueError: ``num_outputs`` is no integer of Python's, rank below 2, or an open last dim.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     y = tf.contrib.layers.fully_connected(tf.ones([2, 4]), 3)
      ...     y.name, [v.name for v in tf.contrib.framework.get_model_variables()]
      ('fully_connected/Relu:0', ['fully_connected/weights:0', 'fully_connected/biases:0'])
    """
    if not isinstance(num_outputs, int):
        raise ValueError(
            f"num_outputs type should be one of [<class 'int'>], got {type(num_outputs)}."
        )
    getter = renaming(bias="biases", kernel="weights")
    with variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dense(
            units=num_outputs, activation=None,
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
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return plumbing.collect_named_outputs(outputs_collections, sc.name, outputs)


relu = functools.partial(fully_connected, activation_fn=relu_of)
relu6 = functools.partial(fully_connected, activation_fn=relu6_of)
elu = functools.partial(fully_connected, activation_fn=elu_of)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """``inputs`` and a bias for each channel.

    Args:
      inputs: floating, of rank 2 or more; "NCHW" only of rank 4.
      activation_fn: applied to the result; None for none.
      initializer: of the biases.
      regularizer: function of the biases whose result is a loss.
      reuse: whether the variable exists already.
      variables_collections: collections of the biases, or a dictionary that has "biases".
      outputs_collections: collections of the output.
      trainable: whether the biases are trained.
      data_format: "NHWC" or "NCHW".
      scope: variable scope; default "BiasAdd".

    Returns:
      A tensor like ``inputs``.

    Raises:
      ValueError: another format or rank, or open channels.
    """
    _check_format(data_format)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        kind = inputs.dtype.base_dtype
        sizes = inputs.get_shape()
        if data_format == "NCHW" and sizes.ndims != 4:
            raise ValueError(f"Data format NCHW only supports 4D Tensor; found rank {sizes.ndims}")
        axis = 1 if data_format == "NCHW" else -1
        channels = dimension_value(sizes.dims[axis]) if sizes.ndims is not None else None
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        collections = plumbing.get_variable_collections(variables_collections, "biases")
        biases = model_variable(
            "biases", shape=[channels], dtype=kind, initializer=initializer,
            regularizer=regularizer, collections=collections, trainable=trainable,
        )  # fmt: skip
        outputs = bias_added(inputs, biases, data_format=data_format)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return plumbing.collect_named_outputs(outputs_collections, sc.name, outputs)


def _check_format(data_format: Any) -> None:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC; found {data_format!r}")


# ---- layers of TF 0.x ----------------------------------------------------------------------------


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Any = None,
    weight_init: Any = _XAVIER,
    bias_init: Any = _ZEROS,
    name: Any = None,
    weight_collections: Sequence[str] = (GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] = (GraphKeys.BIASES,),
    output_collections: Sequence[str] = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """``activation_fn(x @ weights + bias)``, with plain variables, as in TF 0.x.

    Args:
      x: floating, of rank 2 or more; the last dim is known.
      num_output_units: size of the output's last dim.
      activation_fn: applied to the result; None for none.
      weight_init, bias_init: initializers; without ``bias_init`` there is no bias.
      name: variable scope; default "fully_connected".
      weight_collections, bias_collections, output_collections: where they are added;
        the output is among the activations anyway.
      trainable: whether the variables are trained.
      weight_regularizer, bias_regularizer: functions of variables whose results are losses.

    Returns:
      ``x`` with ``num_output_units`` as its last dim.

    Raises:
      ValueError: rank below 2, or an open last dim.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        dims = x.get_shape().dims
        if dims is None:
            raise ValueError("dims of x must be known but is None")
        if len(dims) < 2:
            raise ValueError(f"rank of x must be at least 2 not: {len(dims)}")
        count = dimension_value(dims[-1])
        if count is None:
            raise ValueError("last dimension of x must be known but is None")
        kind = x.dtype.base_dtype
        weights = get_variable(
            "weights", shape=[count, num_output_units], dtype=kind, initializer=weight_init,
            collections=[*weight_collections, GraphKeys.GLOBAL_VARIABLES],
            regularizer=weight_regularizer, trainable=trainable,
        )  # fmt: skip
        rows = x if len(dims) <= 2 else reshape(x, [-1, count])
        y = matmul(rows, weights)
        if bias_init is not None:
            bias = get_variable(
                "bias", shape=[num_output_units], dtype=kind, initializer=bias_init,
                collections=[*bias_collections, GraphKeys.GLOBAL_VARIABLES],
                regularizer=bias_regularizer, trainable=trainable,
            )  # fmt: skip
            y = bias_added(y, bias)
        if len(dims) > 2:
            sizes = unstack(shape_of(x))
            sizes[-1] = num_output_units
            y = reshape(y, stack(sizes))
            y.set_shape([*x.get_shape().as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        collecting.add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], y)
        return y


legacy_linear = legacy_fully_connected
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu_of)
