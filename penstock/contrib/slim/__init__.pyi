"""The public names of ``tf.contrib.slim``; ``__init__.py`` reads it as well."""

from penstock.contrib import layers as layers, losses as losses, metrics as metrics
from penstock.contrib.framework import *  # noqa: F403
from penstock.contrib.layers import *  # type: ignore[no-redef]  # noqa: F403
from penstock.contrib.layers.aggregation import (
    embedding_lookup_sparse_with_distributed_aggregation as embedding_lookup_sparse_with_distributed_aggregation,  # noqa: E501
)
from penstock.contrib.layers.columns.data_frame import DataFrameColumn as DataFrameColumn
from penstock.contrib.layers.scattered import (
    scattered_embedding_lookup as scattered_embedding_lookup,
    scattered_embedding_lookup_sparse as scattered_embedding_lookup_sparse,
)
from penstock.contrib.layers.targets import (
    binary_svm_target as binary_svm_target,
    get_default_binary_metrics_for_eval as get_default_binary_metrics_for_eval,
)
from penstock.contrib.learn.model_fn import ProblemType as ProblemType
from penstock.contrib.slim import (  # type: ignore[no-redef]
    evaluation as evaluation,
    learning as learning,
    model_analyzer as model_analyzer,
    nets as nets,
    python as python,
    queues as queues,
    summaries as summaries,
)
from penstock.contrib.slim.data import (
    data_decoder as data_decoder,
    data_provider as data_provider,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    tfexample_decoder as tfexample_decoder,
)
from penstock.ops.math.bucketize import bucketize as bucketize
from penstock.ops.sparse.sparse_feature_cross import sparse_feature_cross as sparse_feature_cross
from penstock.tools.platform.deprecation import experimental as experimental
from penstock.tools.platform.exported_names import make_all as make_all
from penstock.training.feature_column.input_layer import InputLayer as InputLayer
