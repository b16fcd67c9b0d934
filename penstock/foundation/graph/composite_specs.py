"""The specs of values made of several tensors: ``SparseTensorSpec`` and ``IndexedSlicesSpec``."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.composite import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)  # fmt: skip
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
)  # fmt: skip


def _are_arrays(components: Sequence[Any]) -> bool:
    return all(isinstance(part, np.ndarray) for part in components)


class BatchableTypeSpec(TypeSpec):
    """The spec of values of which a dataset makes batches."""

    __slots__ = ()

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of a batch; ``batch_size`` is None where it is open."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The spec of the elements of a batch."""


class SparseTensorSpec(TypeSpec):
    """Shape and dtype of a sparse tensor.

    Args:
      shape: its dense shape.
      dtype: element type.

    >>> tf.SparseTensorSpec([2, None], tf.int32)
    SparseTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32)
    """

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a SparseTensor or SparseTensorValue.

        Raises:
          TypeError: the value is none.
        """
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError(f"Expected SparseTensor or SparseTensorValue, got {value!r}")
        sparse = SparseTensor.from_value(value)
        return cls(sparse.shape, sparse.dtype)

    @property
    def shape(self) -> shapes.TensorShape:
        """The dense shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._dtype

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]  # fmt: skip

    def _to_components(self, value: Any) -> Any:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if _are_arrays(components):
            return SparseTensorValue(*components)
        made = SparseTensor(*components)
        made.dense_shape.set_shape([self._shape.ndims])
        return made

    def flat(self) -> list[tuple[dtypes.DType, shapes.TensorShape]]:
        return [(dtypes.variant, shapes.from_static(None))]

    def to_flat(self, value: Any) -> list[Tensor]:
        return [self._pack("SerializeSparse", value)]

    def to_slices(self, value: Any) -> list[Tensor]:
        return [self._pack("SerializeManySparse", value)]

    @staticmethod
    def _pack(op_type: str, value: Any) -> Tensor:
        parts = (value.indices, value.values, value.dense_shape)
        return make_tensor(op_type, *parts, out_type=dtypes.variant)

    def from_flat(self, tensors: Sequence[Any]) -> Any:
        indices, values, dense_shape = make("DeserializeSparse", tensors[0], dtype=self._dtype)
        rank = self._shape.ndims
        indices.set_shape([None, rank])
        dense_shape.set_shape([rank])
        made = SparseTensor.__new__(SparseTensor)
        made._indices, made._values, made._dense_shape = indices, values, dense_shape
        return made

    def with_shape(self, shape: Any) -> Any:
        return type(self)(shape, self._dtype)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"


class IndexedSlicesSpec(TypeSpec):
    """Shapes and dtypes of rows of a larger tensor.

    Args:
      shape: of the larger tensor.
      dtype: of the rows.
      indices_dtype: of their positions, int32 or int64.
      dense_shape_dtype: of the larger tensor's shape; None where the value does not say it.
      indices_shape: of the positions.

    >>> rows = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 4]))
    >>> tf.IndexedSlicesSpec([None, 3], indices_dtype=tf.int32).is_compatible_with(rows)
    True
    """

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_dtype", "_indices_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape, self._values_dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = shapes.as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape, self._values_dtype, self._indices_dtype, self._dense_dtype,
            self._indices_shape,
        )  # fmt: skip

    @property
    def _component_specs(self) -> Any:
        made = [
            TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_dtype is not None:
            made.append(TensorSpec([self._shape.ndims], self._dense_dtype))
        return tuple(made)

    def _to_components(self, value: Any) -> Any:
        parts = value.values, value.indices
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        if _are_arrays(components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


def _of_sparse(value: Any) -> SparseTensorSpec:
    return SparseTensorSpec.from_value(value)


def _of_rows(value: Any) -> IndexedSlicesSpec:
    rows = value.indices.shape.merge_with(value.values.shape[:1])
    dense = shapes.TensorShape([None]).concatenate(value.values.shape[1:])
    dtype = None
    if value.dense_shape is not None:
        dtype = value.dense_shape.dtype
        dense = dense.merge_with(value.shape)
    return IndexedSlicesSpec(dense, value.dtype, value.indices.dtype, dtype, rows)


register_type_spec_from_value_converter(SparseTensor, _of_sparse)
register_type_spec_from_value_converter(SparseTensorValue, _of_sparse)
register_type_spec_from_value_converter(IndexedSlices, _of_rows)
