"""Programs with estimators, for TensorFlow and Penstock (and Python 3.7).

As a program, ``python programs.py OUTPUT.json`` writes what TensorFlow 1.15 makes of them.
"""

import functools
import glob
import json
import os
import sys
import tempfile

import numpy as np

X = np.random.RandomState(0).randn(40, 2).astype("float32")
Y = (X @ np.array([[1.0], [-2.0]], "float32") + 0.5).astype("float32")


def model_fn(tf, features, labels, mode, params, config):
    """A linear model from known initial values."""
    x = features["x"] if isinstance(features, dict) else features
    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    predictions = {"y": y, "twice": 2.0 * y}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {
            "predict": tf.estimator.export.PredictOutput(predictions),
            "serving_default": tf.estimator.export.RegressionOutput(y),
        }
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, y)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    train = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train, metrics)


def estimator(tf, folder=None, **config):
    config = tf.estimator.RunConfig(tf_random_seed=1, log_step_count_steps=5, **config)

    def bound(features, labels, mode, params, config):
        return model_fn(tf, features, labels, mode, params, config)

    folder = folder or tempfile.mkdtemp()
    return tf.estimator.Estimator(bound, folder, config, params={"rate": 0.1})


def arrays(tf, epochs=None, **more):
    return tf.estimator.inputs.numpy_input_fn(
        {"x": X}, Y, batch_size=8, num_epochs=epochs, shuffle=False, **more
    )


def dataset(tf, repeat=None):
    def input_fn(params):
        assert list(params) == ["rate"]
        data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeat)
        return data.batch(8)

    return input_fn


def watching(tf):
    """A hook that notes the graph of a session and the values of losses."""

    class Watch(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            self.nodes = [
                [op.name, op.type, [i.name for i in op.inputs], op.device]
                for op in session.graph.get_operations()
            ]
            self.keys = sorted(k for k in session.graph.get_all_collection_keys() if k[0] != "_")

    return Watch()


def files_of(folder):
    """Files below a folder, without the times and hosts in their names."""
    found = []
    for path in sorted(glob.glob(folder + "/**", recursive=True)):
        name = path[len(folder) :]
        parts = ["TIME" if p.isdigit() and len(p) == 10 else p for p in name.split("/")]
        if parts[-1].startswith("events."):
            parts[-1] = "EVENTS"
        # A checkpoint that is saved again has its data under another number here.
        parts[-1] = parts[-1].split(".data-")[0]
        found.append("/".join(parts))
    return sorted(set(found))


def events_of(tf, folder):
    found = []
    for path in sorted(glob.glob(folder + "/**/events*", recursive=True)):
        for event in tf.train.summary_iterator(path):
            values = [
                [v.tag, v.WhichOneof("value"), v.simple_value if "sec" not in v.tag else 0]
                for v in event.summary.value
                if "fraction" not in v.tag  # as far as the threads have come
            ]
            found.append([event.WhichOneof("what"), event.step, values, event.session_log.status])
    return found


def exported(tf, folder):
    """Tags, signatures and nodes of a SavedModel."""
    with open(os.path.join(tf.compat.as_text(folder), "saved_model.pb"), "rb") as file:
        message = tf.SavedModel() if hasattr(tf, "SavedModel") else _saved_model()
        message.ParseFromString(file.read())
    found = []
    for graph in message.meta_graphs:
        signatures = {
            key: [
                s.method_name,
                {k: [v.name, v.dtype, [d.size for d in v.tensor_shape.dim]]
                 for k, v in s.inputs.items()},
                {k: [v.name, v.dtype, [d.size for d in v.tensor_shape.dim]]
                 for k, v in s.outputs.items()},
            ]
            for key, s in graph.signature_def.items()
        }  # fmt: skip
        nodes = [[n.name, n.op, list(n.input)] for n in graph.graph_def.node]
        keys = sorted(graph.collection_def)
        found.append([list(graph.meta_info_def.tags), signatures, nodes, keys])
    return found


def _saved_model():
    try:
        from tensorflow.core.protobuf import saved_model_pb2 as module

        return module.SavedModel()
    except ImportError:
        from penstock.foundation.formats.schema import SavedModel

        return SavedModel()


# ---- programs ------------------------------------------------------------------------------------


def queue_fed(tf):
    """Training, evaluation, prediction with arrays fed through a queue."""
    made = estimator(tf, save_checkpoints_steps=10)
    watch = watching(tf)
    made.train(arrays(tf), hooks=[watch], steps=25)
    seen = watching(tf)
    metrics = made.evaluate(arrays(tf, epochs=1), hooks=[seen], name="test")
    few = made.evaluate(arrays(tf, epochs=1), steps=2)
    predicting = watching(tf)
    predicted = list(made.predict(arrays(tf, epochs=1), hooks=[predicting]))
    files, events = files_of(made.model_dir), events_of(tf, made.model_dir)
    return {
        "train": watch.nodes, "train_keys": watch.keys, "eval": seen.nodes, "metrics": metrics,
        "few": few, "predict": predicting.nodes, "predicted": [p["twice"] for p in predicted],
        "files": files, "events": events, "names": made.get_variable_names(),
        "w": made.get_variable_value("w"), "latest": os.path.basename(made.latest_checkpoint()),
        "eval_dir": os.path.basename(made.eval_dir("some")),
    }  # fmt: skip


def dataset_fed(tf):
    """The same with a dataset, which ends training; training goes on from the checkpoint."""
    made = estimator(tf, save_checkpoints_secs=1000, keep_checkpoint_max=2)
    watch = watching(tf)
    made.train(dataset(tf, repeat=2), hooks=[watch])
    first = made.get_variable_value("w")
    made = estimator(tf, made.model_dir)
    made.train(dataset(tf), max_steps=14)
    made.train(dataset(tf), max_steps=14)  # nothing to do
    made.train(dataset(tf), steps=2)
    keyed = list(made.predict(dataset(tf, repeat=1), predict_keys=["y"]))
    batches = list(made.predict(dataset(tf, repeat=1), yield_single_examples=False))
    metrics = made.evaluate(dataset(tf, repeat=1))
    earlier = made.evaluate(
        dataset(tf, repeat=1), checkpoint_path=made.model_dir + "/model.ckpt-14"
    )
    return {
        "train": watch.nodes, "first": first, "w": made.get_variable_value("w"),
        "keyed": keyed, "batches": [sorted(b) + [len(b["y"])] for b in batches],
        "metrics": metrics, "earlier": earlier, "files": files_of(made.model_dir),
    }  # fmt: skip


def exports(tf):
    """SavedModels of all modes, with all kinds of receivers."""
    made = estimator(tf).train(dataset(tf), steps=3)
    spec = {"x": tf.FixedLenFeature([2], tf.float32)}
    with tf.Graph().as_default():
        raw = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [7, 2], name="given")}
        )
        labelled = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [7, 2], name="given")},
            tf.placeholder(tf.float32, [7, 1], name="wanted"), 5,
        )  # fmt: skip
    parsing = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)

    def alternative():
        examples = tf.placeholder(tf.string, [None], name="examples")
        features = tf.parse_example(examples, spec)
        return tf.estimator.export.ServingInputReceiver(
            features, {"examples": examples}, {"direct": {"x": features["x"]}}
        )

    folder = tempfile.mkdtemp()
    extra = os.path.join(folder, "extra.txt")
    with open(extra, "w") as file:
        file.write("more")
    plain = made.export_savedmodel(folder + "/a", raw, assets_extra={"deep/one.txt": extra})
    return {
        "raw": exported(tf, plain), "files": files_of(folder),
        "parsing": exported(tf, made.export_saved_model(folder + "/b", parsing)),
        "alternative": exported(tf, made.export_saved_model(folder + "/c", alternative)),
        "all": exported(tf, made.experimental_export_all_saved_models(
            folder + "/d", {"train": labelled, "eval": labelled, "infer": raw})),
    }  # fmt: skip


def warm_started(tf):
    """A model that begins with an earlier one's variables."""
    earlier = estimator(tf).train(dataset(tf), steps=5)

    def bound(features, labels, mode, params):
        with tf.variable_scope("new"):
            return model_fn(tf, features, labels, mode, params, None)

    settings = tf.estimator.WarmStartSettings(
        earlier.model_dir, "new/w", var_name_to_prev_var_name={"new/w": "w"}
    )
    later = tf.estimator.Estimator(
        bound, tempfile.mkdtemp(), params={"rate": 0.0}, warm_start_from=settings
    )
    untrained = later.evaluate(dataset(tf, repeat=1))
    later.train(dataset(tf), steps=1)
    whole = tf.estimator.Estimator(
        functools.partial(model_fn, tf), tempfile.mkdtemp(), params={"rate": 0.0},
        warm_start_from=earlier.model_dir,
    )  # fmt: skip
    whole.train(dataset(tf), steps=1)
    values = [later.get_variable_value("new/w"), later.get_variable_value("new/b")]
    return {
        "untrained": untrained, "values": values, "step": later.get_variable_value("global_step"),
        "whole": whole.get_variable_value("b"), "earlier": earlier.get_variable_value("w"),
        "settings": [str(v) for v in settings[1:]],
    }  # fmt: skip


def scaffolded(tf):
    """A model with a scaffold, hooks of its own and a metric that is no number."""

    def bound(features, labels, mode):
        spec = model_fn(tf, features, labels, mode, {"rate": 0.1}, None)
        local = tf.get_variable(
            "local", [], collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False,
            initializer=tf.constant_initializer(3.0),
        )  # fmt: skip
        scaffold = tf.train.Scaffold(
            local_init_op=tf.local_variables_initializer(), saver=tf.train.Saver(max_to_keep=1)
        )
        metrics = {"vector": (tf.identity(local) + [1.0, 2.0], tf.no_op())}
        return spec._replace(scaffold=scaffold, eval_metric_ops=metrics)

    made = tf.estimator.Estimator(bound, tempfile.mkdtemp())
    watch = watching(tf)
    made.train(dataset_without_params(tf), steps=2)
    metrics = made.evaluate(dataset_without_params(tf), steps=3, hooks=[watch])
    return {
        "metrics": metrics, "nodes": watch.nodes, "files": files_of(made.model_dir),
        "events": events_of(tf, made.model_dir),
    }  # fmt: skip


def dataset_without_params(tf):
    return lambda: tf.data.Dataset.from_tensors((X[:8], Y[:8])).repeat()


def both(tf):
    """train_and_evaluate in one process, with all exporters."""
    made = estimator(tf, save_checkpoints_steps=5)
    with tf.Graph().as_default():
        raw = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [7, 2], name="given")}
        )
    saved = []

    class Listener(tf.estimator.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    exporters = [
        tf.estimator.FinalExporter("final", raw),
        tf.estimator.LatestExporter("latest", raw, exports_to_keep=2),
        tf.estimator.BestExporter("best", raw, exports_to_keep=1),
    ]
    train_spec = tf.estimator.TrainSpec(dataset(tf), max_steps=12)
    eval_spec = tf.estimator.EvalSpec(
        dataset(tf, repeat=1), steps=None, exporters=exporters, throttle_secs=0
    )
    metrics, paths = tf.estimator.train_and_evaluate(made, train_spec, eval_spec)
    made.train(dataset(tf), steps=1, saving_listeners=[Listener()])
    return {
        "metrics": metrics, "exported": [p is not None for p in paths], "saved": saved,
        "files": [f for f in files_of(made.model_dir) if "variables" not in f],
    }  # fmt: skip


PROGRAMS = [queue_fed, dataset_fed, exports, warm_started, scaffolded, both]


# ---- errors --------------------------------------------------------------------------------------


def _spec_error(**arguments):
    def run(tf):
        given = {name: make(tf) for name, make in arguments.items()}
        return tf.estimator.EstimatorSpec(**given)

    return run


def _constant(value):
    return lambda tf: value


def _with_model(make, act=None):
    def run(tf):
        made = tf.estimator.Estimator(make(tf), tempfile.mkdtemp())
        (act or (lambda made: made.train(dataset_without_params(tf), steps=1)))(made)

    return run


def _simple(tf, **changed):
    def bound(features, labels, mode):
        spec = model_fn(tf, features, labels, mode, {"rate": 0.1}, None)
        return spec._replace(**{k: make(tf) for k, make in changed.items()})

    return bound


def _on_simple(act):
    return lambda tf: act(tf, tf.estimator.Estimator(_simple(tf), tempfile.mkdtemp()))


ERRORS = {
    "no_model_fn": lambda tf: tf.estimator.Estimator(None),
    "no_features": lambda tf: tf.estimator.Estimator(lambda x: None),
    "unknown_args": lambda tf: tf.estimator.Estimator(lambda features, more: None),
    "params_not_taken": lambda tf: tf.estimator.Estimator(lambda features: None, params={"a": 1}),
    "config": lambda tf: tf.estimator.Estimator(lambda features: None, config=3),
    "two_dirs": lambda tf: tf.estimator.Estimator(
        lambda features: None, "a", tf.estimator.RunConfig("b")
    ),
    "warm_start_kind": lambda tf: tf.estimator.Estimator(
        lambda features: None, "a", warm_start_from=3
    ),
    "warm_start_empty": lambda tf: tf.estimator.WarmStartSettings(""),
    "overridden": lambda tf: type("Mine", (tf.estimator.Estimator,), {"train": lambda self: None})(
        lambda features: None, "a"
    ),
    "no_spec": _with_model(lambda tf: lambda features, labels: 3),
    "labels_not_taken": _with_model(lambda tf: lambda features: 3),
    "both_steps": _on_simple(lambda tf, e: e.train(None, steps=1, max_steps=1)),
    "no_steps": _on_simple(lambda tf, e: e.train(None, steps=0)),
    "no_max_steps": _on_simple(lambda tf, e: e.train(None, max_steps=-1)),
    "hook": _on_simple(lambda tf, e: e.train(None, hooks=[3])),
    "listener": _on_simple(lambda tf, e: e.train(None, saving_listeners=[3])),
    "three_results": _on_simple(lambda tf, e: e.train(lambda: (1, 2, 3), steps=1)),
    "eval_steps": _on_simple(lambda tf, e: e.evaluate(None, steps=0)),
    "not_trained": _on_simple(lambda tf, e: e.get_variable_names()),
    "not_trained_export": _on_simple(lambda tf, e: e.export_savedmodel("a", lambda: None)),
    "no_receiver": _on_simple(lambda tf, e: e.export_savedmodel("a", None)),
    "predict_keys": _on_simple(
        lambda tf, e: next(e.predict(dataset_without_params(tf), predict_keys=["z"]))
    ),
    "loss_metric": lambda tf: tf.estimator.Estimator(
        _simple(tf, eval_metric_ops=lambda tf: {"loss": tf.metrics.mean(1.0)}), tempfile.mkdtemp()
    ).evaluate(dataset_without_params(tf), steps=1),
    "step_metric": lambda tf: tf.estimator.Estimator(
        _simple(tf, eval_metric_ops=lambda tf: {"global_step": tf.metrics.mean(1.0)}),
        tempfile.mkdtemp(),
    ).evaluate(dataset_without_params(tf), steps=1),
    "spec_no_loss": _spec_error(mode=_constant("eval")),
    "spec_no_train_op": _spec_error(mode=_constant("train"), loss=lambda tf: tf.zeros([])),
    "spec_no_predictions": _spec_error(mode=_constant("infer")),
    "spec_loss_shape": _spec_error(mode=_constant("eval"), loss=lambda tf: tf.zeros([2])),
    "spec_loss_kind": _spec_error(mode=_constant("eval"), loss=_constant(3)),
    "spec_train_op_kind": _spec_error(mode=_constant("eval"), train_op=_constant(3)),
    "spec_predictions_kind": _spec_error(mode=_constant("infer"), predictions=_constant(3)),
    "spec_prediction_kind": _spec_error(mode=_constant("infer"), predictions=_constant({"a": 3})),
    "spec_metrics": _spec_error(
        mode=_constant("eval"), loss=lambda tf: tf.zeros([]), eval_metric_ops=_constant([])
    ),
    "spec_metric": _spec_error(
        mode=_constant("eval"), loss=lambda tf: tf.zeros([]), eval_metric_ops=_constant({"a": 1})
    ),
    "spec_hooks": _spec_error(
        mode=_constant("eval"), loss=lambda tf: tf.zeros([]), training_hooks=_constant([3])
    ),
    "spec_scaffold": _spec_error(
        mode=_constant("eval"), loss=lambda tf: tf.zeros([]), scaffold=_constant(3)
    ),
    "spec_outputs": _spec_error(
        mode=_constant("infer"), predictions=lambda tf: tf.zeros([1]), export_outputs=_constant(3)
    ),
    "spec_output": _spec_error(
        mode=_constant("infer"),
        predictions=lambda tf: tf.zeros([1]),
        export_outputs=_constant({"a": 3}),
    ),  # fmt: skip
    "spec_no_default": _spec_error(
        mode=_constant("infer"),
        predictions=lambda tf: tf.zeros([1]),
        export_outputs=lambda tf: dict.fromkeys(
            "ab", tf.estimator.export.PredictOutput(tf.zeros([1]))
        ),
    ),  # fmt: skip
    "shuffle": lambda tf: tf.estimator.inputs.numpy_input_fn(X),
    "x_empty": lambda tf: tf.estimator.inputs.numpy_input_fn({}, shuffle=True)(),
    "x_kind": lambda tf: tf.estimator.inputs.numpy_input_fn([1], shuffle=True)(),
    "y_empty": lambda tf: tf.estimator.inputs.numpy_input_fn({"x": X}, {}, shuffle=True)(),
    "y_alike": lambda tf: tf.estimator.inputs.numpy_input_fn({"x": X}, {"x": X}, shuffle=True)(),
    "y_length": lambda tf: tf.estimator.inputs.numpy_input_fn({"x": X}, X[:3], shuffle=True)(),
    "train_input_fn": lambda tf: tf.estimator.TrainSpec(3),
    "train_max_steps": lambda tf: tf.estimator.TrainSpec(len, 0),
    "train_hooks": lambda tf: tf.estimator.TrainSpec(len, hooks=[3]),
    "eval_spec_steps": lambda tf: tf.estimator.EvalSpec(len, steps=0),
    "eval_spec_name": lambda tf: tf.estimator.EvalSpec(len, name=3),
    "eval_spec_delay": lambda tf: tf.estimator.EvalSpec(len, start_delay_secs=-1),
    "eval_spec_throttle": lambda tf: tf.estimator.EvalSpec(len, throttle_secs=-1),
    "eval_spec_exporters": lambda tf: tf.estimator.EvalSpec(len, exporters=3),
    "eval_spec_exporter": lambda tf: tf.estimator.EvalSpec(len, exporters=[3]),
    "eval_spec_exporter_names": lambda tf: tf.estimator.EvalSpec(
        len, exporters=[tf.estimator.FinalExporter("a", len)] * 2
    ),
    "eval_spec_exporter_no_name": lambda tf: tf.estimator.EvalSpec(
        len, exporters=tf.estimator.FinalExporter("", len)
    ),
    "best_compare": lambda tf: tf.estimator.BestExporter(compare_fn=None),
    "best_compare_args": lambda tf: tf.estimator.BestExporter(compare_fn=lambda a: True),
    "latest_keep": lambda tf: tf.estimator.LatestExporter("a", len, exports_to_keep=0),
    "both_estimator": lambda tf: tf.estimator.train_and_evaluate(
        3, tf.estimator.TrainSpec(len), tf.estimator.EvalSpec(len)
    ),
    "both_eval": lambda tf: tf.estimator.train_and_evaluate(3, 3, 3),
    "regression_output": lambda tf: tf.estimator.export.RegressionOutput(tf.constant(1)),
    "classes_output": lambda tf: tf.estimator.export.ClassificationOutput(classes=tf.constant(1)),
    "scores_output": lambda tf: tf.estimator.export.ClassificationOutput(scores=tf.constant(1)),
    "no_output": lambda tf: tf.estimator.export.ClassificationOutput(),
    "predict_output": lambda tf: tf.estimator.export.PredictOutput({"a": 3}),
    "predict_output_key": lambda tf: tf.estimator.export.PredictOutput({3: tf.constant(1)}),
    "receiver_features": lambda tf: tf.estimator.export.ServingInputReceiver(None, None),
    "receiver_key": lambda tf: tf.estimator.export.ServingInputReceiver(
        tf.constant(1), {3: tf.constant(1)}
    ),
    "receiver_kind": lambda tf: tf.estimator.export.ServingInputReceiver({"a": 3}, None),
    "alternatives": lambda tf: tf.estimator.export.ServingInputReceiver(
        tf.constant(1), tf.constant(1), 3
    ),
    "tensor_receiver": lambda tf: tf.estimator.export.TensorServingInputReceiver(None, None),
}


def plain(value):
    """Arrays and scalars as JSON has them."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def error_of(tf, function):
    with tf.Graph().as_default():
        try:
            function(tf)
        except Exception as error:
            return [type(error).__name__, str(error)]
    return None


def all_found(tf):
    found = {program.__name__: plain(program(tf)) for program in PROGRAMS}
    found["errors"] = {name: error_of(tf, function) for name, function in ERRORS.items()}
    return json.loads(json.dumps(found))


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as output:
        json.dump(all_found(tensorflow), output)
