"""``from penstock.python.ops import lookup_ops``."""

from penstock.data.lookup import (
    HashTable as HashTable,
    InitializableLookupTableBase as InitializableLookupTableBase,
    LookupInterface as LookupInterface,
    StaticHashTable as StaticHashTable,
)
from penstock.data.lookup_initializers import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TableInitializerBase as TableInitializerBase,
    TextFileIdTableInitializer as TextFileIdTableInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
    TextFileStringTableInitializer as TextFileStringTableInitializer,
    initialize_all_tables as initialize_all_tables,
    tables_initializer as tables_initializer,
)
from penstock.data.lookup_mutable import MutableHashTable as MutableHashTable
from penstock.data.lookup_vocabulary import (
    FastHashSpec as FastHashSpec,
    HasherSpec as HasherSpec,
    IdTableWithHashBuckets as IdTableWithHashBuckets,
    StaticVocabularyTable as StaticVocabularyTable,
    StrongHashSpec as StrongHashSpec,
    index_table_from_file as index_table_from_file,
    index_table_from_tensor as index_table_from_tensor,
    index_to_string_table_from_file as index_to_string_table_from_file,
    index_to_string_table_from_tensor as index_to_string_table_from_tensor,
)
