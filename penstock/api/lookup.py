"""``tf.lookup``: explicit re-exports, no logic."""

from penstock.api import lookup_experimental as _experimental
from penstock.training.data.lookup import StaticHashTable as StaticHashTable
from penstock.training.data.lookup_initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
from penstock.training.data.lookup_vocabulary import StaticVocabularyTable as StaticVocabularyTable

experimental = _experimental
