"""Pooling layers: of windows, and of whole images."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.library.keras.layers import windows
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.library.nn import pooling, volumes
from penstock.ops.array import reshape, squeeze, transpose
from penstock.ops.math import reduction, reductions

_OPS: dict[tuple[str, int], Any] = {
    ("max", 2): pooling.max_pool, ("avg", 2): pooling.avg_pool,
    ("max", 3): volumes.max_pool3d, ("avg", 3): volumes.avg_pool3d,
}  # fmt: skip


class _Pooling(Layer):
    """Pooling of windows; subclasses say of what rank and which kind.

    Args:
      pool_size: size of a window.
      strides: distance of windows; None: the size.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: name of the layer.
    """

    _rank = 2
    _kind = "max"

    def __init__(
        self, pool_size: Any, strides: Any, padding: str, data_format: Any, name: Any,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name=name, **kwargs)
        strides = pool_size if strides is None else strides
        self.pool_size = windows.sizes(pool_size, self._rank, "pool_size")
        self.strides = windows.sizes(strides, self._rank, "strides")
        self.padding = windows.padding(padding)
        self.data_format = windows.data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs: Any) -> Any:
        """One value a window and channel."""
        if self._rank == 1:
            return self._of_sequence(inputs)
        if self._rank == 3 and self.data_format == "channels_first":
            return self._of_volume(inputs)
        ksize, strides = (1, *self.pool_size, 1), (1, *self.strides, 1)
        if self.data_format == "channels_first":
            ksize, strides = (1, 1, *self.pool_size), (1, 1, *self.strides)
        form = windows.layout(self.data_format, self._rank)
        pool = _OPS[self._kind, self._rank]
        return pool(
            inputs, ksize=ksize, strides=strides, padding=self.padding.upper(), data_format=form
        )

    def _of_sequence(self, inputs: Any) -> Any:
        # A sequence is an image of width 1.
        axis = 2 if self.data_format == "channels_last" else 3
        made = reshape.expand_dims(inputs, axis)
        sizes = {"ksize": (*self.pool_size, 1), "strides": (*self.strides, 1)}
        first = self.data_format == "channels_first"
        around = {k: (1, 1, *v) if first else (1, *v, 1) for k, v in sizes.items()}
        form = windows.layout(self.data_format, 2)
        pool = _OPS[self._kind, 2]
        made = pool(made, padding=self.padding.upper(), data_format=form, **around)
        return squeeze.squeeze(made, axis)

    def _of_volume(self, inputs: Any) -> Any:
        # The processor's kernels of that time took channels last alone: so are the nodes.
        pool = _OPS[self._kind, 3]
        ksize, strides = (1, *self.pool_size, 1), (1, *self.strides, 1)
        inputs = transpose.transpose(inputs, (0, 2, 3, 4, 1))
        made = pool(inputs, ksize=ksize, strides=strides, padding=self.padding.upper())
        return transpose.transpose(made, (0, 4, 1, 2, 3))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        first = self.data_format == "channels_first"
        spatial, channels = (dims[2:], dims[1]) if first else (dims[1:-1], dims[-1])
        made = windows.output_lengths(spatial, self.pool_size, self.padding, self.strides)
        return windows.with_channels(self.data_format, dims[0], made, channels)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "pool_size": self.pool_size, "padding": self.padding, "strides": self.strides,
            "data_format": self.data_format,
        }  # fmt: skip


class MaxPooling1D(_Pooling):
    """The greatest value of each window of a sequence.

    Args:
      pool_size: size of a window.
      strides: distance of windows; None: the size.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, steps, channels]) or "channels_first".
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.MaxPooling1D()(tf.zeros([2, 6, 3])).shape.as_list()
      [2, 3, 3]
    """

    _rank = 1

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid",
        data_format: Any = "channels_last", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(pool_size, strides, padding, data_format, kwargs.pop("name", None),
                         **kwargs)  # fmt: skip


class AveragePooling1D(MaxPooling1D):
    """The mean of each window of a sequence; arguments as of ``MaxPooling1D``."""

    _kind = "avg"


class MaxPooling2D(_Pooling):
    """The greatest value of each window of an image.

    Args:
      pool_size: size of a window.
      strides: distance of windows; None: the size.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, rows, columns, channels]) or "channels_first".
      **kwargs: as of a layer.
    """

    def __init__(
        self, pool_size: Any = (2, 2), strides: Any = None, padding: str = "valid",
        data_format: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(pool_size, strides, padding, data_format, kwargs.pop("name", None),
                         **kwargs)  # fmt: skip


class AveragePooling2D(MaxPooling2D):
    """The mean of each window of an image; arguments as of ``MaxPooling2D``."""

    _kind = "avg"


class MaxPooling3D(_Pooling):
    """The greatest value of each window of a volume.

    Args:
      pool_size: size of a window.
      strides: distance of windows; None: the size.
      padding: "valid" or "same".
      data_format: "channels_last" ([batch, depth, rows, columns, channels]) or "channels_first".
      **kwargs: as of a layer.
    """

    _rank = 3

    def __init__(
        self, pool_size: Any = (2, 2, 2), strides: Any = None, padding: str = "valid",
        data_format: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(pool_size, strides, padding, data_format, kwargs.pop("name", None),
                         **kwargs)  # fmt: skip


class AveragePooling3D(MaxPooling3D):
    """The mean of each window of a volume; arguments as of ``MaxPooling3D``."""

    _kind = "avg"


class _GlobalPooling(Layer):
    """One value a channel of the whole input; subclasses say of what rank and which kind.

    Args:
      data_format: "channels_last" or "channels_first".
      **kwargs: as of a layer.
    """

    _rank = 2
    _reduce: Any = staticmethod(reductions.reduce_max)

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs: Any) -> Any:
        """[batch, channels]."""
        start = 2 if self.data_format == "channels_first" else 1
        axes = list(range(start, start + self._rank))
        return type(self)._reduce(inputs, axis=axes if self._rank > 1 else axes[0])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        dims = shapes.as_shape(input_shape).as_list()
        return shapes.TensorShape([dims[0], dims[1 if self.data_format != "channels_last" else -1]])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"data_format": self.data_format}


class GlobalMaxPooling1D(_GlobalPooling):
    """The greatest value of each channel of a sequence."""

    _rank = 1

    def __init__(self, data_format: Any = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)


class GlobalMaxPooling2D(_GlobalPooling):
    """The greatest value of each channel of an image."""


class GlobalMaxPooling3D(_GlobalPooling):
    """The greatest value of each channel of a volume."""

    _rank = 3


class GlobalAveragePooling1D(GlobalMaxPooling1D):
    """The mean of each channel of a sequence; steps that are masked do not count."""

    _reduce = staticmethod(reduction.reduce_mean)


class GlobalAveragePooling2D(GlobalMaxPooling2D):
    """The mean of each channel of an image."""

    _reduce = staticmethod(reduction.reduce_mean)


class GlobalAveragePooling3D(GlobalMaxPooling3D):
    """The mean of each channel of a volume."""

    _reduce = staticmethod(reduction.reduce_mean)
