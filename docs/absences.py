"""Why op types and public names of TensorFlow 1.15 are absent: the tables behind docs/ops.md."""

from __future__ import annotations

_QUANTIZED = "tensors stored as quantized integers; the kernels here compute with none"
_FIRST_ARRAYS = "the first form of TensorArray, which no public function makes; V2 and V3 are here"
_HANDLES = "later, sessions: values that stay with a session between steps"
_EAGER = "later, eager execution and the functions of TensorFlow 2"
_RAGGED = "later, ragged tensors: its result is one"
_TEXT = "later, strings: conversions between encodings of Unicode"
_FRAME = "later, the frame of a program: application, flags, logging, resources"
_BUILD = "later, the frame of a program: versions and how it was built"
_SIGNAL = "later, signals: windows, frames and their transforms"
_SOUND = "later, sound: spectrograms of waves; `tf.signal` has the transforms below them"
_BEYOND = "its op type is not in TensorFlow's list, and no repository uses it"
_RANKS = "later, metrics: precision and recall among the first k of a ranking"

# Pattern of op types, why they are absent, and the public functions that make them.
OPS_ABSENT: list[tuple[str, str, tuple[str, ...]]] = [
    (r"TensorArray(?!V)\w*", _FIRST_ARRAYS, ()),
    (
        r"(Delete|Get)Session(Tensor|Handle|HandleV2)",
        _HANDLES,
        ("get_session_handle", "get_session_tensor", "delete_session_tensor"),
    ),
    (
        r"Quantize(V2|d\w+|DownAndShrinkRange)|Dequantize|Requanti\w+",
        _QUANTIZED,
        (
            "quantize", "quantize_v2", "dequantize", "quantization.quantize",
            "quantization.dequantize", "nn.quantized_conv2d", "nn.quantized_max_pool",
            "nn.quantized_relu_x",
        ),
    ),
    (r"CudnnRNN\w*", "cuDNN's packed weights; 1.15 has no kernel of them for the CPU", ()),
    (r"NcclAllReduce", "only for GPUs of one machine; `CollectiveReduce` is the general one", ()),
    (r"_Host(Send|Recv)", "only TensorFlow's partitioner adds them; here `_Send` and `_Recv`", ()),
    (r"EagerPyFunc", _EAGER, ("py_function",)),
    (r"Copy(Host)?", "only TensorFlow's debugger adds them; steps here are observed instead", ()),
    (r"RefSelect", "one of several references, chosen in a step; nothing public makes it", ()),
    (r"ImmutableConst", "a constant in a mapped file; nothing public makes it", ()),
    (r"AudioSpectrogram|Mfcc", _SOUND, ()),
    (r"Einsum", "later functions make it; in 1.15 `tf.einsum` makes products, which is here", ()),
    (r"Fact", "TensorFlow's example of an op of the user's", ("user_ops.my_fact",)),
    (r"Fused\w*PadConv2D", "only a tool for frozen graphs makes them, of nodes that are here", ()),
    (r"NonDeterministicInts", "seeds of the random generators of TensorFlow 2", ()),
    (r"PlaceholderV2", "nothing public makes it; `tf.placeholder` makes Placeholder", ()),
    (r"TensorStridedSliceUpdate", "nothing public makes it; slices of variables are here", ()),
]  # fmt: skip

# Pattern of public names and why they are absent.
SYMBOLS_ABSENT: list[tuple[str, str]] = [
    (r"(delete|get)_session_(tensor|handle)", _HANDLES),
    (r"(app|flags|logging|resource_loader)\..*|get_logger", _FRAME),
    (r"(sysconfig|version)\..*|(GIT|COMPILER|GRAPH_DEF)_VERSION\w*", _BUILD),
    (r"CXX11_ABI_FLAG|MONOLITHIC_BUILD", _BUILD),
    (r"test\..*", "later, helpers of tests"),
    (r"user_ops\..*", "TensorFlow's example of an op of the user's"),
    (r"layers\..*", "later, layers"),
    (r"compat\..*", "later, compatibility with Python 2 and TensorFlow 2"),
    (r"(estimator|feature_column)\..*|train\.VocabInfo", "later, estimators and feature columns"),
    (r"distributions\..*", "later, probability distributions"),
    (r"linalg\.LinearOperator\w*", "later, linear operators: classes above these ops"),
    (r"linalg\.(matrix_rank|pinv)", "later, linear algebra: functions above the decompositions"),
    (r"Ragged\w*|strings\.(bytes_split|ngrams|unicode_(decode|split)\w*)", _RAGGED),
    (r"strings\.unicode_encode", "later, ragged tensors: it takes one"),
    (r"strings\.unicode_(script|transcode)", _TEXT),
    (r"(IndexedSlices|Optional|Type)Spec|Module|GradientTape|function|wrap_function", _EAGER),
    (r"py_function|enable_(v2|control_flow_v2|tensor_equality)\w*", _EAGER),
    (r"saved_model\.(load_v2|save)", _EAGER),
    (r"switch_case|vectorized_map|make_template", "later, control flow: functions above it"),
    (r"nondifferentiable_batch_function", "later, serving: batches gathered over requests"),
    (r"load_(op_)?library|load_file_system_library", "loads C++ built for TensorFlow's runtime"),
    (r"LMDBReader", "needs LMDB's library, which is not a dependency"),
    (r"(de)?quantize(_v2)?|quantized_concat|quantization\.\w*quantize\w*", _QUANTIZED),
    (r"nn\.quantized_\w+|train\.do_quantize_training_on_graphdef", _QUANTIZED),
    (r"train\.experimental\.\w+", "later, training in mixed precision"),
    (r"train\.sdca_\w+", "later, linear models by dual coordinate ascent"),
    (r"nn\.(compute_average_loss|scale_regularization_loss)", "later, losses over replicas"),
    (r"nn\.(collapse_repeated|ctc_\w+)", "later, CTC: the loss of TensorFlow 2 and its parts"),
    (r"signal\.\w+|spectral\.i?dct", _SIGNAL),
    (r"metrics\.\w*_at_(top_)?k", _RANKS),
    (r"math\.(bessel_\w+|nextafter)|(io\.)?decode_compressed", _BEYOND),
    (r"sparse\.cross\w*|linalg\.tridiagonal_matmul|io\.(de|en)code_proto", _BEYOND),
    (r"io\.is_jpeg", "the same function is here as `tf.image.is_jpeg`"),
    (r"TensorInfo", "the message is in `tensorboard.compat.proto.meta_graph_pb2`"),
    (r"debugging\.\w+_log_device_placement", _EAGER),
    (r"initializers\.identity", "later, initializers: the identity matrix"),
]
