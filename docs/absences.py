"""Why op types and public names of TensorFlow 1.15 are absent: the tables behind docs/ops.md."""

from __future__ import annotations

_QUANTIZED = "tensors stored as quantized integers, which kernels here do not compute with"
_FIRST_ARRAYS = "the first form of TensorArray; 1.15 itself has no kernels for it, V2 and V3 are here"
_HANDLES = "later, sessions: values that stay with a session between steps"
_EAGER = "later, eager execution and the functions of TensorFlow 2"
_RAGGED = "later, ragged tensors: its result is one"
_FRAME = "later, the frame of a program: application, flags, logging, resources"
_QUANTIZED_TENSORS = _QUANTIZED

# Pattern of op types, why they are absent, and the public functions that make them.
OPS_ABSENT: list[tuple[str, str, tuple[str, ...]]] = [
    (r"TensorArray\w*", _FIRST_ARRAYS, ()),
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
    (r"CudnnRNN\w*", "cuDNN's packed weights; contrib's cells of that name are later, contrib", ()),
    (r"NcclAllReduce", "collectives of one machine's GPUs; `CollectiveReduce` takes its place", ()),
    (r"_Host(Send|Recv)", "the partitioner of TensorFlow adds them; here `_Send` and `_Recv`", ()),
    (r"EagerPyFunc", _EAGER, ("py_function",)),
    (r"Copy(Host)?", "TensorFlow's debugger adds them; here an observer of the step's program", ()),
    (r"RefSelect", "one of several references, chosen in a step; nothing public makes it", ()),
    (r"ImmutableConst", "a constant in a mapped file, for programs on phones", ()),
]  # fmt: skip

# Pattern of public names and why they are absent.
SYMBOLS_ABSENT: list[tuple[str, str]] = [
    (r"(delete|get)_session_(tensor|handle)", _HANDLES),
    (r"(app|flags|logging|resource_loader|sysconfig|version)\..*|get_logger", _FRAME),
    (r"(GIT|COMPILER|GRAPH_DEF)_VERSION\w*|CXX11_ABI_FLAG|MONOLITHIC_BUILD", _FRAME),
    (r"test\..*", "later, helpers of tests"),
    (r"user_ops\..*", "later, helpers of tests"),
    (r"layers\..*", "later, layers"),
    (r"compat\..*", "later, compatibility with Python 2 and TensorFlow 2"),
    (r"(estimator|feature_column)\..*|train\.VocabInfo", "later, estimators and feature columns"),
    (r"distributions\..*", "later, probability distributions"),
    (r"linalg\.LinearOperator\w*", "later, linear operators: classes above these ops"),
    (r"Ragged\w*|strings\.(bytes_split|ngrams|unicode_(decode|encode|split)\w*)", _RAGGED),
    (r"strings\.unicode_(script|transcode)", _RAGGED),
    (r"(IndexedSlices|Optional|Type)Spec|Module|GradientTape|function|wrap_function", _EAGER),
    (r"py_function|enable_(v2|control_flow_v2|tensor_equality)\w*", _EAGER),
    (r"(switch_case|vectorized_map|make_template)", "later, control flow: functions above it"),
    (r"nondifferentiable_batch_function", "later, serving: batches gathered over requests"),
    (r"saved_model\.(load_v2|save)", _EAGER),
    (r"load_(op_)?library|load_file_system_library", "loads C++ built for TensorFlow's runtime"),
    (r"LMDBReader", "needs LMDB's library, which is not a dependency"),
    (r"(de)?quantize(_v2)?|quantized_concat|quantization\.\w*quantize\w*", _QUANTIZED_TENSORS),
    (r"nn\.quantized_\w+", _QUANTIZED_TENSORS),
    (r"train\.do_quantize_training_on_graphdef", _QUANTIZED_TENSORS),
    (r"train\.experimental\.\w+", "later, training in mixed precision"),
    (r"train\.sdca_\w+", "later, linear models by dual coordinate ascent"),
    (r"io\.(de|en)code_proto", "messages of types that only descriptors name; decode in Python"),
]
