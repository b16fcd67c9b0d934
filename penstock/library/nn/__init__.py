"""``tf.nn``: neural-network functions.

Most stand beside their ops in ``penstock.ops``; what is written from several families stands in
this room.  This module only gathers the names.
"""

from penstock.library.nn.conv import (
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_backprop_filter as conv2d_backprop_filter,
    conv2d_backprop_input as conv2d_backprop_input,
    conv2d_transpose as conv2d_transpose,
)
from penstock.library.nn.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from penstock.library.nn.ctc import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2,
    ctc_greedy_decoder as ctc_greedy_decoder,
    ctc_loss as ctc_loss,
)
from penstock.library.nn.ctc_dense import (
    collapse_repeated as collapse_repeated,
    ctc_loss_v2 as ctc_loss_v2,
    ctc_unique_labels as ctc_unique_labels,
)
from penstock.library.nn.dilation import (
    atrous_conv2d as atrous_conv2d,
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    conv_transpose as conv_transpose,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    pool as pool,
    separable_conv2d as separable_conv2d,
    with_space_to_batch as with_space_to_batch,
)
from penstock.library.nn.elementwise_losses import (
    log_poisson_loss as log_poisson_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from penstock.library.nn.fractional import (
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
)
from penstock.library.nn.gating import swish as swish
from penstock.library.nn.linear import relu_layer as relu_layer, xw_plus_b as xw_plus_b
from penstock.library.nn.morphology import dilation2d as dilation2d, erosion2d as erosion2d
from penstock.library.nn.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization,
    fused_batch_norm as fused_batch_norm,
    l2_normalize as l2_normalize,
    local_response_normalization as _lrn,
    local_response_normalization as local_response_normalization,
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
    zero_fraction as zero_fraction,
)
from penstock.library.nn.pooling import (
    avg_pool as _avg_pool2d,
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool_v2 as avg_pool_v2,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool_v2 as max_pool_v2,
    max_pool_with_argmax as max_pool_with_argmax,
)
from penstock.library.nn.replica_losses import (
    compute_average_loss as compute_average_loss,
    scale_regularization_loss as scale_regularization_loss,
)
from penstock.library.nn.safe_embedding import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from penstock.library.nn.sampling import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from penstock.library.nn.softmax_cross_entropy import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2,
)
from penstock.library.nn.volumes import (
    avg_pool3d as avg_pool3d,
    conv3d as conv3d,
    conv3d_backprop_filter as _conv3d_backprop_filter_v2,
    conv3d_backprop_filter as conv3d_backprop_filter,
    conv3d_transpose as conv3d_transpose,
    max_pool3d as max_pool3d,
)
from penstock.library.recurrent import rnn_cell as rnn_cell
from penstock.library.recurrent.bidirectional import (
    bidirectional_dynamic_rnn as bidirectional_dynamic_rnn,
    static_bidirectional_rnn as _bidirectional_rnn,
    static_bidirectional_rnn as static_bidirectional_rnn,
)
from penstock.library.recurrent.dynamic import dynamic_rnn as dynamic_rnn
from penstock.library.recurrent.raw import raw_rnn as raw_rnn
from penstock.library.recurrent.static import (
    static_rnn as _rnn,
    static_rnn as static_rnn,
    static_state_saving_rnn as _state_saving_rnn,
    static_state_saving_rnn as static_state_saving_rnn,
)
from penstock.ops.array.sorting import in_top_k as in_top_k, top_k as top_k
from penstock.ops.array.space import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from penstock.ops.math.elementwise import sigmoid as sigmoid, tanh as tanh
from penstock.ops.nn.activation import (
    crelu as crelu,
    elu as elu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    softplus as softplus,
    softsign as softsign,
)
from penstock.ops.nn.bias import bias_add as bias_add
from penstock.ops.nn.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from penstock.ops.nn.depthwise import (
    depthwise_conv2d_native as depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter as _depthwise_conv2d_backprop_filter,
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input as _depthwise_conv2d_backprop_input,
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_native_backprop_input,
)
from penstock.ops.nn.dropout import dropout as dropout
from penstock.ops.nn.embedding import (
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
)
from penstock.ops.nn.l2_loss import l2_loss as l2_loss
from penstock.ops.nn.softmax import log_softmax as log_softmax, softmax as softmax
from penstock.ops.quantized.quantized_layers import (
    quantized_avg_pool as quantized_avg_pool,
    quantized_conv2d as quantized_conv2d,
    quantized_max_pool as quantized_max_pool,
    quantized_relu_x as quantized_relu_x,
)

avg_pool2d = _avg_pool2d
bidirectional_rnn = _bidirectional_rnn
conv3d_backprop_filter_v2 = _conv3d_backprop_filter_v2
depthwise_conv2d_backprop_filter = _depthwise_conv2d_backprop_filter
depthwise_conv2d_backprop_input = _depthwise_conv2d_backprop_input
lrn = _lrn
rnn = _rnn
state_saving_rnn = _state_saving_rnn
