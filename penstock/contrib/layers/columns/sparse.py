"""Columns of categories: ids by hash, by vocabulary, as they are, and with weights."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.contrib.layers.columns.column import Column, Features, Lookup, of_rank
from penstock.contrib.layers.embeddings import without_value
from penstock.foundation.base import dtypes
from penstock.foundation.graph.composite import SparseTensor
from penstock.library.variables.initializers import zeros_initializer
from penstock.ops.array.cast import cast
from penstock.ops.math.remainder import floormod
from penstock.ops.strings.string_hash import string_to_hash_bucket_fast
from penstock.ops.strings.string_text import as_string
from penstock.training.data.features import VarLenFeature
from penstock.training.data.lookup_vocabulary import index_table_from_file, index_table_from_tensor


class _Vocabulary(NamedTuple):
    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self._asdict().items())
        return f"_SparseIdLookupConfig({shown})"


class _Fields(NamedTuple):
    column_name: str
    is_integerized: bool
    bucket_size: int | None
    lookup_config: _Vocabulary | None
    combiner: str
    dtype: dtypes.DType


class SparseColumn(Column, _Fields):
    """What columns of categories share."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The feature's key."""
        return self.column_name

    @property
    def length(self) -> int:
        """How many ids there are."""
        if self.lookup_config is None:
            return self.bucket_size or 0
        return (self.lookup_config.vocab_size or 0) + self.lookup_config.num_oov_buckets

    @property
    def config(self) -> dict[str, Any]:
        """A sparse feature."""
        return {self.name: VarLenFeature(self.dtype)}

    def transform(self, features: Features) -> Any:
        """The ids."""
        return self.ids(_sparse(features.get(self.name), self.name))

    def ids(self, tensor: Any) -> Any:
        """The ids of sparse categories."""
        raise NotImplementedError

    def id_tensor(self, tensor: Any) -> Any:
        """The ids of what ``transform`` made."""
        return tensor

    def weight_tensor(self, tensor: Any) -> Any:
        """The weights of what ``transform`` made, or None."""
        return None

    def linear_lookup(self, tensor: Any) -> Lookup:
        """A weight an id."""
        return Lookup(tensor, None, self.length, zeros_initializer(), self.combiner)

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """Refused.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            "SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column."
            f" column: {self}"
        )

    def is_compatible(self, other: SparseColumn) -> bool:
        """Whether ids of both mean the same, as far as is known."""
        if self.lookup_config and other.lookup_config:
            return self.lookup_config == other.lookup_config
        integers = self.dtype.is_integer and other.dtype.is_integer
        return self.length == other.length and (self.dtype == other.dtype or integers)


def _sparse(tensor: Any, name: str) -> Any:
    if isinstance(tensor, SparseTensor):
        return tensor
    ignored = "" if tensor.dtype == dtypes.string else -1
    return without_value(of_rank(tensor, name, 2), ignored)


def _replaced(tensor: SparseTensor, ids: Any) -> SparseTensor:
    return SparseTensor(tensor.indices, ids, tensor.dense_shape)


class SparseColumnIntegerized(SparseColumn):
    """Ids as they are; made by ``sparse_column_with_integerized_feature``."""

    def ids(self, tensor: Any) -> Any:
        """Ids modulo their number."""
        return _replaced(tensor, floormod(tensor.values, self.bucket_size, name="mod"))


class SparseColumnHashed(SparseColumn):
    """Ids by hash; made by ``sparse_column_with_hash_bucket``."""

    def ids(self, tensor: Any) -> Any:
        """Hashes."""
        words = tensor.values
        if self.dtype.is_integer:
            words = as_string(words)
        return _replaced(tensor, string_to_hash_bucket_fast(words, self.length, name="lookup"))


class SparseColumnKeys(SparseColumn):
    """Places in a list; made by ``sparse_column_with_keys``."""

    def ids(self, tensor: Any) -> Any:
        """Looks them up."""
        assert self.lookup_config is not None
        table = index_table_from_tensor(
            self.lookup_config.keys, default_value=self.lookup_config.default_value,
            dtype=self.dtype, name="lookup",
        )  # fmt: skip
        return table.lookup(tensor)


class SparseColumnVocabulary(SparseColumn):
    """Lines of a file; made by ``sparse_column_with_vocabulary_file``."""

    def ids(self, tensor: Any) -> Any:
        """Looks them up."""
        assert self.lookup_config is not None
        if self.dtype.is_integer:
            tensor = _replaced(tensor, as_string(tensor.values))
        table = index_table_from_file(
            self.lookup_config.vocabulary_file, num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size,
            default_value=self.lookup_config.default_value, name=f"{self.name}_lookup",
        )  # fmt: skip
        return table.lookup(tensor)


class _Weighted(NamedTuple):
    sparse_id_column: SparseColumn
    weight_column_name: str
    dtype: dtypes.DType


class WeightedSparseColumn(Column, _Weighted):
    """Categories with a weight each; made by ``weighted_sparse_column``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        """How many ids there are."""
        return self.sparse_id_column.length

    @property
    def config(self) -> dict[str, Any]:
        """The categories and the weights, sparse both."""
        return {**self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)}

    @property
    def lookup_config(self) -> _Vocabulary | None:
        """The vocabulary of the categories."""
        return self.sparse_id_column.lookup_config

    def id_tensor(self, tensor: Any) -> Any:
        """The ids of what ``transform`` made."""
        return tensor[0]

    def weight_tensor(self, tensor: Any) -> Any:
        """The weights of what ``transform`` made."""
        return tensor[1]

    def transform(self, features: Features) -> Any:
        """Ids and weights."""
        ids = features.get(self.sparse_id_column)
        weights = features.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = without_value(weights, 0.0)
        if not self.dtype.is_floating:
            weights = _replaced(weights, cast(weights.values, dtypes.float32))
        return ids, weights

    def linear_lookup(self, tensor: Any) -> Lookup:
        """A weight an id, times the given weight."""
        combiner = self.sparse_id_column.combiner
        return Lookup(tensor[0], tensor[1], self.length, zeros_initializer(), combiner)

    def network_input(self, tensor: Any, output_rank: int) -> Any:
        """Refused.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. Please use embedding_column or"
            f" one_hot_column. column: {self}"
        )


# ---- public functions ----------------------------------------------------------------------------


def _check(column_name: str, dtype: Any, bucket_size: int | None = 1) -> None:
    if not (dtype == dtypes.string or dtype.is_integer):
        raise ValueError(
            f"dtype must be string or integer. dtype: {dtype}, column_name: {column_name}"
        )
    if bucket_size is None:
        raise ValueError(f"bucket_size must be set. column_name: {column_name}")
    if bucket_size < 1:
        raise ValueError(
            f"bucket_size must be at least 1. bucket_size: {bucket_size},"
            f" column_name: {column_name}"
        )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> SparseColumn:
    """A column of categories that are ids already.

    Args:
      column_name: the feature's key.
      bucket_size: how many ids there are; larger ones count modulo it.
      combiner: "sum", "mean" or "sqrtn": how the weights of several are combined.
      dtype: of the feature, an integer.

    Raises:
      ValueError: no bucket, or another dtype.
    """
    if not dtype.is_integer:
        raise ValueError(
            f"dtype must be an integer if is_integerized is True. dtype: {dtype},"
            f" column_name: {column_name}."
        )
    _check(column_name, dtype, bucket_size)
    return SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
    hash_keys: Any = None,
) -> SparseColumn:
    """A column of categories whose ids are hashes of them.

    Args:
      column_name: the feature's key.
      hash_bucket_size: how many ids there are.
      combiner: "sum", "mean" or "sqrtn": how the weights of several are combined.
      dtype: of the feature, a string or an integer.
      hash_keys: accepted for None only.

    Raises:
      ValueError: no bucket, or another dtype.
      NotImplementedError: ``hash_keys``.

    Example:
      >>> import penstock as tf
      >>> word = tf.contrib.layers.sparse_column_with_hash_bucket("word", 10)
      >>> tf.contrib.layers.create_feature_spec_for_parsing([word])
      {'word': VarLenFeature(dtype=tf.string)}
    """
    if hash_keys is not None:
        raise NotImplementedError(
            "sparse_column_with_hash_bucket: hash_keys (several strong hashes a category) are not"
            " there; leave them out for one hash"
        )
    _check(column_name, dtype, hash_bucket_size)
    return SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype)


def sparse_column_with_keys(
    column_name: str,
    keys: Any,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> SparseColumn:
    """A column of categories whose ids are places in a list.

    Args:
      column_name: the feature's key.
      keys: the categories.
      default_value: the id of what is not in the list; -1 drops it.
      combiner: "sum", "mean" or "sqrtn": how the weights of several are combined.
      dtype: of the feature, a string or an integer.

    Raises:
      ValueError: another dtype.
    """
    _check(column_name, dtype)
    keys = tuple(keys)
    vocabulary = _Vocabulary(keys=keys, vocab_size=len(keys), default_value=default_value)
    return SparseColumnKeys(column_name, False, None, vocabulary, combiner, dtype)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> SparseColumn:
    """A column of categories whose ids are lines of a file.

    Args:
      column_name: the feature's key.
      vocabulary_file: a file with a category a line.
      num_oov_buckets: how many ids other categories have, by hash.
      vocab_size: how many lines count.
      default_value: the id of other categories where they have no buckets; -1 drops them.
      combiner: "sum", "mean" or "sqrtn": how the weights of several are combined.
      dtype: of the feature, a string or an integer.

    Raises:
      ValueError: ``vocab_size`` is missing, or another dtype.
    """
    _check(column_name, dtype)
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    vocabulary = _Vocabulary(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return SparseColumnVocabulary(column_name, False, None, vocabulary, combiner, dtype)


def weighted_sparse_column(
    sparse_id_column: SparseColumn, weight_column_name: str, dtype: Any = dtypes.float32
) -> WeightedSparseColumn:
    """A column of categories that have a weight each.

    Args:
      sparse_id_column: the categories.
      weight_column_name: key of the weights, at the same places.
      dtype: of the weights.

    Raises:
      ValueError: another dtype.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
