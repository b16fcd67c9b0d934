"""Columns of sequences of categories; embedding and indicator columns make them dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.ops.array import shape as shaping
from penstock.ops.math import reductions
from penstock.ops.sparse.sparse_functions import sparse_reshape
from penstock.training.feature_column import categorical
from penstock.training.feature_column.asked import AskedCategoricalColumn
from penstock.training.feature_column.column import Features, IdWeightPair


class _Sequence(NamedTuple):
    categorical_column: Any


class SequenceCategoricalColumn(_Sequence, AskedCategoricalColumn):
    """A column of sequences of categories; made by ``sequence_categorical_column_with_*``."""

    @property
    def parents(self) -> list[Any]:
        """The categories."""
        return [self.categorical_column]

    @property
    def name(self) -> str:
        """The categories'."""
        return str(self.categorical_column.name)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The categories'."""
        found: dict[str, Any] = self.categorical_column.parse_example_spec
        return found

    def transform(self, features: Features) -> Any:
        """The categories."""
        return self.categorical_column.transform(features)

    @property
    def num_buckets(self) -> int:
        """The categories'."""
        return int(self.categorical_column.num_buckets)

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """Ids of shape [batch, steps, ids of a step]."""
        ids, weights = self.categorical_column.sparse_tensors(features)
        dims: Any = shaping.shape(ids)
        target = [dims[0], dims[1], reductions.reduce_prod(dims[2:])]
        ids = sparse_reshape(ids, target)
        if weights is not None:
            weights = sparse_reshape(weights, target)
        return IdWeightPair(ids, weights)


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """A column of sequences of ids.

    Args:
      key, num_buckets, default_value: as of ``categorical_column_with_identity``.
    """
    column = categorical.categorical_column_with_identity(key, num_buckets, default_value)
    return SequenceCategoricalColumn(column)


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: dtypes.DType = dtypes.string
) -> SequenceCategoricalColumn:
    """A column of sequences of categories whose ids are hashes of them.

    Args:
      key, hash_bucket_size, dtype: as of ``categorical_column_with_hash_bucket``.
    """
    column = categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    return SequenceCategoricalColumn(column)


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: dtypes.DType = dtypes.string,
) -> SequenceCategoricalColumn:
    """A column of sequences of categories whose ids are lines of a file.

    Args:
      key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype: as of
        ``categorical_column_with_vocabulary_file``.
    """
    column = categorical.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
    )
    return SequenceCategoricalColumn(column)


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: dtypes.DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """A column of sequences of categories whose ids are places in a list.

    Args:
      key, vocabulary_list, dtype, default_value, num_oov_buckets: as of
        ``categorical_column_with_vocabulary_list``.
    """
    column = categorical.categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets
    )
    return SequenceCategoricalColumn(column)
