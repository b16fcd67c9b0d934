"""``tf.RaggedTensor``: rows of different lengths.

A ragged tensor is its flat values and, for each ragged dim, the splits of its rows.  What takes
several ragged dims works on the outermost and hands the values, which are ragged themselves, on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TypeSpec, type_spec_from_value
from penstock.library.ragged_tensors import conversion, splits as rows
from penstock.library.ragged_tensors.factories import Factories, as_tensor
from penstock.library.ragged_tensors.value import RaggedTensorValue
from penstock.ops.array import cast, fill, gather as gather_ops, join, shape as shape_ops
from penstock.ops.math import binary, reductions

_MISMATCH = (
    "Input RaggedTensors have mismatched row_splits dtypes; use"
    " RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)


class RaggedTensor(Factories):
    """A tensor with one or more dims whose rows differ in length.

    The factories (``from_row_splits`` and its kin), ``tf.ragged.constant`` and other functions make
    it.  It takes Python's operators and slices, is fetched as a ``RaggedTensorValue`` and fed by
    one.

    Raises:
      ValueError: the constructor is called: use a factory.

    >>> rt = tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 3, 3, 5])
    >>> with tf.Session() as session:
    ...     session.run(rt * 2).to_list(), session.run(tf.reduce_sum(rt, axis=1)).tolist()
    ([[6, 2, 8], [], [2, 10]], [8, 0, 6])
    """

    # NumPy's operators leave the work to the methods here.
    __array_priority__ = 100

    def __init__(
        self,
        values: Any,
        row_splits: Any,
        cached_row_lengths: Any = None,
        cached_value_rowids: Any = None,
        cached_nrows: Any = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead"
                " (e.g., RaggedTensor.from_row_lengths())"
            )
        if row_splits.dtype not in rows.SPLIT_TYPES:
            raise ValueError(f"Row-splits dtype must be int32 or int64; found {row_splits.dtype}")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not row_splits.dtype:
            raise ValueError(_MISMATCH)
        self._values, self._row_splits = values, row_splits
        self._lengths, self._row_ids = cached_row_lengths, cached_value_rowids
        self._count = cached_nrows

    # ---- parts -------------------------------------------------------------------------------

    @property
    def dtype(self) -> dtypes.DType:
        """Element type."""
        dtype: dtypes.DType = self._values.dtype
        return dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """Static shape; ragged dims are unknown."""
        size = self._row_splits.sizes[0] if self._row_splits.sizes else None
        outer = shapes.TensorShape([None if size is None else size - 1, None])
        return outer.concatenate(self._values.shape[1:])

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dims."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """The rows one after another: a tensor, or a ragged tensor of one dim less."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where the rows start and end, [rows + 1]."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The tensor below all ragged dims."""
        inner: Any = self._values
        while isinstance(inner, RaggedTensor):
            inner = inner._values
        made: Tensor = inner
        return made

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged dims, the outermost first."""
        inner = self._values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return self._row_splits, *below

    def value_rowids(self, name: str | None = None) -> Any:
        """The row of each value."""
        if self._row_ids is None:
            with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
                count = dimension_value(self._values.shape[0])
                self._row_ids = rows.row_ids(self._row_splits, count)
        return self._row_ids

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row numbers of all ragged dims, the outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", list(self.nested_row_splits)):
            inner = self._values
            below = inner.nested_value_rowids() if isinstance(inner, RaggedTensor) else ()
            return self.value_rowids(), *below

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            if self._count is None:
                self._count = rows.count(self._row_splits)
            made: Tensor = cast.cast(self._count, dtype)
            return made

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row starts."""
        with name_scope(name, "RaggedRowStarts", [self._row_splits]):
            return rows.starts(self._row_splits)

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self._row_splits]):
            return rows.limits(self._row_splits)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of rows: along ``axis`` 1 a vector, below it a ragged tensor of them."""
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            axis = positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                if self._lengths is None:
                    self._lengths = rows.lengths(self._row_splits)
                return self._lengths
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            size = shape_ops.shape(self._values, out_type=self._row_splits.dtype)
            ones = fill.ones(size[: axis - 1], self._row_splits.dtype)
            return self.with_values(ones * size[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row lengths of all ragged dims, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", list(self.nested_row_splits)):
            return tuple([rows.lengths(splits) for splits in self.nested_row_splits])

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest tensor that holds every row: for ragged dims the longest.

        Args:
          axis: one or several axes of which the size is wanted; by default all.
          out_type: int32 or int64; by default that of the splits.
        """
        own = self._row_splits.dtype
        dtype = own if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self._row_splits, axis]):
            sizes = [rows.count(self._row_splits)]
            for splits in self.nested_row_splits:
                longest = reductions.reduce_max(rows.lengths(splits))
                sizes.append(clip_below(longest))
            inner = shape_ops.shape(self.flat_values, out_type=own)[1:]
            made: Any = cast.cast(join.concat([join.stack(sizes), inner], 0), dtype)
            picked: Tensor = made
            if isinstance(axis, int):
                picked = made[positive_axis(axis, self.shape.ndims)]
            elif axis is not None:
                picked = gather_ops.gather(made, axis)
            return picked

    # ---- others of the same form -------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values, as many as before."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        splits = self._row_splits
        if isinstance(new_values, RaggedTensor) and new_values.row_splits.dtype is not splits.dtype:
            new_values = new_values.with_row_splits_dtype(dtypes.int64)
            return self.with_row_splits_dtype(dtypes.int64).with_values(new_values)
        return RaggedTensor(
            new_values, splits, self._lengths, self._row_ids, self._count, internal=True
        )

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same ragged dims over other flat values, as many as before."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with splits of another type, int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in rows.SPLIT_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype is dtype:
            return self
        inner = self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        return RaggedTensor(inner, cast.cast(self._row_splits, dtype), internal=True)

    # ---- in other forms ----------------------------------------------------------------------

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A tensor whose rows are padded to the longest with ``default_value`` (zero, empty)."""
        return conversion.to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        """A SparseTensor of the same elements."""
        return conversion.to_sparse(self, name)

    def to_list(self) -> list[Any]:
        """Raises ValueError: values are known when a session has run."""
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the"
            " RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    @property
    def _type_spec(self) -> TypeSpec:
        return type_spec_from_value(self)

    def consumers(self) -> list[Any]:
        """Operations that take any of the parts."""
        parts = (self.flat_values, *self.nested_row_splits)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    if TYPE_CHECKING:
        # ``operators`` puts it on the class.
        def __getitem__(self, key: Any) -> Any: ...

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"


def from_nested(flat_values: Any, nested_row_splits: Sequence[Any]) -> Any:
    """The values under ragged dims, with splits that are right."""
    return conversion.nested_in(RaggedTensor, flat_values, nested_row_splits)


def is_ragged(value: Any) -> bool:
    """Whether it is a ragged tensor or the value of one."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def convert(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor, or a RaggedTensor from one or from a RaggedTensorValue."""
    return as_tensor(RaggedTensor, value, dtype, name)


def match_splits(*values: Any) -> list[Any]:
    """The same values, of which the ragged ones must have splits of one type.

    Raises:
      ValueError: they have not.
    """
    found = {v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(_MISMATCH)
    return list(values)


def positive_axis(axis: int, rank: int | None) -> int:
    """An axis counted from the front.

    Raises:
      TypeError, ValueError: it is no int, or out of bounds, or negative where the rank is unknown.
    """
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is not None:
        if -rank <= axis < rank:
            return int(axis) % rank
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    if axis < 0:
        raise ValueError("axis may only be negative if ndims is statically known.")
    return int(axis)


def clip_below(number: Tensor) -> Tensor:
    """What is negative becomes 0, as the maximum of no lengths is."""
    made: Tensor = binary.maximum(number, cast.cast(0, number.dtype))
    return made
