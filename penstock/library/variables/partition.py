"""Partitioned variables: one variable held as slices along one axis, and who says how many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import register_tensor_conversion_function
from penstock.foundation.graph.tensor import Tensor

Partitioner = Callable[..., list[int]]


class PartitionInfo:
    """Where a part lies in the whole; given to initializers that ask for ``partition_info``.

    Args:
      full_shape: shape of the whole variable.
      var_offset: where the part begins.
    """

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        if len(full_shape) != len(var_offset):
            raise ValueError(
                f"full_shape {list(full_shape)} and var_offset {list(var_offset)} have different"
                " lengths"
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if offset < 0 or offset >= size:
                raise ValueError(f"offset {list(var_offset)} is outside shape {list(full_shape)}")
        self._full_shape, self._var_offset = list(full_shape), list(var_offset)

    @property
    def full_shape(self) -> list[int]:
        """Shape of the whole variable."""
        return self._full_shape

    @property
    def var_offset(self) -> list[int]:
        """Where the part begins."""
        return self._var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset along the one axis that is partitioned, for a part of ``shape``."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The one axis that is partitioned, or None.

        Raises:
          ValueError: the part does not fit, or more than one axis is partitioned.
        """
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"a part of shape {list(shape)} is not of the rank of {self._full_shape}"
            )
        for offset, size, full in zip(self._var_offset, shape, self._full_shape, strict=True):
            if offset + size > full:
                raise ValueError(
                    f"a part of shape {list(shape)} at {self._var_offset} does not fit"
                    f" {self._full_shape}"
                )
        axes = [i for i, full in enumerate(self._full_shape) if shape[i] != full]
        if len(axes) > 1:
            raise ValueError(f"partitioned along more than one axis: {axes}")
        return axes[0] if axes else None


class PartitionedVariable:
    """A variable held in slices along one axis; converts to the tensor of the whole.

    Args:
      name: name of the whole.
      shape: shape of the whole.
      dtype: element type.
      variable_list: the slices, in order.
      partitions: how many parts each axis is cut into.
    """

    _is_dense_tensor_like = True

    def __init__(
        self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Any],
        partitions: Sequence[int],
    ) -> None:  # fmt: skip
        if not variable_list:
            raise ValueError(f"partitioned variable {name!r} has no parts")
        if math.prod(partitions) != len(variable_list):
            raise ValueError(
                f"partitions {list(partitions)} do not make {len(variable_list)} part(s)"
            )
        self._name = name
        self._shape = shapes.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._variable_list = list(variable_list)
        self._partitions = list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"the variable is partitioned along several axes: {axes}")
        return len(self._variable_list)

    def _partition_axes(self) -> list[int]:
        if all(p == 1 for p in self._partitions):
            return [0]
        return [i for i, p in enumerate(self._partitions) if p > 1]

    @property
    def name(self) -> str:
        """Name of the whole."""
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        """Element type."""
        return self._dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """Shape of the whole."""
        return self._shape

    def get_shape(self) -> shapes.TensorShape:
        """Shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _concat(self) -> Tensor:
        whole: Tensor
        if len(self._variable_list) == 1:
            with scopes.name_scope(None):
                whole = make("Identity", self._variable_list[0], name=self._name)
            return whole
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"the variable is partitioned along several axes: {axes}")
        with scopes.name_scope(f"{self._name}/ConcatPartitions/"):
            joined = make("ConcatV2", self._variable_list, axes[0], name="concat")
        with scopes.name_scope(None):
            whole = make("Identity", joined, name=self._name)
        return whole

    def as_tensor(self) -> Tensor:
        """The whole, joined."""
        with scopes.get_default_graph().control_dependencies(None):
            return self._concat()

    def _apply(self, method: str, value: Any, read_value: bool) -> list[Any]:
        parts = self._variable_list
        if isinstance(value, list | PartitionedVariable):
            pieces = list(value)
        elif len(parts) == 1:
            pieces = [value]
        else:
            axis = self._partition_axes()[0]
            sizes = [v.get_shape().as_list()[axis] for v in parts]
            pieces = list(make("SplitV", value, sizes, axis, name="split", num_split=len(sizes)))
        updates = [getattr(v, method)(p) for v, p in zip(parts, pieces, strict=True)]
        return updates if read_value else [u.op for u in updates]

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:  # fmt: skip
        """Sets the parts from the whole (or from a list of parts); a list of the updates."""
        return self._apply("assign", value, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:  # fmt: skip
        """Adds to the parts; a list of the updates."""
        return self._apply("assign_add", value, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:  # fmt: skip
        """Subtracts from the parts; a list of the updates."""
        return self._apply("assign_sub", value, read_value)


def _convert(
    value: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype is not value.dtype.base_dtype:
        raise ValueError(
            f"partitioned variable {value.name!r} is of type {value.dtype.name}; a tensor of type"
            f" {dtypes.as_dtype(dtype).name} was asked for"
        )
    if as_ref:
        raise NotImplementedError(f"partitioned variable {value.name!r} has no single reference")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _convert, 90)


# ---- partitioners --------------------------------------------------------------------------------


def call_partitioner(partitioner: Any, shape: shapes.TensorShape, dtype: Any) -> list[int]:
    """The number of parts of each axis, checked.

    Raises:
      ValueError: the shape is not known, or the answer does not fit it.
    """
    if not shape.is_fully_defined():
        raise ValueError(
            "Shape of a new partitioned variable must be fully defined, but instead was"
            f" {shape}; it must be fully known"
        )
    if shape.ndims is None or shape.ndims < 1:
        raise ValueError(f"a partitioned variable must have rank at least 1; its shape is {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, Sequence):
        raise ValueError(f"a partitioner must return a sequence; it returned {parts!r}")
    if len(parts) != shape.ndims:
        raise ValueError(f"the partitioner returned {list(parts)} for a variable of shape {shape}")
    if any(p < 1 for p in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {list(parts)}")
    if sum(p > 1 for p in parts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning:"
            f" {list(parts)}"
        )
    return list(parts)


def axis_and_count(parts: Sequence[int]) -> tuple[int, int]:
    """The axis that is partitioned and the number of parts."""
    for axis, count in enumerate(parts):
        if count > 1:
            return axis, count
    return 0, 1


def iter_slices(
    full_shape: Sequence[int], count: int, axis: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first parts are one longer where it does not divide."""
    offset = [0] * len(full_shape)
    least, excess = divmod(full_shape[axis], count)
    for index in range(count):
        shape = list(full_shape)
        shape[axis] = least + (index < excess)
        yield list(offset), shape
        offset[axis] += shape[axis]


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner that cuts ``axis`` into ``num_shards`` parts (at most its size).

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     v = tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(2))
      ...     [p.shape.as_list() for p in v]
      [[3, 2], [2, 2]]
    """

    def partitioner(shape: Any, **_: Any) -> list[int]:
        dims = _checked_dims(shapes.as_shape(shape), axis)
        parts = [1] * len(dims)
        parts[axis] = min(num_shards, dims[axis])
        return parts

    return partitioner


def _element_size(dtype: Any, bytes_per_string_element: int) -> int:
    base = dtypes.as_dtype(dtype).base_dtype
    return bytes_per_string_element if base is dtypes.string else int(base.size)


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """A partitioner that keeps every part below ``max_shard_bytes`` where one row allows.

    Args:
      max_shard_bytes: the most bytes of a part.
      axis: the axis to cut.
      bytes_per_string_element: what a string counts for.
      max_shards: the most parts.

    Raises:
      ValueError: an argument is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("max_shard_bytes and bytes_per_string_element must be positive")
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"max_shards must be positive; found {max_shards}")

    def partitioner(shape: Any, dtype: Any, **_: Any) -> list[int]:
        dims = _checked_dims(shape, axis)
        row_bytes = math.prod(dims) / dims[axis] * _element_size(dtype, bytes_per_string_element)
        rows = max(1, math.floor(max_shard_bytes / row_bytes))
        count = math.ceil(dims[axis] / rows)
        parts = [1] * len(dims)
        parts[axis] = min(max_shards, count) if max_shards else count
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """A partitioner that makes as many parts as ``min_slice_size`` bytes each allow.

    Args:
      max_partitions: the most parts.
      axis: the axis to cut.
      min_slice_size: the fewest bytes of a part.
      bytes_per_string_element: what a string counts for.
    """

    def partitioner(shape: Any, dtype: Any, **_: Any) -> list[int]:
        dims = _checked_dims(shape, axis)
        total = math.prod(dims) * _element_size(dtype, bytes_per_string_element)
        parts = [1] * len(dims)
        parts[axis] = max(1, min(dims[axis], max_partitions, math.ceil(total / min_slice_size)))
        return parts

    return partitioner


def _checked_dims(shape: Any, axis: int) -> list[int]:
    if not isinstance(shape, shapes.TensorShape):
        raise ValueError(f"shape must be a TensorShape; found {type(shape).__name__}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape must be fully known; found {shape}")
    dims = shape.as_list()
    if axis >= len(dims):
        raise ValueError(f"axis {axis} is beyond shape {dims}")
    return [int(d) for d in dims if d is not None]
