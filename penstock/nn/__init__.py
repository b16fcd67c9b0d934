"""``tf.nn``: neural-network functions.

Most stand beside their ops in ``penstock.ops``; what is written from several families stands in
this room.  This module only gathers the names.
"""

from penstock.nn.conv import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
)
from penstock.nn.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from penstock.nn.ctc import (
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2,
    ctc_greedy_decoder,
    ctc_loss,
)
from penstock.nn.ctc_dense import collapse_repeated, ctc_loss_v2, ctc_unique_labels
from penstock.nn.dilation import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d,
    pool,
    separable_conv2d,
    with_space_to_batch,
)
from penstock.nn.fractional import fractional_avg_pool, fractional_max_pool
from penstock.nn.gating import swish
from penstock.nn.linear import relu_layer, xw_plus_b
from penstock.nn.morphology import dilation2d, erosion2d
from penstock.nn.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    local_response_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
    zero_fraction,
)
from penstock.nn.normalization import (
    local_response_normalization as lrn,
)
from penstock.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool_v2,
    max_pool_with_argmax,
)
from penstock.nn.pooling import (
    avg_pool as avg_pool2d,
)
from penstock.nn.replica_losses import compute_average_loss, scale_regularization_loss
from penstock.nn.safe_embedding import safe_embedding_lookup_sparse
from penstock.nn.sampling import nce_loss, sampled_softmax_loss
from penstock.nn.volumes import (
    avg_pool3d,
    conv3d,
    conv3d_backprop_filter,
    conv3d_transpose,
    max_pool3d,
)
from penstock.nn.volumes import conv3d_backprop_filter as conv3d_backprop_filter_v2
from penstock.ops.activation import crelu, elu, leaky_relu, relu, relu6, selu, softplus, softsign
from penstock.ops.bias import bias_add
from penstock.ops.candidates import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from penstock.ops.depthwise import (
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
)
from penstock.ops.depthwise import (
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_backprop_filter,
)
from penstock.ops.depthwise import (
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_backprop_input,
)
from penstock.ops.dropout import dropout
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.embedding import embedding_lookup, embedding_lookup_sparse
from penstock.ops.l2_loss import l2_loss
from penstock.ops.quantized_layers import (
    quantized_avg_pool,
    quantized_conv2d,
    quantized_max_pool,
    quantized_relu_x,
)
from penstock.ops.softmax import log_softmax, softmax
from penstock.ops.sorting import in_top_k, top_k
from penstock.ops.space import depth_to_space, space_to_batch, space_to_depth
from penstock.recurrent import rnn_cell
from penstock.recurrent.bidirectional import bidirectional_dynamic_rnn, static_bidirectional_rnn
from penstock.recurrent.bidirectional import static_bidirectional_rnn as bidirectional_rnn
from penstock.recurrent.dynamic import dynamic_rnn
from penstock.recurrent.raw import raw_rnn
from penstock.recurrent.static import static_rnn, static_state_saving_rnn
from penstock.recurrent.static import static_rnn as rnn
from penstock.recurrent.static import static_state_saving_rnn as state_saving_rnn

__all__ = [
    "all_candidate_sampler",
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "bidirectional_dynamic_rnn",
    "bidirectional_rnn",
    "collapse_repeated",
    "compute_accidental_hits",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_v2",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_loss_v2",
    "ctc_unique_labels",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dilation2d",
    "dropout",
    "dynamic_rnn",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "erosion2d",
    "fixed_unigram_candidate_sampler",
    "fractional_avg_pool",
    "fractional_max_pool",
    "fused_batch_norm",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "learned_unigram_candidate_sampler",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "log_uniform_candidate_sampler",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "quantized_avg_pool",
    "quantized_conv2d",
    "quantized_max_pool",
    "quantized_relu_x",
    "raw_rnn",
    "relu",
    "relu6",
    "relu_layer",
    "rnn",
    "rnn_cell",
    "safe_embedding_lookup_sparse",
    "sampled_softmax_loss",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "state_saving_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "xw_plus_b",
    "zero_fraction",
]
