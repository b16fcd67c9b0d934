"""Why names and op types of TensorFlow 1.15 are absent: the tables behind two generated pages."""

from __future__ import annotations

# Pattern of op types, why they are absent, and the public functions that make them.
OPS_ABSENT: list[tuple[str, str, tuple[str, ...]]] = [
    (r"NcclAllReduce", "only for GPUs of one machine; `CollectiveReduce` is the general one", ()),
    (r"_Host(Send|Recv)", "only TensorFlow's partitioner adds them; here `_Send` and `_Recv`", ()),
    (r"RefSelect", "one of several references, chosen in a step; nothing public makes it", ()),
]  # fmt: skip

# Pattern of public names and why they are absent.
SYMBOLS_ABSENT: list[tuple[str, str]] = [
    (r"enable_control_flow_v2", "conditionals and loops are built of TensorFlow 1's nodes"),
    (r"train\.do_quantize_training_on_graphdef", "a rewrite of graphs for TensorFlow's runtime"),
]

_RARE = "hardly any program used it"
_LEARN = "later: contrib.learn's estimators and monitors; `tf.estimator` is here"
_BUILT_FOR = "made for another runtime or machine"
_KERAS = "later, with the rest of tf.keras"

# Pattern of names of tf.contrib, and why they are absent. Rows that nothing needs are left out.
CONTRIB_ABSENT: list[tuple[str, str]] = [
    (r"contrib\.(specs|labeled_tensor|timeseries|grid_rnn|bayesflow|kfac)\b.*", _RARE),
    (r"contrib\.(input_pipeline|proto|recurrent)\b.*", _RARE),
    (
        r"contrib\.(factorization|tensor_forest|boosted_trees)\b.*",
        f"{_RARE}: models trained by kernels of their own",
    ),
    (r"contrib\.ffmpeg\..*", "needs the program ffmpeg; `tf.audio.decode_wav` is here"),
    (r"contrib\.(memory_stats|compiler)\b.*", f"{_BUILT_FOR}: TensorFlow's allocators and XLA"),
    (
        r"contrib\.learn\.KMeansClustering",
        "later: clusters that full and small batches move; contrib.factorization's kernels",
    ),
    (r"contrib\.learn\b.*", _LEARN),
    (r"contrib\.skflow\b.*", _LEARN),
    (r"contrib\.tpu\b.*", "later: TPUEstimator on CPU and GPU, and its kin"),
    (r"contrib\.keras\b.*", f"{_KERAS}, whose older name it is"),
    (r"contrib\.(seq2seq)\b.*", "of TensorFlow 1.0 only: `tf.contrib.seq2seq` has its successors"),
    (r"contrib\.slim\b.*", "later: nets and data of slim"),
    (r"contrib\.image\b.*", "later: contrib.image's stereograms"),
    (
        r"contrib\.distribute\.(TPUStrategy|initialize_tpu_system)",
        f"{_BUILT_FOR}: Cloud TPUs",
    ),
    (
        r"contrib\.autograph\.StackTraceMapper",
        "what TensorFlow's converter tells itself; functions are converted by Penstock's own",
    ),
    (r"contrib\.\w+\b.*", "later, by how many programs use it"),
]

# Pattern of names that public programs use and that are not covered by the tables above.
USAGE_ABSENT: list[tuple[str, str]] = [
    *CONTRIB_ABSENT,
    (r"(keras|compat\.v2\.keras|python\.keras)\..*", _KERAS),
    (r"compat\.v2\..*", "of TensorFlow 2: `tf.compat.v2` has what is the same thing in both"),
    (r"profiler\.experimental\..*", "of TensorFlow 2.2; `tf.profiler.Profiler` is here"),
    (r"LegacySyncReplicasOptimizer", "gone before 1.0: write `tf.train.SyncReplicasOptimizer`"),
    (
        r"examples\.saved_model\.integration_tests\.util\..*",
        "not in TensorFlow 1.15, whose package has only `mnist_util` there",
    ),
    (
        r"examples\.adding_an_op\..*",
        "shows how C++ is made an op; `tf.load_op_library` takes ops in Python",
    ),
    (r"core\.util\.test_log_pb2\..*", "a message of TensorFlow's own test logs"),
    (r"python\.compiler\.tensorrt\..*", f"{_BUILT_FOR}: TensorRT"),
    (r"python\.tpu\.client\..*", f"{_BUILT_FOR}: Cloud TPUs"),
    (
        r"python\.debug\.TensorBoardDebugWrapperSession",
        "TensorBoard's debugger plugin is gone; the dumping and CLI wrappers are here",
    ),
]
