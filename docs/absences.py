"""Why op types and public names of TensorFlow 1.15 are absent: the tables behind docs/ops.md."""

from __future__ import annotations

_EAGER = "later, eager execution and the functions of TensorFlow 2"

# Pattern of op types, why they are absent, and the public functions that make them.
OPS_ABSENT: list[tuple[str, str, tuple[str, ...]]] = [
    (r"CudnnRNN\w*", "cuDNN's packed weights; 1.15 has no kernel of them for the CPU", ()),
    (r"NcclAllReduce", "only for GPUs of one machine; `CollectiveReduce` is the general one", ()),
    (r"_Host(Send|Recv)", "only TensorFlow's partitioner adds them; here `_Send` and `_Recv`", ()),
    (r"RefSelect", "one of several references, chosen in a step; nothing public makes it", ()),
]  # fmt: skip

# Pattern of public names and why they are absent.
SYMBOLS_ABSENT: list[tuple[str, str]] = [
    (r"estimator\.\w*Head", "later, with Keras's metrics, which they are made of"),
    (r"estimator\.BoostedTrees\w*", "later, boosted trees: 1.15's ops of them are not there"),
    (r"function|wrap_function", _EAGER),
    (r"enable_(v2|control_flow_v2|tensor_equality)\w*", _EAGER),
    (r"saved_model\.(load_v2|save)|train\.experimental\.PythonState", _EAGER),
    (r"nondifferentiable_batch_function", "later, serving: batches gathered over requests"),
    (r"load_(op_)?library|load_file_system_library", "loads C++ built for TensorFlow's runtime"),
    (r"LMDBReader", "needs LMDB's library, which is not a dependency"),
    (r"train\.do_quantize_training_on_graphdef", "a rewrite of graphs for TensorFlow's runtime"),
    (r"train\.sdca_\w+", "later, linear models by dual coordinate ascent"),
    (r"debugging\.\w+_log_device_placement", _EAGER),
]
