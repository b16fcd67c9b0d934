"""``tf.nn``: neural-network functions.

Ops and their public functions live in ``penstock.ops``; what is written from several ops, in the
modules of this package.  This module only gathers the names.
"""

import importlib as _importlib

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
from penstock.nn.gating import swish
from penstock.nn.linear import relu_layer, xw_plus_b
from penstock.nn.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
    zero_fraction,
)
from penstock.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool_v2,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool_v2,
    max_pool_with_argmax,
)
from penstock.ops.activation import (
    crelu,
    elu,
    leaky_relu,
    relu,
    relu6,
    selu,
    softplus,
    softsign,
)
from penstock.ops.bias import bias_add
from penstock.ops.depthwise import (
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input,
)
from penstock.ops.dropout import dropout
from penstock.ops.softmax import log_softmax, softmax

depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter

# Until every sibling family stands: name to (module, attribute) of functions that others write.
_SIBLINGS = {
    "sigmoid": ("penstock.ops.elementwise", "sigmoid"),
    "tanh": ("penstock.ops.elementwise", "tanh"),
    "l2_loss": ("penstock.ops.reduction", "l2_loss"),
    "embedding_lookup": ("penstock.ops.embedding", "embedding_lookup"),
    "embedding_lookup_sparse": ("penstock.ops.embedding", "embedding_lookup_sparse"),
    "safe_embedding_lookup_sparse": ("penstock.ops.embedding", "safe_embedding_lookup_sparse"),
    "top_k": ("penstock.ops.sorting", "top_k"),
    "in_top_k": ("penstock.ops.sorting", "in_top_k"),
    "nce_loss": ("penstock.nn.sampling", "nce_loss"),
    "sampled_softmax_loss": ("penstock.nn.sampling", "sampled_softmax_loss"),
    "all_candidate_sampler": ("penstock.ops.candidates", "all_candidate_sampler"),
    "compute_accidental_hits": ("penstock.ops.candidates", "compute_accidental_hits"),
    "fixed_unigram_candidate_sampler": (
        "penstock.ops.candidates", "fixed_unigram_candidate_sampler",
    ),
    "learned_unigram_candidate_sampler": (
        "penstock.ops.candidates", "learned_unigram_candidate_sampler",
    ),
    "log_uniform_candidate_sampler": ("penstock.ops.candidates", "log_uniform_candidate_sampler"),
    "uniform_candidate_sampler": ("penstock.ops.candidates", "uniform_candidate_sampler"),
    "space_to_batch": ("penstock.ops.space", "space_to_batch"),
    "space_to_depth": ("penstock.ops.space", "space_to_depth"),
    "depth_to_space": ("penstock.ops.space", "depth_to_space"),
}  # fmt: skip
missing: dict[str, str] = {}
for _name, (_module, _attribute) in _SIBLINGS.items():
    try:
        globals()[_name] = getattr(_importlib.import_module(_module), _attribute)
    except Exception as _error:  # a sibling may be half written
        missing[_name] = str(_error)

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dropout",
    "elu",
    "fused_batch_norm",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "moments",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "relu_layer",
    "selu",
    "separable_conv2d",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy_with_logits",
    "sufficient_statistics",
    "swish",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "xw_plus_b",
    "zero_fraction",
]
__all__ += [n for n in _SIBLINGS if n not in missing]
