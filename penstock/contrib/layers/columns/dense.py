"""Columns of numbers, and of the buckets that they fall into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.contrib.layers.columns.column import Column, Features, Lookup, of_rank
from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.library.variables.initializers import zeros_initializer
from penstock.ops.array.cast import cast
from penstock.ops.array.fill import zeros
from penstock.ops.array.join import stack
from penstock.ops.array.onehot import one_hot
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.tile import tile
from penstock.ops.array.transpose import transpose
from penstock.training.data.features import FixedLenFeature


class _Numbers(NamedTuple):
    column_name: str
    dimension: int
    default_value: Any
    dtype: dtypes.DType
    normalizer: Callable[[Any], Any] | None


class RealValuedColumn(Column, _Numbers):
    """Numbers; made by ``real_valued_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The feature's key."""
        return self.column_name

    @property
    def key(self) -> str:
        """What columns are sorted by: without the normalizer, whose text is another each time."""
        return (
            f"_RealValuedColumn(column_name={self.column_name}, dimension={self.dimension},"
            f" default_value={self.default_value}, dtype={self.dtype})"
        )

    @property
    def config(self) -> dict[str, Any]:
        """A dense feature."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.name: FixedLenFeature([self.dimension], self.dtype, default)}

    def transform(self, features: Features) -> Any:
        """The numbers, normalized."""
        tensor = features.get(self.name)
        return tensor if self.normalizer is None else self.normalizer(tensor)

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """The numbers as they are."""
        tensor = self.dense_tensor(tensor)
        return of_rank(tensor, self.name, output_rank)

    def dense_tensor(self, tensor: Any) -> Any:
        """The numbers, of float32."""
        return tensor if tensor.dtype == dtypes.float32 else cast(tensor, dtypes.float32)


class _Buckets(NamedTuple):
    source_column: RealValuedColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(Column, _Buckets):
    """The buckets that numbers fall into; made by ``bucketized_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The source's with its ending."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """How many buckets there are."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        """The source's."""
        return self.source_column.config

    def transform(self, features: Features) -> Any:
        """The bucket of each number."""
        numbers = features.get(self.source_column)
        return make("Bucketize", numbers, boundaries=list(self.boundaries), name="bucketize")

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """A number a bucket, one of them 1.

        Raises:
          ValueError: sequences are wanted.
        """
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        hot = one_hot(cast(tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return reshape(hot, [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, tensor: Any) -> SparseTensor:
        """The buckets as ids; those of each number of a row have their own."""
        count: Any = shape_of(tensor, name="shape")[0]
        many = self.source_column.dimension
        rows: Any
        places: Any
        if many > 1:
            each = expand_dims(range_(0, count), 1, name="expand_dims")
            rows = reshape(tile(each, [1, many], name="tile"), [-1], name="reshape")
            places = tile(range_(0, many), [count], name="tile")
            ids: Any = reshape(tensor, [-1], name="reshape") + self.length * places
        else:
            rows = range_(0, count)
            places = zeros([count], dtypes.int32, name="zeros")
            ids = reshape(tensor, [-1], name="reshape")
        indices = cast(transpose(stack((rows, places))), dtypes.int64)
        return SparseTensor(indices, ids, cast(stack([count, many]), dtypes.int64))

    def linear_lookup(self, tensor: Any) -> Lookup:
        """A weight a bucket."""
        size = self.length * self.source_column.dimension
        return Lookup(self.to_sparse_tensor(tensor), None, size, zeros_initializer(), "sum")


# ---- public functions ----------------------------------------------------------------------------


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer: Any = None,
) -> RealValuedColumn:
    """A column of numbers.

    Args:
      column_name: the feature's key.
      dimension: how many numbers an example has.
      default_value: what examples without the feature have: a number or one each.
      dtype: of the feature: floats or integers.
      normalizer: applied to the feature, or None.

    Raises:
      TypeError: ``dimension`` is no integer, or defaults are no numbers of the dtype.
      ValueError: ``dimension`` is below 1, another dtype, or too few defaults.

    Example:
      >>> import penstock as tf
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.contrib.layers.input_from_feature_columns(
      ...         {"age": tf.constant([[3.0], [4.0]])}, [age])).tolist()
      [[3.0], [4.0]]
    """
    if not isinstance(dimension, int):
        raise TypeError(
            f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}"
        )
    if dimension < 1:
        raise ValueError(
            f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}"
        )
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}"
        )
    default = _defaults(column_name, dimension, default_value, dtype)
    return RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _defaults(name: str, dimension: int, given: Any, dtype: Any) -> tuple[Any, ...] | None:
    if given is None:
        return None
    values = given if isinstance(given, list | tuple) else [given] * dimension
    if len(values) != dimension:
        raise ValueError(
            "The length of default_value must be equal to dimension."
            f" default_value: {given}, dimension: {dimension}, column_name: {name}"
        )
    allowed = int if dtype.is_integer else int | float
    if not all(isinstance(value, allowed) for value in values):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {given},"
            f" dtype: {dtype}, column_name: {name}"
        )
    return tuple(values if dtype.is_integer else map(float, values))


def bucketized_column(source_column: RealValuedColumn, boundaries: Any) -> BucketizedColumn:
    """A column of the buckets that numbers fall into.

    Args:
      source_column: a ``real_valued_column``.
      boundaries: where buckets begin, upwards.

    Raises:
      TypeError: ``source_column`` is another column.
      ValueError: no boundaries, or not upwards.
    """
    if not isinstance(source_column, RealValuedColumn):
        raise TypeError(
            "source_column must be an instance of _RealValuedColumn."
            f" source_column: {source_column}"
        )
    if not isinstance(boundaries, list | tuple) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return BucketizedColumn(source_column, tuple(sorted({float(b) for b in boundaries})))
