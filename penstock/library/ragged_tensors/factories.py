"""The factories of ``tf.RaggedTensor``: from splits, lengths, row numbers, starts and limits.

Each checks as the step runs that its argument partitions the values, unless it is told not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.composite import CompositeTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.library.ragged_tensors import conversion, splits as rows
from penstock.library.ragged_tensors.value import RaggedTensorValue
from penstock.ops.array import cast, fill, join, shape as shape_ops
from penstock.ops.control import check, control
from penstock.ops.math import reduction


class Factories(CompositeTensor):
    """What makes ragged tensors; ``RaggedTensor`` is the class that they make."""

    row_splits: Any

    def __init__(self, values: Any, row_splits: Any, **more: Any) -> None:
        raise NotImplementedError

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows ``values[row_splits[i]:row_splits[i + 1]]``.

        Args:
          values: tensor of rank 1 or more, or a RaggedTensor.
          row_splits: int32 or int64 vector that starts with 0, does not decrease, and ends with
            the number of values.
          validate: whether the step checks the splits.

        Raises:
          ValueError: ``row_splits`` is empty, or no vector.
        """
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, splits = _converted(cls, values, row_splits, "row_splits")
            splits.shape.assert_has_rank(1)
            if splits.sizes and splits.sizes[0] == 0:
                raise ValueError("row_splits tensor may not be empty.")
            if validate:
                splits = _checked(
                    splits, rows.form_one("from_row_splits", splits, _outer_size(values, splits))
                )
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of given lengths; the arguments are as for ``from_row_splits``."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, lengths = _converted(cls, values, row_lengths, "row_lengths")
            lengths.shape.assert_has_rank(1)
            if validate:
                message = _invalid("from_row_lengths")
                total = reduction.reduce_sum(lengths)
                lengths = _checked(lengths, [
                    check.assert_non_negative(lengths, message=message),
                    check.assert_equal(total, _outer_size(values, lengths), message=message),
                ])  # fmt: skip
            splits = rows.of_lengths(lengths)
            return cls(values, splits, cached_row_lengths=lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that start at given positions; the arguments are as for ``from_row_splits``."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, starts = _converted(cls, values, row_starts, "row_starts")
            starts.shape.assert_has_rank(1)
            count = _outer_size(values, starts)
            if validate:
                message = _invalid("from_row_starts")
                zero = cast.cast(0, starts.dtype)
                starts = _checked(starts, [
                    check.assert_equal(starts[:1], zero, message=message),
                    check.assert_non_negative(starts[1:] - starts[:-1], message=message),
                    check.assert_less_equal(starts[-1:], count, message=message),
                ])  # fmt: skip
            return cls(values, join.concat([starts, [count]], 0), internal=True)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that end at given positions; the arguments are as for ``from_row_splits``."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, limits = _converted(cls, values, row_limits, "row_limits")
            limits.shape.assert_has_rank(1)
            zero = fill.zeros([1], limits.dtype)
            if validate:
                message = _invalid("from_row_limits")
                count = _outer_size(values, limits)
                limits = _checked(limits, [
                    check.assert_non_negative(limits[:1], message=message),
                    check.assert_non_negative(limits[1:] - limits[:-1], message=message),
                    check.assert_equal(limits[-1:], count, message=message),
                ])  # fmt: skip
            return cls(values, join.concat([zero, limits], 0), internal=True)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of the values whose row numbers are given.

        Args:
          values: tensor of rank 1 or more, or a RaggedTensor.
          value_rowids: int32 or int64 vector, the row of each value, which does not decrease.
          nrows: the number of rows; by default one more than the last row number.
          validate: whether the step checks the row numbers.

        Raises:
          ValueError: ``nrows`` is negative or too small.
        """
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, ids = _converted(cls, values, value_rowids, "value_rowids")
            ids.shape.assert_has_rank(1)
            values.shape[:1].assert_is_compatible_with(ids.shape)
            count = _row_count(ids, nrows)
            if validate:
                message = _invalid("from_value_rowids")
                size = shape_ops.shape(ids, out_type=ids.dtype)[0]
                ids = _checked(ids, [
                    check.assert_equal(size, _outer_size(values, ids), message=message),
                    check.assert_non_negative(ids[:1], message=message),
                    check.assert_non_negative(ids[1:] - ids[:-1], message=message),
                    check.assert_less(ids[-1:], count, message=message),
                ])  # fmt: skip
            splits = rows.of_row_ids(ids, count, ids.dtype)
            known = _known(count)
            splits.set_shape([None if known is None else known + 1])
            return cls(values, splits, cached_value_rowids=ids, cached_nrows=count, internal=True)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """The values under several ragged dims, of which the first splits are the outermost."""
        if isinstance(nested_row_splits, Tensor):
            raise TypeError("nested_row_splits must be a list of tensors")
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            made = flat_values
            for splits in reversed(list(nested_row_splits)):
                made = cls.from_row_splits(made, splits, validate=validate)
            return made

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """The values under several ragged dims, of which the first lengths are the outermost."""
        if isinstance(nested_row_lengths, Tensor):
            raise TypeError("nested_row_lengths must be a list of tensors")
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            made = flat_values
            for lengths in reversed(list(nested_row_lengths)):
                made = cls.from_row_lengths(made, lengths, validate=validate)
            return made

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """The values under several ragged dims, of which the first row numbers are outermost."""
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError("nested_value_rowids must be a list of tensors")
        if isinstance(nested_nrows, Tensor):
            raise TypeError("nested_nrows must be a list of tensors")
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            made = flat_values
            for ids, count in zip(reversed(list(nested_value_rowids)), reversed(counts)):
                made = cls.from_value_rowids(made, ids, count, validate=validate)
            return made

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> Any:
        """A tensor as a ragged one, its rows cut to given lengths or before their padding.

        Args:
          tensor: of a rank greater than ``ragged_rank``.
          lengths: vector of the lengths of rows, or a list of one for each ragged dim.
          padding: the value that is dropped from the end of rows.
          ragged_rank: the number of ragged dims.
          row_splits_dtype: int32 or int64.

        Raises:
          ValueError: both ``lengths`` and ``padding`` are given.
        """
        return conversion.from_tensor(
            cls, tensor, lengths, padding, ragged_rank, name, dtypes.as_dtype(row_splits_dtype)
        )

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> Any:
        """A 2-D SparseTensor without holes in its rows as a ragged tensor.

        Raises:
          TypeError, ValueError: it is no SparseTensor of rank 2.
        """
        return conversion.from_sparse(cls, st_input, name, dtypes.as_dtype(row_splits_dtype))


def as_tensor(cls: Any, value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor, or one of ``cls``, RaggedTensor, from such or from a RaggedTensorValue."""
    if isinstance(value, Factories):
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor"):
            made = convert_to_tensor(value.flat_values, dtype)
            for splits in reversed(value.nested_row_splits):
                made = cls(made, constant(splits), internal=True)
            return made
    return convert_to_tensor(value, dtype, name)


def _invalid(factory: str) -> str:
    return f"Arguments to {factory} do not form a valid RaggedTensor"


def _known(count: Any) -> int | None:
    value = static.constant_value(count) if isinstance(count, Tensor) else count
    return None if value is None else int(value)


def _row_count(ids: Tensor, count: Any) -> Tensor:
    if count is None:
        last: Any = join.concat([fill.zeros([1], ids.dtype), ids[-1:] + 1], 0)[-1]
        made: Tensor = last
        return made
    count = convert_to_tensor(count, ids.dtype, name="nrows")
    known, known_ids = _known(count), _known_vector(ids)
    if known is not None and known < 0:
        raise ValueError(f"Expected nrows >= 0; got {known}")
    if known is not None and known_ids is not None and len(known_ids):
        if known_ids[-1] >= known:
            raise ValueError(
                f"Expected nrows >= value_rowids[-1] + 1; got nrows={known},"
                f" value_rowids[-1]={known_ids[-1]}"
            )
    count.shape.assert_has_rank(0)
    made = count
    return made


def _known_vector(tensor: Tensor) -> Any:
    return static.constant_value(tensor)


def _outer_size(values: Any, like: Tensor) -> Tensor:
    if isinstance(values, Factories):
        made: Tensor = cast.cast(rows.count(values.row_splits), like.dtype)
        return made
    return shape_ops.shape(values, out_type=like.dtype)[0]


def _converted(cls: Any, values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Values, and the splits, lengths or row numbers, int64 unless they say int32 themselves."""
    values = as_tensor(cls, values, name="values")
    preferred = dtypes.int64
    if isinstance(values, Factories):
        preferred = values.row_splits.dtype
    if isinstance(partition, Tensor | np.ndarray | np.generic):
        found = convert_to_tensor(partition, name=name)
        if isinstance(partition, np.ndarray) and found.dtype not in rows.SPLIT_TYPES:
            if found.dtype.is_integer:
                found = cast.cast(found, preferred)
    else:
        found = _listed(partition, preferred, name)
    if found.dtype not in rows.SPLIT_TYPES:
        raise ValueError(f"{name} must have dtype int32 or int64")
    if isinstance(values, Factories) and found.dtype is not values.row_splits.dtype:
        if isinstance(partition, Tensor):
            raise ValueError(
                f"dtype mismatch: {name} ({found.dtype!r}) vs values.row_splits"
                f" ({values.row_splits.dtype!r})"
            )
        found = cast.cast(found, values.row_splits.dtype)
    return values, found


def _listed(partition: Any, dtype: dtypes.DType, name: str) -> Tensor:
    try:
        return convert_to_tensor(partition, dtype, name)
    except (TypeError, ValueError):
        return convert_to_tensor(partition, name=name)  # of which the type is refused


def _checked(tensor: Tensor, assertions: Sequence[Any]) -> Tensor:
    with control_dependencies([one for one in assertions if one is not None]):
        made: Tensor = control.identity(tensor)
        return made
