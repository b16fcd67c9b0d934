"""Columns of numbers: as they are, or by the buckets that they fall into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.ops.array import join, ranges, reshape, shape as shaping, tile, transpose
from penstock.ops.array.cast import cast
from penstock.ops.array.onehot import one_hot
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.training.data.features import FixedLenFeature, VarLenFeature
from penstock.training.feature_column.asked import (
    AskedCategoricalColumn,
    AskedDenseColumn,
    AskedSequenceDenseColumn,
)
from penstock.training.feature_column.column import (
    Features,
    IdWeightPair,
    MakeVariable,
    TensorSequenceLengthPair,
    check_key,
    checked_dims,
)
from penstock.training.feature_column.lengths import sequence_length


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: dtypes.DType
    normalizer_fn: Any


class NumericColumn(_Numeric, AskedDenseColumn):
    """A column of numbers; made by ``numeric_column``."""

    @property
    def parents(self) -> list[Any]:
        """The feature's key."""
        return [self.key]

    @property
    def name(self) -> str:
        """The feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A dense feature."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform(self, features: Features) -> Any:
        """The normalized feature as float32."""
        feature = features.get(self.key)
        if isinstance(feature, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is"
                f" not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            feature = self.normalizer_fn(feature)
        return cast(feature, dtypes.float32)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape that was given."""
        return TensorShape(self.shape)

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The numbers."""
        return features.get(self)


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: dtypes.DType = dtypes.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> NumericColumn:
    """A column of numbers.

    Args:
      key: the feature's key.
      shape: the shape of one example's feature.
      default_value: for examples that lack it: a number, or as many as ``shape`` has.
      dtype: of the feature; the column is float32.
      normalizer_fn: applied to the feature, for instance ``lambda x: (x - 3.0) / 4.2``.

    Raises:
      TypeError: a default that does not fit the dtype, a size that is no integer, or a
        ``normalizer_fn`` that cannot be called.
      ValueError: another dtype, a size below 1, or a default of another shape.

    Example:
      >>> import penstock as tf
      >>> price = tf.feature_column.numeric_column("price")
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.feature_column.input_layer({"price": [[1.0], [5.0]]}, [price]))
      array([[1.], [5.]], dtype=float32)
    """
    dims = checked_dims(shape, key)
    _check_number(dtype, key, normalizer_fn)
    check_key(key)
    default = _checked_default(default_value, dims, dtype, key)
    return NumericColumn(key, dims, default, dtype, normalizer_fn)


def _check_number(dtype: dtypes.DType, key: Any, normalizer_fn: Any) -> None:
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype!r}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn!r}")


def _checked_default(value: Any, dims: tuple[int, ...], dtype: dtypes.DType, key: str) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    kinds = (int, float) if dtype.is_floating else int
    if value is None:
        return None
    if isinstance(value, list | tuple):
        if not _has_dims(value, dims):
            raise ValueError(
                "The shape of default_value must be equal to given shape. default_value:"
                f" {value}, shape: {dims}, key: {key}"
            )
        if all(isinstance(each, kinds) for each in nest.flatten(value)):
            return _as_tuples(value)
    elif isinstance(value, kinds):
        return _repeated(value, dims)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {value!r}, dtype:"
        f" {dtype!r}, key: {key}"
    )


def _has_dims(value: Any, dims: tuple[int, ...]) -> bool:
    is_list = isinstance(value, list | tuple)
    if not dims or not is_list:
        return is_list == bool(dims)
    return len(value) == dims[0] and all(_has_dims(each, dims[1:]) for each in value)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def _repeated(value: Any, dims: tuple[int, ...]) -> Any:
    return tuple([_repeated(value, dims[1:])] * dims[0]) if dims else value


class _Bucketized(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(_Bucketized, AskedDenseColumn, AskedCategoricalColumn):
    """A column of buckets of numbers; made by ``bucketized_column``."""

    @property
    def parents(self) -> list[Any]:
        """The source."""
        return [self.source_column]

    @property
    def name(self) -> str:
        """The source's name and "_bucketized"."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The source's."""
        return self.source_column.parse_example_spec

    def transform(self, features: Features) -> Any:
        """The numbers of buckets."""
        return make("Bucketize", features.get(self.source_column), boundaries=self.boundaries)

    @property
    def variable_shape(self) -> TensorShape:
        """The source's shape, and one element for each bucket."""
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """One of the buckets' elements is 1, the others 0."""
        return one_hot(
            cast(features.get(self), dtypes.int64), depth=len(self.boundaries) + 1, on_value=1.0,
            off_value=0.0,
        )  # fmt: skip

    @property
    def num_buckets(self) -> int:
        """Buckets of all the source's elements."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """The buckets, counted on over the source's elements."""
        buckets = features.get(self)
        batch: Any = shaping.shape(buckets)[0]
        width = self.source_column.shape[0]
        every_row = reshape.expand_dims(ranges.range_(0, batch), 1)
        rows = reshape.reshape(tile.tile(every_row, [1, width]), (-1,))
        elements = tile.tile(ranges.range_(0, width), [batch])
        flat = reshape.reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * elements
        indices = cast(transpose.transpose(join.stack((rows, elements))), dtypes.int64)
        dims = cast(join.stack([batch, width]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, flat, dims), None)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> BucketizedColumn:
    """A column of the buckets that numbers fall into: below the first boundary, between two, above.

    Args:
      source_column: a ``numeric_column`` of one dim.
      boundaries: a sorted list; a boundary belongs to the bucket above it.

    Raises:
      ValueError: the source is another column, or the boundaries are not sorted.

    Example:
      >>> import penstock as tf
      >>> age = tf.feature_column.numeric_column("age")
      >>> decades = tf.feature_column.bucketized_column(age, [20, 30])
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.feature_column.input_layer({"age": [[19.0], [30.0]]}, [decades]))
      array([[1., 0., 0.], [0., 0., 1.]], dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). Given:"
            f" {source_column!r}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column!r}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    rises = isinstance(boundaries, list | tuple) and all(
        a < b for a, b in zip(boundaries, boundaries[1:])
    )
    if not rises:
        raise ValueError(f"boundaries must be a sorted list. Given: {boundaries!r}")
    return BucketizedColumn(source_column, tuple(boundaries))


class SequenceNumericColumn(_Numeric, AskedSequenceDenseColumn):
    """A column of sequences of numbers; made by ``sequence_numeric_column``."""

    @property
    def parents(self) -> list[Any]:
        """The feature's key."""
        return [self.key]

    @property
    def name(self) -> str:
        """The feature's key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A sparse feature."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step."""
        return TensorShape(self.shape)

    def transform(self, features: Features) -> Any:
        """The normalized feature."""
        feature = features.get(self.key)
        return feature if self.normalizer_fn is None else self.normalizer_fn(feature)

    def sequence_dense_tensor(
        self, features: Features, variables: MakeVariable
    ) -> TensorSequenceLengthPair:
        """The numbers, padded with the default value."""
        sparse = features.get(self)
        dense = sparse_tensor_to_dense(sparse, default_value=self.default_value)
        rows: Any = shaping.shape(dense)[:1]
        dense = reshape.reshape(dense, join.concat([rows, [-1], self.shape], axis=0))
        elements = self.variable_shape.num_elements() if sparse.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_length(sparse, elements or 1))


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: dtypes.DType = dtypes.float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> SequenceNumericColumn:
    """A column of sequences of numbers.

    Args:
      key: the feature's key.
      shape: the shape of one step's feature.
      default_value: what shorter sequences are padded with.
      dtype: of the feature.
      normalizer_fn: applied to the sparse feature.

    Raises:
      TypeError: a size that is no integer, or a ``normalizer_fn`` that cannot be called.
      ValueError: another dtype, or a size below 1.
    """
    dims = checked_dims(shape, key)
    _check_number(dtype, key, normalizer_fn)
    return SequenceNumericColumn(key, dims, default_value, dtype, normalizer_fn)
