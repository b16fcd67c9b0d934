"""``tf.lookup``: explicit re-exports, no logic."""

from penstock.api import lookup_experimental as experimental
from penstock.data.lookup import StaticHashTable
from penstock.data.lookup_initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from penstock.data.lookup_vocabulary import StaticVocabularyTable

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
