"""``tf.layers``: pooling layers."""

from __future__ import annotations

from typing import Any

from penstock.library.keras.layers import pooling as keras
from penstock.library.layer_base import scoped


class MaxPooling1D(keras.MaxPooling1D, scoped.Layer):
    """The greatest value of each window of a sequence.

    Args:
      pool_size: size of a window; an int, or 1 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def max_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The greatest value of each window of a sequence.

    Args:
      inputs: [batch, steps, channels], or channels second.
      pool_size: size of a window; an int, or 1 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 3])
      ...     tf.layers.max_pooling1d(x, 2, 2).shape.as_list()
      [5, 3, 3]
    """
    layer = MaxPooling1D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


class AveragePooling1D(keras.AveragePooling1D, scoped.Layer):
    """The mean of each window of a sequence.

    Args:
      pool_size: size of a window; an int, or 1 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def average_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The mean of each window of a sequence.

    Args:
      inputs: [batch, steps, channels], or channels second.
      pool_size: size of a window; an int, or 1 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 3])
      ...     tf.layers.average_pooling1d(x, 2, 2).shape.as_list()
      [5, 3, 3]
    """
    layer = AveragePooling1D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)


class MaxPooling2D(keras.MaxPooling2D, scoped.Layer):
    """The greatest value of each window of an image.

    Args:
      pool_size: size of a window; an int, or 2 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def max_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The greatest value of each window of an image.

    Args:
      inputs: [batch, rows, columns, channels], or channels second.
      pool_size: size of a window; an int, or 2 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 6, 3])
      ...     tf.layers.max_pooling2d(x, 2, 2).shape.as_list()
      [5, 3, 3, 3]
    """
    layer = MaxPooling2D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


class AveragePooling2D(keras.AveragePooling2D, scoped.Layer):
    """The mean of each window of an image.

    Args:
      pool_size: size of a window; an int, or 2 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def average_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The mean of each window of an image.

    Args:
      inputs: [batch, rows, columns, channels], or channels second.
      pool_size: size of a window; an int, or 2 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 6, 3])
      ...     tf.layers.average_pooling2d(x, 2, 2).shape.as_list()
      [5, 3, 3, 3]
    """
    layer = AveragePooling2D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)


class MaxPooling3D(keras.MaxPooling3D, scoped.Layer):
    """The greatest value of each window of a volume.

    Args:
      pool_size: size of a window; an int, or 3 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def max_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The greatest value of each window of a volume.

    Args:
      inputs: [batch, depth, rows, columns, channels], or channels second.
      pool_size: size of a window; an int, or 3 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 6, 6, 3])
      ...     tf.layers.max_pooling3d(x, 2, 2).shape.as_list()
      [5, 3, 3, 3, 3]
    """
    layer = MaxPooling3D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


class AveragePooling3D(keras.AveragePooling3D, scoped.Layer):
    """The mean of each window of a volume.

    Args:
      pool_size: size of a window; an int, or 3 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or "channels_first".
      name: name of the layer.
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any, strides: Any, padding: str = "valid",
        data_format: str = "channels_last", name: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(
            pool_size=pool_size, strides=strides, padding=padding, data_format=data_format,
            name=name, **kwargs,
        )  # fmt: skip


def average_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Any:
    """The mean of each window of a volume.

    Args:
      inputs: [batch, depth, rows, columns, channels], or channels second.
      pool_size: size of a window; an int, or 3 of them.
      strides: distance of windows; likewise.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.

    Returns:
      A tensor of the same rank and channels.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.zeros([5, 6, 6, 6, 3])
      ...     tf.layers.average_pooling3d(x, 2, 2).shape.as_list()
      [5, 3, 3, 3, 3]
    """
    layer = AveragePooling3D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)
