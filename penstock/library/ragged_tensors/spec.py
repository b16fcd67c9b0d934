"""``tf.RaggedTensorSpec``: what is known of a ragged tensor before it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
)  # fmt: skip
from penstock.library.ragged_tensors.tensor import RaggedTensor, from_nested
from penstock.library.ragged_tensors.value import RaggedTensorValue


class RaggedTensorSpec(TypeSpec):
    """Shape, element type and ragged dims of a ragged tensor.

    Args:
      shape: the shape, None for ragged dims.
      dtype: element type.
      ragged_rank: how many dims are ragged; by default all but the first.
      row_splits_dtype: int32 or int64.

    Raises:
      ValueError: ``ragged_rank`` is not less than the rank, or neither is known.

    >>> tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(
    ...     tf.ragged.constant([[1, 2], [3]])
    ... )
    True
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape, self._dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank must be an int; found {ragged_rank!r}")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"ragged_rank must be less than rank. {ragged_rank} is not less than {rank}"
            )
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a RaggedTensor or RaggedTensorValue."""
        if isinstance(value, RaggedTensorValue):
            dtype, splits = dtypes.as_dtype(value.dtype), dtypes.as_dtype(value.row_splits.dtype)
            return cls(value.shape, dtype, value.ragged_rank, splits)
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape, with None for ragged dims."""
        return self._shape

    @property
    def value_type(self) -> Any:
        """The class of its values."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> Any:
        rank, splits = self._ragged_rank, self._row_splits_dtype
        if not rank:
            return [TensorSpec(self._shape, self._dtype)]
        inner = self._shape[rank + 1 :]
        flat = shapes.TensorShape([None]).concatenate(inner)
        size = None if self._shape.ndims is None else dimension_value(self._shape[0])
        outer = TensorSpec([None if size is None else size + 1], splits)
        below = [TensorSpec([None], splits)] * (rank - 1)
        return [TensorSpec(flat, self._dtype), outer, *below]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, RaggedTensor | RaggedTensorValue):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Any) -> Any:
        flat, *splits = components
        if all(isinstance(part, np.ndarray) for part in components):
            for one in reversed(splits):
                flat = RaggedTensorValue(flat, one)
            return flat
        return from_nested(flat, splits)

    # ---- in datasets: a row, or a batch, is one variant

    def flat(self) -> list[tuple[dtypes.DType, shapes.TensorShape]]:
        return [(dtypes.variant, shapes.from_static(None))]

    def to_flat(self, value: Any) -> list[Tensor]:
        return [self._packed(value, False)]

    def to_slices(self, value: Any) -> list[Tensor]:
        return [self._packed(value, True)]

    @staticmethod
    def _packed(value: Any, batched: bool) -> Tensor:
        return make_tensor(
            "RaggedTensorToVariant", list(value.nested_row_splits), value.flat_values,
            batched_input=batched,
        )  # fmt: skip

    def from_flat(self, tensors: Sequence[Any]) -> Any:
        rank = self._ragged_rank
        if not rank:
            # A row of a tensor of one ragged dim.
            flat = self._unpacked(tensors[0], 0)[1]
            flat.set_shape(self._shape)
            return flat
        nested, flat = self._unpacked(tensors[0], rank)
        flat.set_shape(self._component_specs[0].shape)
        return from_nested(flat, list(nested))

    def _unpacked(self, variant: Tensor, rank: int) -> Any:
        return make(
            "RaggedTensorFromVariant", variant, input_ragged_rank=-1, output_ragged_rank=rank,
            Tvalues=self._dtype, Tsplits=self._row_splits_dtype,
        )  # fmt: skip

    def with_shape(self, shape: Any) -> Any:
        shape = shapes.as_shape(shape)
        change = 0
        if shape.ndims is not None and self._shape.ndims is not None:
            change = shape.ndims - self._shape.ndims
        return type(self)(shape, self._dtype, self._ragged_rank + change, self._row_splits_dtype)

    def __repr__(self) -> str:
        parts = f"{self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._row_splits_dtype!r}"
        return f"RaggedTensorSpec({parts})"


register_type_spec_from_value_converter(RaggedTensor, RaggedTensorSpec.from_value)
register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)
