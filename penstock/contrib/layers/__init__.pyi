"""The public names of ``tf.contrib.layers``; ``__init__.py`` reads it as well."""

from penstock.contrib.layers import (
    initializers as initializers,
    optimizers as optimizers,
    plumbing as _plumbing,
    python as python,
    regularizers as regularizers,
    summaries as summaries,
)
from penstock.contrib.layers.batch_normalization import batch_norm as batch_norm
from penstock.contrib.layers.columns.dense import (
    bucketized_column as bucketized_column,
    real_valued_column as real_valued_column,
)
from penstock.contrib.layers.columns.derived import (
    crossed_column as crossed_column,
    embedding_column as embedding_column,
    one_hot_column as one_hot_column,
    shared_embedding_columns as shared_embedding_columns,
)
from penstock.contrib.layers.columns.layers import (
    input_from_feature_columns as input_from_feature_columns,
    joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns,
    sequence_input_from_feature_columns as sequence_input_from_feature_columns,
    weighted_sum_from_feature_columns as weighted_sum_from_feature_columns,
)
from penstock.contrib.layers.columns.parsing import (
    check_feature_columns as check_feature_columns,
    create_feature_spec_for_parsing as create_feature_spec_for_parsing,
    infer_real_valued_columns as infer_real_valued_columns,
    make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features,
    parse_feature_columns_from_examples as parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples,
    transform_features as transform_features,
)
from penstock.contrib.layers.columns.scattered import (
    scattered_embedding_column as scattered_embedding_column,
)
from penstock.contrib.layers.columns.sparse import (
    sparse_column_with_hash_bucket as sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature as sparse_column_with_integerized_feature,
    sparse_column_with_keys as sparse_column_with_keys,
    sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file,
    weighted_sparse_column as weighted_sparse_column,
)
from penstock.contrib.layers.composing import repeat as repeat, stack as stack
from penstock.contrib.layers.convolutions import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_in_plane as conv2d_in_plane,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    convolution as convolution,
    convolution1d as convolution1d,
    convolution2d as convolution2d,
    convolution2d_in_plane as convolution2d_in_plane,
    convolution2d_transpose as convolution2d_transpose,
    convolution3d as convolution3d,
    convolution3d_transpose as convolution3d_transpose,
)
from penstock.contrib.layers.dense import (
    bias_add as bias_add,
    elu as elu,
    fully_connected as fully_connected,
    legacy_fully_connected as legacy_fully_connected,
    legacy_linear as legacy_linear,
    legacy_relu as legacy_relu,
    linear as linear,
    relu as relu,
    relu6 as relu6,
)
from penstock.contrib.layers.divisive_normalization import GDN as GDN, gdn as gdn
from penstock.contrib.layers.embeddings import (
    bow_encoder as bow_encoder,
    embed_sequence as embed_sequence,
    embedding_lookup_unique as embedding_lookup_unique,
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from penstock.contrib.layers.initializers import (
    variance_scaling_initializer as variance_scaling_initializer,
    xavier_initializer as xavier_initializer,
    xavier_initializer_conv2d as xavier_initializer_conv2d,
)
from penstock.contrib.layers.normalization import (
    group_norm as group_norm,
    instance_norm as instance_norm,
    layer_norm as layer_norm,
    unit_norm as unit_norm,
)
from penstock.contrib.layers.optimizers import (
    OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES,
    adaptive_clipping_fn as adaptive_clipping_fn,
    optimize_loss as optimize_loss,
)
from penstock.contrib.layers.pooling import (
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    pool as pool,
)
from penstock.contrib.layers.regularizers import (
    apply_regularization as apply_regularization,
    l1_l2_regularizer as l1_l2_regularizer,
    l1_regularizer as l1_regularizer,
    l2_regularizer as l2_regularizer,
    sum_regularizer as sum_regularizer,
)
from penstock.contrib.layers.reversible import (
    RevBlock as RevBlock,
    recompute_grad as recompute_grad,
    rev_block as rev_block,
    scale_gradient as scale_gradient,
)
from penstock.contrib.layers.scattered import (
    SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
)
from penstock.contrib.layers.separable import (
    separable_conv2d as separable_conv2d,
    separable_convolution2d as separable_convolution2d,
)
from penstock.contrib.layers.shaping import (
    dense_to_sparse as dense_to_sparse,
    dropout as dropout,
    flatten as flatten,
    images_to_sequence as images_to_sequence,
    maxout as maxout,
    one_hot_encoding as one_hot_encoding,
    sequence_to_images as sequence_to_images,
    softmax as softmax,
    spatial_softmax as spatial_softmax,
)
from penstock.contrib.layers.summaries import (
    summarize_activation as summarize_activation,
    summarize_activations as summarize_activations,
    summarize_biases as summarize_biases,
    summarize_collection as summarize_collection,
    summarize_tensor as summarize_tensor,
    summarize_tensors as summarize_tensors,
    summarize_variables as summarize_variables,
    summarize_weights as summarize_weights,
)
from penstock.contrib.layers.targets import (
    multi_class_target as multi_class_target,
    regression_target as regression_target,
)

utils = _plumbing
