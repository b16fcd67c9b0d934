"""Columns of categories: ids of words or numbers, by hash, by vocabulary, or as they are."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.formats import gfile
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.ops.array import fill, shape as shaping
from penstock.ops.array.cast import cast
from penstock.ops.array.indexed_slices import convert_to_tensor_or_sparse_tensor
from penstock.ops.control import check
from penstock.ops.control.control import identity
from penstock.ops.math import comparison, select
from penstock.ops.sparse.sparse_cross import sparse_cross_hashed
from penstock.ops.strings.string_hash import string_to_hash_bucket_fast
from penstock.ops.strings.string_text import as_string
from penstock.training.data.features import VarLenFeature
from penstock.training.data.lookup_vocabulary import index_table_from_file, index_table_from_tensor
from penstock.training.feature_column.asked import AskedCategoricalColumn
from penstock.training.feature_column.column import (
    CategoricalColumn,
    FeatureColumn,
    Features,
    IdWeightPair,
    check_category_type,
    check_key,
    to_sparse,
)

_log = logging.getLogger("penstock")


class _OfOneFeature(AskedCategoricalColumn):
    """What the columns of one sparse feature share."""

    key: str

    @property
    def parents(self) -> list[Any]:
        """The feature's key."""
        return [self.key]

    @property
    def name(self) -> str:
        """The feature's key."""
        return self.key

    def _checked(self, features: Features, dtype: dtypes.DType) -> SparseTensor:
        """The feature as a sparse tensor whose dtype fits."""
        sparse = to_sparse(features.get(self.key))
        if dtype.is_integer != sparse.dtype.is_integer:
            raise ValueError(
                "Column dtype and SparseTensors dtype must be compatible. key:"
                f" {self.key}, column dtype: {dtype!r}, tensor dtype: {sparse.dtype!r}"
            )
        check_category_type(sparse.dtype, f"column_name: {self.key} input_tensor")
        return sparse


# ---- by hash -------------------------------------------------------------------------------------


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: dtypes.DType


class HashedCategoricalColumn(_Hashed, _OfOneFeature):
    """A column of hashes; made by ``categorical_column_with_hash_bucket``."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A sparse feature."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform(self, features: Features) -> SparseTensor:
        """The hashes."""
        sparse = self._checked(features, self.dtype)
        words = sparse.values if self.dtype == dtypes.string else as_string(sparse.values)
        ids = string_to_hash_bucket_fast(words, self.hash_bucket_size, name="lookup")
        return SparseTensor(sparse.indices, ids, sparse.dense_shape)

    @property
    def num_buckets(self) -> int:
        """How many hashes there are."""
        return self.hash_bucket_size


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: dtypes.DType = dtypes.string
) -> HashedCategoricalColumn:
    """A column of categories whose ids are hashes of them.

    Args:
      key: the feature's key.
      hash_bucket_size: how many ids there are.
      dtype: of the feature: string or an integer.

    Raises:
      ValueError: no bucket, or another dtype.

    Example:
      >>> import penstock as tf
      >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 4)
      >>> counts = tf.feature_column.indicator_column(word)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.feature_column.input_layer({"word": [["a", "b"]]}, [counts]))
      array([[0., 0., 1., 1.]], dtype=float32)
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    check_category_type(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


# ---- by vocabulary -------------------------------------------------------------------------------


class _OfVocabulary(_OfOneFeature):
    """What the columns with a vocabulary share."""

    dtype: dtypes.DType

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A sparse feature."""
        return {self.key: VarLenFeature(self.dtype)}

    def _table(self, key_dtype: dtypes.DType, name: str) -> Any:
        raise NotImplementedError

    def transform(self, features: Features) -> Any:
        """Places in the vocabulary."""
        sparse: Any = self._checked(features, self.dtype)
        key_dtype = self.dtype
        if sparse.dtype.is_integer:
            key_dtype = dtypes.int64
            sparse = cast(sparse, dtypes.int64)
        return self._table(key_dtype, f"{self.key}_lookup").lookup(sparse)


class _InFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: dtypes.DType
    default_value: int


class VocabularyFileCategoricalColumn(_InFile, _OfVocabulary):
    """A column of lines of a file; made by ``categorical_column_with_vocabulary_file``."""

    def _table(self, key_dtype: dtypes.DType, name: str) -> Any:
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file, num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size, default_value=self.default_value,
            key_dtype=key_dtype, name=name,
        )  # fmt: skip

    @property
    def num_buckets(self) -> int:
        """Words of the vocabulary and buckets for others."""
        return self.vocabulary_size + self.num_oov_buckets


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: dtypes.DType = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """A column of categories whose ids are lines of a file.

    Args:
      key: the feature's key.
      vocabulary_file: a file with a word a line.
      vocabulary_size: how many of its lines count; default all.
      num_oov_buckets: how many ids words outside the file have, by hash.
      default_value: the id of words outside the file, where they have no buckets; default -1.
      dtype: of the feature: string or an integer.

    Raises:
      ValueError: no such file, both kinds of ids for other words, or another dtype.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist. Given: {vocabulary_file}")
        with gfile.GFile(vocabulary_file) as lines:
            vocabulary_size = sum(1 for _ in lines)
        _log.info("%s: %d words are in %s", key, vocabulary_size, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}. Given: {vocabulary_size}")
    _check_others(num_oov_buckets, default_value is not None, key)
    check_category_type(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype,
        -1 if default_value is None else default_value,
    )  # fmt: skip


def _check_others(num_oov_buckets: int | None, has_default: bool, key: str) -> None:
    if num_oov_buckets and has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets and num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


class _InList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: dtypes.DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_InList, _OfVocabulary):
    """A column of words of a list; made by ``categorical_column_with_vocabulary_list``."""

    def _table(self, key_dtype: dtypes.DType, name: str) -> Any:
        return index_table_from_tensor(
            vocabulary_list=self.vocabulary_list, default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets, dtype=key_dtype, name=name,
        )  # fmt: skip

    @property
    def num_buckets(self) -> int:
        """Words of the vocabulary and buckets for others."""
        return len(self.vocabulary_list) + self.num_oov_buckets


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: dtypes.DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of categories whose ids are places in a list.

    Args:
      key: the feature's key.
      vocabulary_list: the words or integers.
      dtype: of the feature: string or an integer; default the list's.
      default_value: the id of words outside the list; -1 drops them.
      num_oov_buckets: how many ids words outside the list have, by hash.

    Raises:
      ValueError: the list is empty or has a word twice, both kinds of ids for other words, or
        another dtype.

    Example:
      >>> import penstock as tf
      >>> size = tf.feature_column.categorical_column_with_vocabulary_list("size", ["S", "M", "L"])
      >>> size.num_buckets, tf.feature_column.make_parse_example_spec([size])
      (3, {'size': VarLenFeature(dtype=tf.string)})
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_others(num_oov_buckets, default_value != -1, key)
    check_category_type(own, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = own
    elif dtype.is_integer != own.is_integer:
        raise ValueError(
            f"dtype {dtype!r} and vocabulary dtype {own!r} do not match, column_name: {key}"
        )
    check_category_type(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(
        key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets
    )


# ---- as they are ---------------------------------------------------------------------------------


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_Identity, _OfOneFeature):
    """A column of ids; made by ``categorical_column_with_identity``."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A sparse feature."""
        return {self.key: VarLenFeature(dtypes.int64)}

    def transform(self, features: Features) -> SparseTensor:
        """The ids, checked."""
        sparse = to_sparse(features.get(self.key))
        if not sparse.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {sparse.dtype!r}")
        ids: Any = cast(sparse.values, dtypes.int64, name="values")
        limit = cast(self.number_buckets, dtypes.int64, name="num_buckets")
        zero = cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            ids = self._checked_ids(ids, limit, zero)
        else:
            outside = comparison.logical_or(ids < zero, ids >= limit, name="out_of_range")
            dims = shaping.shape(ids)
            default = cast(self.default_value, dtypes.int64)
            defaults = fill.fill(dims, default, name="default_values")
            ids = select.where_v2(outside, defaults, ids)
        return SparseTensor(sparse.indices, ids, sparse.dense_shape)

    def _checked_ids(self, ids: Any, limit: Any, zero: Any) -> Any:
        below = check.assert_less(
            ids, limit, data=(ids, limit), name="assert_less_than_num_buckets",
            message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
        )  # fmt: skip
        above = check.assert_greater_equal(
            ids, zero, data=(ids,), name="assert_greater_or_equal_0",
            message=f'Negative bucket index for categorical column "{self.name}"',
        )  # fmt: skip
        with scopes.control_dependencies((below, above)):
            return identity(ids)

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.number_buckets


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """A column of categories that are ids themselves.

    Args:
      key: the feature's key.
      num_buckets: ids are below that.
      default_value: the id of those that are not; by default they are an error of the step.

    Raises:
      ValueError: no bucket, or a default outside.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


# ---- with weights --------------------------------------------------------------------------------


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: str
    dtype: dtypes.DType


class WeightedCategoricalColumn(_Weighted, AskedCategoricalColumn):
    """A column of categories with weights; made by ``weighted_categorical_column``."""

    @property
    def parents(self) -> list[Any]:
        """The column, and the weights' key."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def name(self) -> str:
        """The column's name and the weights' key."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The column's, and a sparse feature of weights."""
        found: dict[str, Any] = self.categorical_column.parse_example_spec
        key = self.weight_feature_key
        if key in found:
            raise ValueError(f"Parse config {found[key]} already exists for {key}.")
        return {**found, key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        """The column's."""
        return int(self.categorical_column.num_buckets)

    def transform(self, features: Features) -> Any:
        """Ids and weights."""
        weights: Any = convert_to_tensor_or_sparse_tensor(features.get(self.weight_feature_key))
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype!r}, but got {weights.dtype!r}.")
        if not isinstance(weights, SparseTensor):
            weights = to_sparse(weights, 0.0)
        if not weights.dtype.is_floating:
            weights = cast(weights, dtypes.float32)
        return features.get(self.categorical_column), weights

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """Ids and weights."""
        return IdWeightPair(*features.get(self))


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: dtypes.DType = dtypes.float32
) -> WeightedCategoricalColumn:
    """A column of categories whose weights are another feature.

    Args:
      categorical_column: the categories.
      weight_feature_key: the key of the weights, which stand at the same places.
      dtype: of the weights.

    Raises:
      ValueError: a dtype that is no number.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype!r} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


# ---- crossed -------------------------------------------------------------------------------------


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(_Crossed, AskedCategoricalColumn):
    """A column of combinations; made by ``crossed_column``."""

    def _leaves(self) -> list[Any]:
        found: list[Any] = []
        for key in self.keys:
            found += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    @property
    def parents(self) -> list[Any]:
        """What is combined."""
        return list(self.keys)

    @property
    def name(self) -> str:
        """The names of what is combined, sorted."""
        leaves = self._leaves()
        return "_X_".join(sorted(k if isinstance(k, str) else k.name for k in leaves))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of all that is combined."""
        found: dict[str, Any] = {}
        for key in self.keys:
            own = isinstance(key, FeatureColumn)
            found |= key.parse_example_spec if own else {key: VarLenFeature(dtypes.string)}
        return found

    def transform(self, features: Features) -> SparseTensor:
        """Hashes of all combinations of a row."""
        crossed = []
        for key in self._leaves():
            if isinstance(key, str):
                crossed.append(features.get(key))
                continue
            pair = key.sparse_tensors(features)
            if pair.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column"
                    f" populates weight_tensor. Given column: {key.name}"
                )
            crossed.append(pair.id_tensor)
        return sparse_cross_hashed(crossed, self.hash_bucket_size, self.hash_key)

    @property
    def num_buckets(self) -> int:
        """How many hashes there are."""
        return self.hash_bucket_size


def crossed_column(
    keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """A column of combinations of categories, by hash.

    Args:
      keys: two or more keys of string features, or columns of categories (hashed ones are given by
        their key).
      hash_bucket_size: how many ids there are.
      hash_key: the key of the hash function.

    Raises:
      ValueError: fewer keys, one that cannot be combined, or no bucket.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumn):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column"
                f" except HashedCategoricalColumn. Given: {key!r}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before"
                " crossing will increase probability of collision. Instead, use the feature name"
                f" as a string. Given: {key!r}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
