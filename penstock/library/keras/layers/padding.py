"""Layers that pad, crop or enlarge along the spatial dims."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant, make
from penstock.library.keras.layers import windows
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import join, nodes, pad, split, transpose


def _pairs(value: Any, rank: int, name: str) -> tuple[tuple[int, int], ...]:
    """What is added or taken at both ends of each spatial dim."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if not hasattr(value, "__len__") or len(value) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Found: {value}")
    return tuple(windows.sizes(one, 2, f"{name} entry") for one in value)  # type: ignore[misc]


class _Bordered(Layer):
    """What padding and cropping share; subclasses say of what rank."""

    _rank = 2

    def __init__(self, data_format: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.data_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _changed(self, input_shape: Any, changes: Any) -> Any:
        dims: list[Any] = shapes.as_shape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for axis, change in enumerate(changes, start):
            dims[axis] = None if dims[axis] is None else dims[axis] + change
        return shapes.TensorShape(dims)


class ZeroPadding2D(_Bordered):
    """Zeros around each image.

    Args:
      padding: rows and columns: an int, two ints, or two pairs.
      data_format: "channels_last" or "channels_first".
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.ZeroPadding2D((1, 2))(tf.zeros([2, 4, 4, 3])).shape.as_list()
      [2, 6, 8, 3]
    """

    def __init__(self, padding: Any = (1, 1), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding: Any = _pairs(padding, self._rank, "padding")

    def _around(self) -> list[list[int]]:
        spatial = [list(pair) for pair in self.padding]
        nothing = [0, 0]
        if self.data_format == "channels_first":
            return [nothing, nothing, *spatial]
        return [nothing, *spatial, nothing]

    def call(self, inputs: Any) -> Any:
        """The padded input."""
        return pad.pad(inputs, self._around())

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        return self._changed(input_shape, [sum(pair) for pair in self.padding])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "padding": self.padding, "data_format": self.data_format,
        }  # fmt: skip


class ZeroPadding3D(ZeroPadding2D):
    """Zeros around each volume; arguments as of ``ZeroPadding2D``."""

    _rank = 3

    def __init__(self, padding: Any = (1, 1, 1), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


class ZeroPadding1D(ZeroPadding2D):
    """Zeros before and after each sequence.

    Args:
      padding: an int, or one for each end.
      **kwargs: as of a layer.
    """

    _rank = 1

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        pair = windows.sizes(padding, 2, "padding")
        super().__init__((pair,), "channels_last", **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config() | {"padding": self.padding[0]}
        del config["data_format"]
        return config


class Cropping2D(_Bordered):
    """Each image without its border.

    Args:
      cropping: rows and columns: an int, two ints, or two pairs.
      data_format: "channels_last" or "channels_first".
      **kwargs: as of a layer.
    """

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping: Any = _pairs(cropping, self._rank, "cropping")

    def call(self, inputs: Any) -> Any:
        """What is inside."""
        inner = tuple(slice(a, -b if b else None) for a, b in self.cropping)
        every = slice(None)
        first = self.data_format == "channels_first"
        return inputs[(every, every, *inner) if first else (every, *inner, every)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        return self._changed(input_shape, [-sum(pair) for pair in self.cropping])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "cropping": self.cropping, "data_format": self.data_format,
        }  # fmt: skip


class Cropping3D(Cropping2D):
    """Each volume without its border; arguments as of ``Cropping2D``."""

    _rank = 3

    def __init__(
        self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping1D(Cropping2D):
    """Each sequence without its ends.

    Args:
      cropping: an int, or one for each end.
      **kwargs: as of a layer.
    """

    _rank = 1

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        pair = windows.sizes(cropping, 2, "cropping")
        super().__init__((pair,), "channels_last", **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        config = super().get_config() | {"cropping": self.cropping[0]}
        del config["data_format"]
        return config


class UpSampling1D(Layer):
    """Each step of a sequence several times.

    Args:
      size: how often.
      **kwargs: as of a layer.
    """

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs: Any) -> Any:
        """The longer sequence."""
        return repeated(inputs, self.size, 1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        batch, steps, channels = shapes.as_shape(input_shape).as_list()
        return shapes.TensorShape([batch, None if steps is None else steps * self.size, channels])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"size": self.size}


def repeated(x: Any, times: int, axis: int) -> Any:
    """Each slice along an axis several times in a row."""
    known = x.shape.as_list()[axis]
    if known is None:
        raise ValueError(f"the size of axis {axis} must be known; the shape is {x.shape}")
    parts = split.split(value=x, num_or_size_splits=known, axis=axis)
    return join.concat([part for part in parts for _ in range(times)], axis)


class UpSampling2D(Layer):
    """Each image enlarged.

    Args:
      size: factors of rows and columns; an int for both.
      data_format: "channels_last" or "channels_first".
      interpolation: "nearest" or "bilinear".
      **kwargs: as of a layer.

    Raises:
      ValueError: another interpolation.
    """

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: Any = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.data_format(data_format)
        self.size = windows.sizes(size, 2, "size")
        if interpolation not in _RESIZERS:
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs: Any) -> Any:
        """The enlarged image."""
        shape = self.compute_output_shape(inputs.shape)
        first = self.data_format == "channels_first"
        start = 2 if first else 1
        old = nodes.shape(inputs)[start : start + 2]
        size = old * constant(np.array(self.size, np.int32))
        if first:
            inputs = transpose.transpose(inputs, [0, 2, 3, 1])
        with scopes.name_scope("resize"):
            made = make(
                _RESIZERS[self.interpolation], inputs, size, half_pixel_centers=True,
                align_corners=False,
            )  # fmt: skip
        if first:
            made = transpose.transpose(made, [0, 3, 1, 2])
        made.set_shape(shape)
        return made

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        return _enlarged(input_shape, self.size, self.data_format)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "size": self.size, "data_format": self.data_format,
            "interpolation": self.interpolation,
        }  # fmt: skip


def _enlarged(input_shape: Any, factors: Any, data_format: str) -> shapes.TensorShape:
    dims: list[Any] = shapes.as_shape(input_shape).as_list()
    start = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate(factors, start):
        dims[axis] = None if dims[axis] is None else dims[axis] * factor
    return shapes.TensorShape(dims)


_RESIZERS = {"nearest": "ResizeNearestNeighbor", "bilinear": "ResizeBilinear"}


class UpSampling3D(Layer):
    """Each volume enlarged by repeating its slices.

    Args:
      size: factors of the three dims; an int for all.
      data_format: "channels_last" or "channels_first".
      **kwargs: as of a layer.
    """

    def __init__(self, size: Any = (2, 2, 2), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.data_format(data_format)
        self.size = windows.sizes(size, 3, "size")
        self.input_spec = InputSpec(ndim=5)

    def call(self, inputs: Any) -> Any:
        """The enlarged volume."""
        start = 2 if self.data_format == "channels_first" else 1
        for axis, factor in enumerate(self.size, start):
            inputs = repeated(inputs, factor, axis)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        return _enlarged(input_shape, self.size, self.data_format)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"size": self.size, "data_format": self.data_format}
