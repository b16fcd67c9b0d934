"""``tf.contrib.feature_column``: columns of sequences; explicit re-exports, no logic.

The columns are those of ``tf.feature_column``, which took their names over.
"""

from penstock.contrib.feature_column import python as python
from penstock.foundation.base import public_names
from penstock.training.feature_column import (
    sequence_categorical_column_with_vocabulary_file as sequence_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list as sequence_with_vocabulary_list,
)
from penstock.training.feature_column.numeric import (
    sequence_numeric_column as sequence_numeric_column,
)
from penstock.training.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
)
from penstock.training.feature_column.sequence_input import (
    sequence_input_layer as sequence_input_layer,
)

sequence_categorical_column_with_vocabulary_file = sequence_with_vocabulary_file
sequence_categorical_column_with_vocabulary_list = sequence_with_vocabulary_list

__all__ = [
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list", "sequence_input_layer",
    "sequence_numeric_column",
]  # fmt: skip

__dir__ = public_names.listing(__name__)
