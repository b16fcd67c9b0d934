"""Functions of the second API that are the first's with other arguments.

A row is a call as the second API writes it: with the name of the first API's function in front
where that is another, ``NEW:OLD`` where an argument is named otherwise there, and ``NEW:`` where
the first API has none and nothing depends on it.
"""

from __future__ import annotations

from typing import Any

_REDUCED = "(input_tensor, axis=None, keepdims=False, name=None)"
_REDUCTIONS = ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
ADAPTED = {
    **{f"reduce_{each}": _REDUCED for each in _REDUCTIONS},
    **{f"math.reduce_{each}": _REDUCED for each in _REDUCTIONS},
    "argmax": "(input, axis=None, output_type=tf.int64, name=None)",
    "argmin": "(input, axis=None, output_type=tf.int64, name=None)",
    "assert_equal": "(x, y, message=None, summarize=None, name=None)",
    "assert_greater": "(x, y, message=None, summarize=None, name=None)",
    "assert_less": "(x, y, message=None, summarize=None, name=None)",
    "assert_rank": "(x, rank, message=None, name=None)",
    "batch_to_space": "batch_to_space_nd(input, block_shape, crops, name=None)",
    "boolean_mask": "(tensor, mask, axis=None, name='boolean_mask')",
    "case": "(pred_fn_pairs, default=None, exclusive=False, strict=False, name='case')",
    "cond": "(pred, true_fn=None, false_fn=None, name=None)",
    "constant": "(value, dtype=None, shape=None, name='Const')",
    "convert_to_tensor": "(value, dtype=None, dtype_hint=None, name=None)",
    "device": "(device_name:device_name_or_function)",
    "expand_dims": "(input, axis, name=None)",
    "gather": "(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)",
    "gather_nd": "(params, indices, batch_dims=0, name=None)",
    "gradients":
        "(ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None,"
        " stop_gradients=None, unconnected_gradients='none')",
    "hessians": "(ys, xs, gate_gradients=False, aggregation_method=None, name='hessians')",
    "norm": "(tensor, ord='euclidean', axis=None, keepdims=None, name=None)",
    "ones_like": "(input:tensor, dtype=None, name=None)",
    "pad": "(tensor, paddings, mode='CONSTANT', constant_values=0, name=None)",
    "reverse_sequence": "(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)",
    "scalar_mul": "(scalar, x, name=None)",
    "shape": "(input, out_type=tf.int32, name=None)",
    "size": "(input, out_type=tf.int32, name=None)",
    "space_to_batch": "space_to_batch_nd(input, block_shape, paddings, name=None)",
    "squeeze": "(input, axis=None, name=None)",
    "transpose": "(a, perm=None, conjugate=False, name='transpose')",
    "tuple": "(tensors, control_inputs=None, name=None)",
    "variable_creator_scope": "(variable_creator)",
    "where": "where_v2(condition, x=None, y=None, name=None)",
    "while_loop":
        "(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,"
        " swap_memory=False, maximum_iterations=None, name=None)",
    "zeros_like": "(input:tensor, dtype=None, name=None)",
    "autograph.to_code": "(entity, recursive=True, experimental_optional_features=None)",
    "autograph.to_graph": "(entity, recursive=True, experimental_optional_features=None)",
    "debugging.assert_all_finite": "(x, message, name=None)",
    "debugging.assert_equal": "(x, y, message=None, summarize=None, name=None)",
    "debugging.assert_greater": "(x, y, message=None, summarize=None, name=None)",
    "debugging.assert_greater_equal": "(x, y, message=None, summarize=None, name=None)",
    "debugging.assert_integer": "(x, message=None, name=None)",
    "debugging.assert_less": "(x, y, message=None, summarize=None, name=None)",
    "debugging.assert_less_equal": "(x, y, message=None, summarize=None, name=None)",
    "debugging.assert_near":
        "(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)",
    "debugging.assert_negative": "(x, message=None, summarize=None, name=None)",
    "debugging.assert_non_negative": "(x, message=None, summarize=None, name=None)",
    "debugging.assert_non_positive": "(x, message=None, summarize=None, name=None)",
    "debugging.assert_none_equal": "(x, y, summarize=None, message=None, name=None)",
    "debugging.assert_positive": "(x, message=None, summarize=None, name=None)",
    "debugging.assert_rank": "(x, rank, message=None, name=None)",
    "debugging.assert_rank_at_least": "(x, rank, message=None, name=None)",
    "debugging.assert_rank_in": "(x, ranks, message=None, name=None)",
    "debugging.assert_scalar": "(tensor, message=None, name=None)",
    "debugging.assert_shapes": "(shapes, data=None, summarize=None, message=None, name=None)",
    "debugging.assert_type": "(tensor, tf_type, message=None, name=None)",
    "image.crop_and_resize":
        "(image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0,"
        " name=None)",
    "image.draw_bounding_boxes": "(images, boxes, colors, name=None)",
    "image.sample_distorted_bounding_box":
        "(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None,"
        " area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None)",
    "io.decode_csv":
        "(records, record_defaults, field_delim=',', use_quote_delim=True, na_value='',"
        " select_cols=None, name=None)",
    "io.parse_example": "(serialized, features, example_names=None, name=None)",
    "io.parse_single_example": "(serialized, features, example_names=None, name=None)",
    "io.serialize_many_sparse": "(sp_input, out_type=tf.string, name=None)",
    "io.serialize_sparse": "(sp_input, out_type=tf.string, name=None)",
    "linalg.l2_normalize": "nn.l2_normalize(x, axis=None, epsilon=1e-12, name=None)",
    "linalg.norm": "norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None)",
    "math.argmax": "(input, axis=None, output_type=tf.int64, name=None)",
    "math.argmin": "(input, axis=None, output_type=tf.int64, name=None)",
    "math.bincount":
        "(arr, weights=None, minlength=None, maxlength=None, dtype=tf.int32, name:=None)",
    "math.confusion_matrix":
        "(labels, predictions, num_classes=None, weights=None, dtype=tf.int32, name=None)",
    "math.count_nonzero": "(input, axis=None, keepdims=None, dtype=tf.int64, name=None)",
    "math.in_top_k": "nn.in_top_k(targets, predictions, k, name=None)",
    "math.l2_normalize": "nn.l2_normalize(x, axis=None, epsilon=1e-12, name=None)",
    "math.log_softmax": "nn.log_softmax(logits, axis=None, name=None)",
    "math.scalar_mul": "scalar_mul(scalar, x, name=None)",
    "math.softmax": "nn.softmax(logits, axis=None, name=None)",
    "nn.avg_pool": "nn.avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None)",
    "nn.avg_pool2d": "(input:value, ksize, strides, padding, data_format='NHWC', name=None)",
    "nn.batch_norm_with_global_normalization":
        "(input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization,"
        " name=None)",
    "nn.conv1d": "(input, filters, stride, padding, data_format='NWC', dilations=None, name=None)",
    "nn.conv2d":
        "(input, filters, strides, padding, data_format='NHWC', dilations=None, name=None)",
    "nn.conv2d_transpose":
        "(input, filters, output_shape, strides, padding='SAME', data_format='NHWC',"
        " dilations=None, name=None)",
    "nn.conv3d":
        "(input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None)",
    "nn.conv3d_transpose":
        "(input:value, filters, output_shape, strides, padding='SAME', data_format='NDHWC',"
        " dilations=None, name=None)",
    "nn.convolution":
        "(input, filters:filter, strides=None, padding='VALID', data_format=None, dilations=None,"
        " name=None)",
    "nn.crelu": "(features, axis=-1, name=None)",
    "nn.ctc_beam_search_decoder":
        "nn.ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1)",
    "nn.ctc_loss":
        "nn.ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major=True,"
        " unique=None, blank_index=None, name=None)",
    "nn.depth_to_space": "(input, block_size, data_format='NHWC', name=None)",
    "nn.depthwise_conv2d":
        "(input, filter, strides, padding, data_format=None, dilations=None, name=None)",
    "nn.dilation2d": "(input, filters, strides, padding, data_format:, dilations, name=None)",
    "nn.dropout": "(x, rate, noise_shape=None, seed=None, name=None)",
    "nn.embedding_lookup": "(params, ids, max_norm=None, name=None)",
    "nn.embedding_lookup_sparse":
        "(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None)",
    "nn.erosion2d":
        "(value, filters:kernel, strides, padding, data_format:, dilations:rates, name=None)",
    "nn.in_top_k": "(targets, predictions, k, name=None)",
    "nn.l2_normalize": "(x, axis=None, epsilon=1e-12, name=None)",
    "nn.log_softmax": "(logits, axis=None, name=None)",
    "nn.max_pool": "nn.max_pool_v2(input, ksize, strides, padding, data_format=None, name=None)",
    "nn.max_pool_with_argmax":
        "(input, ksize, strides, padding, data_format='NHWC', output_dtype=tf.int64,"
        " include_batch_in_index=False, name=None)",
    "nn.moments": "(x, axes, shift=None, keepdims=False, name=None)",
    "nn.nce_loss":
        "(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1,"
        " sampled_values=None, remove_accidental_hits=False, name='nce_loss')",
    "nn.pool":
        "(input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None,"
        " dilations=None, name=None)",
    "nn.safe_embedding_lookup_sparse":
        "(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None,"
        " max_norm=None, name=None)",
    "nn.sampled_softmax_loss":
        "(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1,"
        " sampled_values=None, remove_accidental_hits=True, seed=None,"
        " name='sampled_softmax_loss')",
    "nn.separable_conv2d":
        "(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None,"
        " dilations=None, name=None)",
    "nn.sigmoid_cross_entropy_with_logits": "(labels=None, logits=None, name=None)",
    "nn.softmax": "(logits, axis=None, name=None)",
    "nn.softmax_cross_entropy_with_logits":
        "nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=-1, name=None)",
    "nn.space_to_batch": "space_to_batch_nd(input, block_shape, paddings, name=None)",
    "nn.space_to_depth": "(input, block_size, data_format='NHWC', name=None)",
    "nn.sparse_softmax_cross_entropy_with_logits": "(labels, logits, name=None)",
    "nn.sufficient_statistics": "(x, axes, shift=None, keepdims=False, name=None)",
    "nn.weighted_cross_entropy_with_logits": "(labels, logits, pos_weight, name=None)",
    "nn.weighted_moments": "(x, axes, frequency_weights, keepdims=False, name=None)",
    "random.poisson": "(shape, lam, dtype=tf.float32, seed=None, name=None)",
    "random.set_seed": "random.set_random_seed(seed)",
    "sparse.add": "(a, b, threshold=0)",
    "sparse.concat": "(axis, sp_inputs, expand_nonconcat_dims=False, name=None)",
    "sparse.segment_mean": "(data, indices, segment_ids, num_segments=None, name=None)",
    "sparse.segment_sqrt_n": "(data, indices, segment_ids, num_segments=None, name=None)",
    "sparse.segment_sum": "(data, indices, segment_ids, num_segments=None, name=None)",
    "sparse.split": "(sp_input=None, num_split=None, axis=None, name=None)",
    "strings.length": "(input, unit='BYTE', name=None)",
    "strings.reduce_join": "(inputs, axis=None, keepdims=False, separator='', name=None)",
    "strings.split": "(input, sep=None, maxsplit=-1, name=None)",
    "strings.substr": "(input, pos, len, unit='BYTE', name=None)",
    "strings.to_hash_bucket": "(input, num_buckets, name=None)",
    "strings.to_number": "string_to_number(input, out_type=tf.float32, name=None)",
}  # fmt: skip
# What the second API takes for granted.
FIXED: dict[str, dict[str, Any]] = {
    "cond": {"strict": True},
    "gradients": {"colocate_gradients_with_ops": True},
    "hessians": {"colocate_gradients_with_ops": True},
    "nn.embedding_lookup": {"partition_strategy": "div"},
    "nn.embedding_lookup_sparse": {"partition_strategy": "div"},
    "nn.nce_loss": {"partition_strategy": "div"},
    "nn.safe_embedding_lookup_sparse": {"partition_strategy": "div"},
    "nn.sampled_softmax_loss": {"partition_strategy": "div"},
    "strings.split": {"result_type": "RaggedTensor"},
    "while_loop": {"return_same_structure": True},
}
