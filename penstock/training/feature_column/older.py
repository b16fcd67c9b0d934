"""Columns of the older protocol alone, as ``feature_column._numeric_column`` and its kin make them.

They are the columns of ``tf.feature_column`` but for ``_is_v2_column``: canned estimators choose
by it between ``InputLayer`` and ``DenseFeatures``, whose variables and nodes have other names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from penstock.training.feature_column import categorical, embedding, numeric


def _older(column: type) -> type:
    own = {"_is_v2_column": False, "__doc__": column.__doc__}
    return type(f"_{column.__name__}", (column,), own)


def _maker(function: Callable[..., Any], made: type) -> Callable[..., Any]:
    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        return made(*function(*args, **kwargs))

    return make


_NumericColumn = _older(numeric.NumericColumn)
_BucketizedColumn = _older(numeric.BucketizedColumn)
_HashedCategoricalColumn = _older(categorical.HashedCategoricalColumn)
_VocabularyFileCategoricalColumn = _older(categorical.VocabularyFileCategoricalColumn)
_VocabularyListCategoricalColumn = _older(categorical.VocabularyListCategoricalColumn)
_IdentityCategoricalColumn = _older(categorical.IdentityCategoricalColumn)
_WeightedCategoricalColumn = _older(categorical.WeightedCategoricalColumn)
_CrossedColumn = _older(categorical.CrossedColumn)
_EmbeddingColumn = _older(embedding.EmbeddingColumn)
_IndicatorColumn = _older(embedding.IndicatorColumn)
_SharedEmbeddingColumn = embedding.SharedEmbeddingColumn

_numeric_column = _maker(numeric.numeric_column, _NumericColumn)
_bucketized_column = _maker(numeric.bucketized_column, _BucketizedColumn)
_categorical_column_with_hash_bucket = _maker(
    categorical.categorical_column_with_hash_bucket, _HashedCategoricalColumn
)
_categorical_column_with_vocabulary_file = _maker(
    categorical.categorical_column_with_vocabulary_file, _VocabularyFileCategoricalColumn
)
_categorical_column_with_vocabulary_list = _maker(
    categorical.categorical_column_with_vocabulary_list, _VocabularyListCategoricalColumn
)
_categorical_column_with_identity = _maker(
    categorical.categorical_column_with_identity, _IdentityCategoricalColumn
)
_weighted_categorical_column = _maker(
    categorical.weighted_categorical_column, _WeightedCategoricalColumn
)
_crossed_column = _maker(categorical.crossed_column, _CrossedColumn)
_embedding_column = _maker(embedding.embedding_column, _EmbeddingColumn)
_indicator_column = _maker(embedding.indicator_column, _IndicatorColumn)
