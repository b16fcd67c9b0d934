"""Where public names differ from TensorFlow 1.15's on purpose, each pattern with its reason."""

from __future__ import annotations

_CELL = r"((contrib|nn)\.rnn(_cell)?|contrib\.(seq2seq|crf|model_pruning))\.\w+\."

DIFFERENT: list[tuple[str, str]] = [
    # Values.
    (r"(version\.)?(COMPILER|GIT)_VERSION", "of this build"),
    (r"(sysconfig\.)?CXX11_ABI_FLAG", "of this build: that of torch's libraries"),
    # One argument more.
    ("convert_to_tensor", "one more argument by keyword, as_ref"),
    ("train.Saver", "two more arguments, last: format and durable"),
    (r"estimator\.RunConfig", "one more argument, last: durable"),
    (_CELL + "from_config", "one more argument, last: custom_objects"),
    (r"contrib\.eager\.Variable(\.assign(_add|_sub)?)?", "defaults say what None means there"),
    (
        r"estimator\.BoostedTrees(Classifier|Regressor)"
        r"|contrib\.estimator\.boosted_trees_\w+_train_in_memory",
        "the defaults of n_classes and label_dimension are what an object stands for there",
    ),
    (r"contrib\.eager\.make_template", "tf.make_template, without create_graph_function_"),
    # Other arguments.
    ("Variable", "a metaclass makes reference and resource variables; see variables.variable"),
    ("Operation", "made by Graph.create_op and never by users; there is no NodeDef behind it"),
    ("flags.UnrecognizedFlagError", "absl's, in a later release than TensorFlow 1.15 was run with"),
    (
        r"contrib\.data\.(make_batched|read_batch)_features\w*",
        "the reader is TFRecordDataset, which has no other version here",
    ),
    (
        r"contrib\.(layers|slim)\.legacy_relu",
        "a partial, as there: what follows the argument that it sets is given by keyword",
    ),
    (
        r"contrib\.learn\.\w+\.(export|export_with_defaults|get_params|set_params|model_fn|predict)",
        "export (deprecated then) and the parameters of scikit-learn are not there yet; classifiers"
        " and regressors take iterate_batches as well",
    ),
    (
        r"contrib\.learn\.\w+\.export_savedmodel",
        "without rewriting the graph and leaving out default attrs",
    ),
    (
        r"contrib\.learn\.DNN(LinearCombined)?Regressor\.evaluate",
        "that of all estimators: one more argument, last",
    ),
    (
        r"contrib\.learn\.DNN(Classifier|Estimator|Regressor)",
        "without multipliers of embeddings' rates and the least size of a part of the input layer",
    ),
    (
        r"contrib\.learn\.Experiment\.(continuous_eval_on_train_data|continuous_train_and_eval"
        r"|local_run|reset_export_strategies|run_std_server)",
        "not there yet: train_and_evaluate, continuous_eval and tf.train.Server are",
    ),
    # Cells.
    (_CELL + "build", "the name of the argument is lost there, in a decorator"),
    (
        _CELL + r"(?<=Wrapper\.)call",
        "takes the state as well; theirs is Layer's, which is not called",
    ),
]
