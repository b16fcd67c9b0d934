"""``tf.compat.v2``: what the second API shares with the first.

``SHARED`` are the names that are the very same object in both in TensorFlow 1.15, ``ADAPTED`` the
functions whose arguments have another order or other names there, ``OWN`` what is made for the
second API. Whatever else it has is absent, as is what
only the first one has: a program that asks ``hasattr(tf, "placeholder")`` is told which API it
holds.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import penstock
from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.foundation.base.other_names import also_known_as

SHARED = {
    "":
        "AggregationMethod Assert CriticalSection DType GradientTape Graph IndexedSlices"
        " IndexedSlicesSpec Module Operation OptionalSpec RaggedTensor RaggedTensorSpec"
        " RegisterGradient"
        " SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape"
        " TensorSpec TypeSpec UnconnectedGradients VariableSynchronization abs acos acosh add"
        " add_n argsort as_dtype as_string asin asinh atan atan2 atanh bfloat16 bitcast bool"
        " broadcast_dynamic_shape broadcast_static_shape broadcast_to cast clip_by_global_norm"
        " clip_by_norm clip_by_value enable_v2_behavior function"
        " complex complex128 complex64 concat control_dependencies"
        " cos cosh cumsum custom_gradient divide double dynamic_partition dynamic_stitch"
        " edit_distance einsum ensure_shape equal executing_eagerly exp extract_volume_patches"
        " eye fill fingerprint float16 float32 float64 floor foldl foldr get_logger"
        " get_static_value grad_pass_through greater greater_equal group guarantee_const half"
        " histogram_fixed_width histogram_fixed_width_bins identity identity_n import_graph_def"
        " init_scope int16 int32 int64 int8 is_tensor less less_equal linspace logical_and"
        " logical_not logical_or make_ndarray make_tensor_proto map_fn matmul matrix_square_root"
        " maximum meshgrid minimum multiply negative newaxis no_gradient no_op not_equal"
        " numpy_function one_hot ones parallel_stack pow print py_function qint16 qint32 qint8"
        " quint16 quint8 range rank realdiv recompute_grad register_tensor_conversion_function"
        " repeat required_space_to_batch_paddings reshape resource reverse roll round"
        " saturate_cast scan scatter_nd searchsorted sequence_mask shape_n sigmoid sign sin sinh"
        " slice sort space_to_batch_nd split sqrt square stack stop_gradient strided_slice"
        " string subtract switch_case tan tanh tensor_scatter_nd_add tensor_scatter_nd_sub"
        " tensor_scatter_nd_update tensordot tile timestamp truediv truncatediv truncatemod"
        " uint16 uint32 uint64 uint8 unique unique_with_counts unravel_index unstack variant"
        " vectorized_map zeros",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "audio": "decode_wav encode_wav",
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "debugging":
        "Assert assert_proper_iterable assert_same_float_dtype check_numerics is_numeric_tensor",
    "dtypes":
        "DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double"
        " float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8"
        " resource saturate_cast string uint16 uint32 uint64 uint8 variant",
    "errors":
        "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError"
        " DATA_LOSS DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION"
        " FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError"
        " NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED"
        " PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED"
        " UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError"
        " UnimplementedError UnknownError",
    "graph_util": "import_graph_def",
    "image":
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality"
        " adjust_saturation central_crop combined_non_max_suppression convert_image_dtype"
        " crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif decode_image"
        " decode_jpeg decode_png encode_jpeg encode_png extract_jpeg_shape extract_patches"
        " flip_left_right flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg"
        " non_max_suppression non_max_suppression_overlaps non_max_suppression_padded"
        " non_max_suppression_with_scores pad_to_bounding_box per_image_standardization psnr"
        " random_brightness random_contrast random_crop random_flip_left_right"
        " random_flip_up_down random_hue random_jpeg_quality random_saturation"
        " resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90"
        " sobel_edges ssim ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb",
    "io":
        "FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordOptions TFRecordWriter"
        " VarLenFeature decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed"
        " decode_gif decode_image decode_jpeg decode_json_example decode_png decode_proto"
        " deserialize_many_sparse encode_base64 encode_jpeg encode_proto extract_jpeg_shape"
        " is_jpeg match_filenames_once matching_files parse_sequence_example"
        " parse_single_sequence_example parse_tensor read_file serialize_tensor write_file"
        " write_graph",
    "io.gfile":
        "GFile copy exists glob isdir listdir makedirs mkdir remove rename rmtree stat walk",
    "linalg":
        "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorCirculant"
        " LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition"
        " LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder"
        " LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker"
        " LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity"
        " LinearOperatorToeplitz LinearOperatorZeros adjoint band_part cholesky cholesky_solve"
        " cross det diag diag_part eigh eigvalsh einsum expm eye global_norm inv logdet logm"
        " lstsq lu matmul matrix_rank matrix_transpose matvec normalize pinv qr set_diag slogdet"
        " solve sqrtm svd tensor_diag tensor_diag_part tensordot trace triangular_solve"
        " tridiagonal_matmul tridiagonal_solve",
    "math":
        "abs accumulate_n acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0"
        " bessel_i0e bessel_i1 bessel_i1e betainc ceil conj cos cosh cumprod cumsum"
        " cumulative_logsumexp digamma divide divide_no_nan equal erf erfc exp expm1 floor"
        " floordiv floormod greater greater_equal igamma igammac imag invert_permutation"
        " is_finite is_inf is_nan is_non_decreasing is_strictly_increasing lbeta less less_equal"
        " lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum"
        " minimum mod multiply multiply_no_nan negative nextafter not_equal polygamma polyval"
        " pow real reciprocal reciprocal_no_nan reduce_euclidean_norm reduce_std reduce_variance"
        " rint round rsqrt segment_max segment_mean segment_min segment_prod segment_sum sigmoid"
        " sign sin sinh softplus softsign sqrt square squared_difference subtract tan tanh top_k"
        " truediv unsorted_segment_max unsorted_segment_mean unsorted_segment_min"
        " unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlogy"
        " zero_fraction zeta",
    "nn":
        "all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d"
        " batch_normalization bias_add collapse_repeated compute_accidental_hits"
        " compute_average_loss conv1d_transpose conv_transpose ctc_greedy_decoder"
        " ctc_unique_labels depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input elu"
        " fixed_unigram_candidate_sampler l2_loss leaky_relu learned_unigram_candidate_sampler"
        " local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d max_pool3d"
        " normalize_moments relu relu6 scale_regularization_loss selu sigmoid softplus softsign"
        " swish tanh top_k with_space_to_batch zero_fraction",
    "quantization":
        "dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient"
        " fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient"
        " fake_quant_with_min_max_vars_per_channel"
        " fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_and_dequantize"
        " quantized_concat",
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged":
        "boolean_mask constant map_flat_values range row_splits_to_segment_ids"
        " segment_ids_to_row_splits stack stack_dynamic_partitions",
    "random":
        "all_candidate_sampler categorical fixed_unigram_candidate_sampler gamma"
        " learned_unigram_candidate_sampler log_uniform_candidate_sampler normal shuffle"
        " stateless_categorical stateless_normal stateless_truncated_normal stateless_uniform"
        " truncated_normal uniform uniform_candidate_sampler",
    "sets": "difference intersection size union",
    "signal":
        "dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d"
        " ifftshift inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d"
        " linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add rfft"
        " rfft2d rfft3d stft",
    "sparse":
        "SparseTensor cross cross_hashed expand_dims eye fill_empty_rows from_dense mask"
        " maximum minimum reorder reset_shape reshape retain slice softmax sparse_dense_matmul"
        " to_dense to_indicator transpose",
    "strings":
        "as_string bytes_split format join lower ngrams regex_full_match regex_replace strip"
        " to_hash_bucket_fast to_hash_bucket_strong unicode_decode unicode_decode_with_offsets"
        " unicode_encode unicode_script unicode_split unicode_split_with_offsets"
        " unicode_transcode unsorted_segment_join upper",
    "test":
        "Benchmark TestCase benchmark_config create_local_cluster gpu_device_name"
        " is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_gpu_available main",
    "train":
        "BytesList CheckpointManager ClusterDef ClusterSpec Coordinator Example"
        " ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List"
        " JobDef SequenceExample ServerDef checkpoints_iterator get_checkpoint_state"
        " latest_checkpoint list_variables load_checkpoint load_variable",
    "version":
        "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER"
        " GRAPH_DEF_VERSION_MIN_PRODUCER VERSION",
    # These have methods of the first API as well.
    "data": "Dataset FixedLengthRecordDataset Options TFRecordDataset TextLineDataset",
    "data.experimental":
        "AUTOTUNE DistributeOptions INFINITE_CARDINALITY MapVectorizationOptions"
        " OptimizationOptions Optional Reducer StatsOptions TFRecordWriter ThreadingOptions"
        " UNKNOWN_CARDINALITY bucket_by_sequence_length bytes_produced_stats cardinality"
        " copy_to_device dense_to_sparse_batch enumerate_dataset from_variant"
        " get_next_as_optional get_single_element get_structure group_by_reducer group_by_window"
        " ignore_errors latency_stats make_saveable_from_iterator map_and_batch"
        " parallel_interleave parse_example_dataset prefetch_to_device rejection_resample scan"
        " shuffle_and_repeat take_while to_variant unbatch unique",
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "distribute":
        "MirroredStrategy OneDeviceStrategy Strategy get_replica_context get_strategy has_strategy"
        " in_cross_replica_context",
}  # fmt: skip

# The arguments of the second API in their order; NEW=OLD where one is named otherwise in the first.
_REDUCED = "input_tensor axis keepdims name"
_LAYER = "logits axis name"
ADAPTED = {
    "argmax": "input axis output_type name",
    "argmin": "input axis output_type name",
    "boolean_mask": "tensor mask axis name",
    "autograph.to_code": "entity recursive experimental_optional_features",
    "autograph.to_graph": "entity recursive experimental_optional_features",
    "case": "pred_fn_pairs default exclusive strict name",
    "cond": "pred true_fn false_fn name",
    "constant": "value dtype shape name",
    "convert_to_tensor": "value dtype dtype_hint name",
    "expand_dims": "input axis name",
    "gather": "params indices validate_indices axis batch_dims name",
    "gather_nd": "params indices batch_dims name",
    "name_scope": "name",
    "norm": "tensor ord axis keepdims name",
    "ones_like": "input=tensor dtype name",
    "pad": "tensor paddings mode constant_values name",
    **{
        f"reduce_{each}": _REDUCED
        for each in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
    "shape": "input out_type name",
    "size": "input out_type name",
    "squeeze": "input axis name",
    "transpose": "a perm conjugate name",
    "while_loop":
        "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory"
        " maximum_iterations name",
    "zeros_like": "input=tensor dtype name",
    "math.argmax": "input axis output_type name",
    "math.argmin": "input axis output_type name",
    **{
        f"math.reduce_{each}": _REDUCED
        for each in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
    "nn.conv2d": "input filters strides padding data_format dilations name",
    "nn.dropout": "x rate noise_shape seed name",
    "nn.embedding_lookup": "params ids max_norm name",
    "nn.l2_normalize": "x axis epsilon name",
    "nn.log_softmax": _LAYER,
    "nn.moments": "x axes shift keepdims name",
    "nn.safe_embedding_lookup_sparse":
        "embedding_weights sparse_ids sparse_weights combiner default_id max_norm name",
    "nn.sigmoid_cross_entropy_with_logits": "labels logits name",
    "nn.softmax": _LAYER,
    "nn.sparse_softmax_cross_entropy_with_logits": "labels logits name",
    "strings.split": "input sep maxsplit name",
    "strings.length": "input unit name",
    "strings.substr": "input pos len unit name",
    "strings.to_hash_bucket": "input num_buckets name",
}  # fmt: skip
# What the second API takes for granted.
_FIXED: dict[str, dict[str, Any]] = {
    "cond": {"strict": True},
    "nn.embedding_lookup": {"partition_strategy": "div"},
    "nn.safe_embedding_lookup_sparse": {"partition_strategy": "div"},
    "strings.split": {"result_type": "RaggedTensor"},
    "while_loop": {"return_same_structure": True},
}


@functools.cache
def _variable() -> Any:
    base: Any = _public("contrib.eager.Variable")

    class Variable(base):  # type: ignore[misc]
        """A resource variable; its arguments have the order of the second API."""

        def __init__(
            self, initial_value: Any = None, trainable: Any = None, validate_shape: bool = True,
            caching_device: Any = None, name: Any = None, variable_def: Any = None,
            dtype: Any = None, import_scope: Any = None, constraint: Any = None, **kwargs: Any,
        ) -> None:  # fmt: skip
            super().__init__(
                initial_value=initial_value, trainable=trainable, validate_shape=validate_shape,
                caching_device=caching_device, name=name, variable_def=variable_def, dtype=dtype,
                import_scope=import_scope, constraint=constraint, **kwargs,
            )  # fmt: skip

    return Variable


# What the second API has another one of: made when it is asked for.
OWN: dict[str, Callable[[], Any]] = {
    "Variable": _variable,
    "train.Checkpoint": lambda: _public("train.Checkpoint"),
    "saved_model.load": lambda: _public("saved_model.load_v2"),
    "saved_model.save": lambda: _public("saved_model.save"),
    "compat": lambda: penstock.compat,
}


# Namespaces that are the first API's: its classes under the second's paths.  Where the second has
# another default (recurrent layers, normalization), it is that of the first.
ALIASED = {"keras"}


def _public(name: str) -> Any:
    return functools.reduce(getattr, name.split("."), penstock)


def _adapted(name: str) -> Callable[..., Any]:
    pairs = [each.partition("=") for each in ADAPTED[name].split()]
    order = {new: old or new for new, _, old in pairs}
    function, fixed = _public(name), _FIXED.get(name, {})

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(order, args))
        wrong = [each for each in kwargs if each not in order or each in given]
        if len(args) > len(order) or wrong:
            text = f"{name}() of tf.compat.v2 takes {', '.join(order)}, each once"
            raise TypeError(f"{text}; found {len(args)} by place and {', '.join(kwargs) or 'none'}")
        given |= kwargs
        return function(**{order[new]: value for new, value in given.items()}, **fixed)

    return called


def names(namespace: str) -> set[str]:
    """What a namespace of the second API has; ``''`` is the API itself."""
    own = set(SHARED.get(namespace, "").split()) | (set() if namespace else ALIASED)
    prefix = f"{namespace}." if namespace else ""
    for name in {*ADAPTED, *OWN, *(each for each in SHARED if each)}:
        if name.startswith(prefix):
            own.add(name.removeprefix(prefix).partition(".")[0])
    return own


def find(namespace: str, name: str) -> Any:
    """What a namespace has under a name.

    Raises:
      AttributeError: if it has no such name.
    """
    full = f"{namespace}.{name}" if namespace else name
    if name in SHARED.get(namespace, "").split():
        return _public(full)
    if full in ADAPTED:
        return _adapted(full)
    if full in ALIASED:
        return _public(full)
    if full in OWN:
        return OWN[full]()
    if name in names(namespace):
        return _Namespace(full)
    near = close_to(name, names(namespace))
    hint = f"; the nearest names are {', '.join(near)}" if near else ""
    path = f"tensorflow.compat.v2.{namespace}".rstrip(".")
    raise missing_attribute(
        f"module {path!r} has no attribute {name!r}{hint}; Penstock has of the second API what it"
        " shares with the first"
    )


class _Namespace(ModuleType):
    """``tf.compat.v2.math`` and so on; a name that was found once is its attribute."""

    def __init__(self, namespace: str) -> None:
        name = f"{__name__}.{namespace}"
        super().__init__(name, f"What ``tf.{namespace}`` of the second API shares with the first.")
        self.__path__: list[str] = []
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        value = find(self._namespace, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted(names(self._namespace))


def __getattr__(name: str) -> Any:
    value = find("", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(names(""))


__path__: list[str] = []
also_known_as(sys.modules[__name__], __name__)
