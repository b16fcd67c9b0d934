"""Pooling of images and volumes."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.layers import plumbing
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layers import pooling as plain
from penstock.library.nn import dilation


def _pooled(
    layer: Any, default: str, formats: tuple[str, str], inputs: Any, kernel_size: Any, stride: Any,
    padding: str, data_format: str, outputs_collections: Any, scope: Any,
) -> Any:  # fmt: skip
    if data_format not in formats:
        raise ValueError(
            f"data_format has to be either {' or '.join(formats)}.; found {data_format!r}"
        )
    with scopes.name_scope(scope, default, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        first = data_format.startswith("NC")
        made = layer(
            pool_size=kernel_size, strides=stride, padding=padding,
            data_format="channels_first" if first else "channels_last", _scope=sc,
        )  # fmt: skip
        outputs = made.apply(inputs)
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The maximum of each window.

    Args:
      inputs: [batch, height, width, channels], or [batch, channels, height, width].
      kernel_size: [height, width] of the window, or one for both.
      stride: steps of the window, or one for both.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW".
      outputs_collections: collections of the output.
      scope: name scope; default "MaxPool2D".

    Returns:
      A tensor of rank 4.

    Raises:
      ValueError: another format.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.contrib.layers.max_pool2d(tf.ones([1, 8, 8, 3]), 2)
      <tf.Tensor 'MaxPool2D/MaxPool:0' shape=(1, 4, 4, 3) dtype=float32>
    """
    return _pooled(
        plain.MaxPooling2D, "MaxPool2D", ("NCHW", "NHWC"), inputs, kernel_size, stride, padding,
        data_format, outputs_collections, scope,
    )  # fmt: skip


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The mean of each window; arguments as ``max_pool2d``, scope "AvgPool2D".

    Args:
      inputs: [batch, height, width, channels].
      kernel_size: of the window: a number, or [height, width].
      stride: the distance of windows: a number, or [height, width].
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW".
      outputs_collections: where the result goes.
      scope: name of the scope.

    Returns:
      A tensor of the type of ``inputs``.

    Example:
      >>> import penstock as tf
      >>> with tf.Session() as session:
      ...     image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
      ...     session.run(tf.contrib.slim.avg_pool2d(image, [2, 2])).tolist()
      [[[[1.5]]]]
    """
    return _pooled(
        plain.AveragePooling2D, "AvgPool2D", ("NCHW", "NHWC"), inputs, kernel_size, stride,
        padding, data_format, outputs_collections, scope,
    )  # fmt: skip


@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The maximum of each window of volumes; arguments as ``max_pool2d``, scope "MaxPool3D"."""
    return _pooled(
        plain.MaxPooling3D, "MaxPool3D", ("NCDHW", "NDHWC"), inputs, kernel_size, stride, padding,
        data_format, outputs_collections, scope,
    )  # fmt: skip


@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The mean of each window of volumes; arguments as ``max_pool2d``, scope "AvgPool3D"."""
    return _pooled(
        plain.AveragePooling3D, "AvgPool3D", ("NCDHW", "NDHWC"), inputs, kernel_size, stride,
        padding, data_format, outputs_collections, scope,
    )  # fmt: skip


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Pooling over any number of dims, with steps inside the window.

    Args:
      inputs: [batch, *space, channels], or [batch, channels, *space].
      kernel_size: sizes of the window, or one for all.
      pooling_type: "AVG" or "MAX".
      padding: "VALID" or "SAME".
      data_format: one that begins with "NC", or another; default channels last.
      dilation_rate: steps between what the window reads, or one for all.
      stride: steps of the window, or one for all; not above 1 with a ``dilation_rate`` above 1.
      outputs_collections: collections of the output.
      scope: name scope; default the type in lower case and "_pool".

    Returns:
      A tensor of the rank of ``inputs``.

    Raises:
      ValueError: the rank is not known.
    """
    default = f"{pooling_type.lower()}_pool"
    with scopes.name_scope(scope, default, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError(f"Rank of inputs must be >= 3; found {rank}")
        space = rank - 2
        outputs = dilation.pool(
            input=inputs, window_shape=plumbing.n_positive_integers(space, kernel_size),
            pooling_type=pooling_type, padding=padding, data_format=data_format,
            dilation_rate=plumbing.n_positive_integers(space, dilation_rate),
            strides=plumbing.n_positive_integers(space, stride), name=sc,
        )  # fmt: skip
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)
