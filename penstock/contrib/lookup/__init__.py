"""``tf.contrib.lookup``: lookup tables, with the argument names that contrib gave them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, public_names
from penstock.training.data import lookup_vocabulary
from penstock.training.data.lookup import (
    HashTable as HashTable,
    InitializableLookupTableBase as InitializableLookupTableBase,
    LookupInterface as LookupInterface,
)
from penstock.training.data.lookup_initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TableInitializerBase as TableInitializerBase,
    TextFileIdTableInitializer as TextFileIdTableInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
    TextFileStringTableInitializer as TextFileStringTableInitializer,
)
from penstock.training.data.lookup_mutable import (
    MutableDenseHashTable as MutableDenseHashTable,
    MutableHashTable as MutableHashTable,
)
from penstock.training.data.lookup_vocabulary import (
    FastHashSpec as FastHashSpec,
    HasherSpec as HasherSpec,
    IdTableWithHashBuckets as IdTableWithHashBuckets,
    StrongHashSpec as StrongHashSpec,
    index_table_from_file as index_table_from_file,
    index_to_string_table_from_file as index_to_string_table_from_file,
)


def index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string, name: str | None = None,
) -> Any:  # fmt: skip
    """A table from words to their places in the vector ``mapping``.

    Args:
      mapping: vector of words, without duplicates.
      num_oov_buckets: how many ids unknown words are spread over; 0 for none.
      default_value: id of unknown words, where there are no buckets.
      hasher_spec: which hash spreads them.
      dtype: type of the words that are looked up.

    Returns:
      A table.
    """
    return lookup_vocabulary.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """A table from places in the string vector ``mapping`` to the words there.

    Args:
      mapping: string vector.
      default_value: the word of ids that it lacks.

    Returns:
      A table.
    """
    return lookup_vocabulary.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
    default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec, name: str | None = None,
) -> Any:  # fmt: skip
    """Deprecated: ``index_table_from_file``."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec,
        dtypes.string, name,
    )  # fmt: skip


def string_to_index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec, name: str | None = None,
) -> Any:  # fmt: skip
    """Deprecated: ``index_table_from_tensor``."""
    _check_words(mapping)
    return index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtypes.string, name
    )


def _check_words(mapping: Any) -> None:
    if mapping is None:
        raise ValueError("mapping must be specified.")


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """Deprecated: looks ``tensor`` up in ``index_table_from_tensor(mapping)``."""
    table = index_table_from_tensor(mapping, default_value=default_value)
    return table.lookup(tensor, name=name)


def index_to_string(
    tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """Deprecated: looks ``tensor`` up in ``index_to_string_table_from_tensor(mapping)``."""
    table = index_to_string_table_from_tensor(mapping, default_value)
    return table.lookup(tensor, name=name)


__dir__ = public_names.listing(__name__)
