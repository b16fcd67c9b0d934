"""``tf.feature_column``: how features become numbers; this module only gathers the names."""

from penstock.training.feature_column.categorical import (
    categorical_column_with_hash_bucket as categorical_column_with_hash_bucket,
    categorical_column_with_identity as categorical_column_with_identity,
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
    crossed_column as crossed_column,
    weighted_categorical_column as weighted_categorical_column,
)
from penstock.training.feature_column.embedding import (
    embedding_column as embedding_column,
    indicator_column as indicator_column,
    shared_embedding_columns as shared_embedding_columns,
)
from penstock.training.feature_column.input_layer import (
    input_layer as input_layer,
    make_parse_example_spec as make_parse_example_spec,
)
from penstock.training.feature_column.linear_model import linear_model as linear_model
from penstock.training.feature_column.numeric import (
    bucketized_column as bucketized_column,
    numeric_column as numeric_column,
    sequence_numeric_column as sequence_numeric_column,
)
from penstock.training.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file as seq_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list as seq_with_vocabulary_list,
)

sequence_categorical_column_with_vocabulary_file = seq_with_vocabulary_file
sequence_categorical_column_with_vocabulary_list = seq_with_vocabulary_list
