"""tensorflow-estimator's own classes: trained from set values, evaluated, asked, exported."""

import hashlib
import json
import os
import re
import sys
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_estimator
from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2
from tensorflow_estimator.python.estimator import keras

est = tensorflow_estimator.estimator
fc = tf.feature_column
tf.logging.set_verbosity(tf.logging.ERROR)

rng = np.random.RandomState(5)
SIZE = 24
FEATURES = {
    "age": rng.uniform(1, 60, [SIZE, 1]).astype(np.float32),
    "pair": rng.randn(SIZE, 2).astype(np.float32),
    "color": np.array([[["red", "green", "blue", "grey"][i % 4]] for i in range(SIZE)]),
    "weight": rng.uniform(0.5, 2, [SIZE, 1]).astype(np.float32),
}
CLASSES = (FEATURES["age"][:, 0] // 20).astype(np.int64).reshape(-1, 1)
NUMBERS = (0.1 * FEATURES["age"] + FEATURES["pair"][:, :1]).astype(np.float32)

age = fc.numeric_column("age")
pair = fc.numeric_column("pair", shape=[2])
ages = fc.bucketized_column(age, [15, 30, 45])
color = fc.categorical_column_with_vocabulary_list(
    "color", ["red", "green", "blue"], num_oov_buckets=1
)
hashed = fc.categorical_column_with_hash_bucket("color", 7)
crossed = fc.crossed_column([ages, "color"], 11)


def batches(labels, batch=8, repeat=None):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((FEATURES, labels))
        return data.repeat(repeat).batch(batch)

    return input_fn


def serving():
    kinds = {"age": [None, 1], "pair": [None, 2], "color": [None, 1], "weight": [None, 1]}
    fed = {
        key: tf.placeholder(tf.string if key == "color" else tf.float32, shape, name=key)
        for key, shape in kinds.items()
    }
    return est.export.ServingInputReceiver(fed, fed)


# TensorFlow asks NumPy whether a shape is small; of one with a tensor in it NumPy makes these
# nodes, which nothing uses, up to version 1.19, and an error from then on.
UNUSED = re.compile("/(ones|zeros)(_[0-9]+)?/(Less|mul)(/y)?:")


def digests(nodes):
    """Of each scope how many nodes it has, and a digest of their names and types."""
    scopes = {}
    for node in nodes:
        if not UNUSED.search(node):
            scopes.setdefault("/".join(node.split(":")[0].split("/")[:2]), []).append(node)
    return {
        scope: [len(found), hashlib.md5("\n".join(sorted(found)).encode()).hexdigest()[:8]]
        for scope, found in scopes.items()
    }


class Begin(est.SessionRunHook):
    """Gives trained variables values that both sides know, and keeps the graph's names."""

    def __init__(self):
        self.nodes, self.losses = None, []

    def begin(self):
        self.fresh = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        graph = session.graph
        self.nodes = digests(f"{n.name}:{n.op}" for n in graph.as_graph_def().node)
        if session.run(self.fresh):
            return
        for variable in sorted(graph.get_collection("trainable_variables"), key=lambda v: v.name):
            size = int(np.prod(variable.shape.as_list()))
            values = 0.3 * np.sin(1.7 * np.arange(size) + len(variable.name))
            variable.load(values.reshape(variable.shape.as_list()).astype(np.float32), session)


def config(folder):
    return est.RunConfig(folder, tf_random_seed=3, save_summary_steps=1, save_checkpoints_steps=100)


def told(folder, tag):
    """The values of a summary, by step."""
    found = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                values = event.summary.value
                found += [float(v.simple_value) for v in values if v.tag.startswith(tag)]
    return found


def plain(value):
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value


def trees(message):
    """The trees of a message: of each node its split or leaf, and its gain."""
    ensemble = boosted_trees_pb2.TreeEnsemble()
    ensemble.ParseFromString(message)
    return [
        [
            [
                float(node.leaf.scalar),
                int(split.feature_id),
                int(split.threshold),
                int(split.left_id),
                int(split.right_id),
                float(node.metadata.gain),
            ]
            for node in tree.nodes
            for split in [node.bucketized_split]
        ]
        for tree in ensemble.trees
    ]


def value_of(model, name):
    value = model.get_variable_value(name)
    return trees(bytes(value)) if name.endswith("_serialized") else plain(value)


def exported(model, keys=("age", "pair", "color", "weight")):
    """What a SavedModel of it gives, under each signature."""
    folder = model.export_saved_model(tempfile.mkdtemp(), serving)
    found = {}
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], folder.decode())
        for name, signature in sorted(meta.signature_def.items()):
            feed = {
                info.name: FEATURES[key][:3]
                for key, info in signature.inputs.items()
                if key in keys
            }
            outputs = {key: info.name for key, info in signature.outputs.items()}
            if len(feed) == len(signature.inputs):
                found[name] = plain(session.run(outputs, feed))
            found[name + "/method"] = signature.method_name
    return found


def whole(make, labels, steps=6, export=True, nodes=True, predict=True):
    """All that is asked of an estimator."""
    folder = tempfile.mkdtemp()
    model, begin = make(folder), Begin()
    model.train(batches(labels), hooks=[begin], steps=steps)
    found = {
        "losses": told(folder, "loss"),
        "variables": {n: value_of(model, n) for n in model.get_variable_names()},
        "evaluated": plain(model.evaluate(batches(labels, repeat=1))),
    }
    if nodes:
        found["nodes"] = begin.nodes
    if predict:
        found["predicted"] = [
            plain(p) for p, _ in zip(model.predict(batches(labels, repeat=1)), range(3))
        ]
    if export:
        found["exported"] = exported(model)
    return found


def model_fn(features, labels, mode, params):
    net = fc.input_layer(features, [age, pair, fc.indicator_column(color)])
    net = tf.layers.dense(0.1 * net, 4, tf.nn.tanh, name="hidden")
    logits = tf.layers.dense(net, 3, name="logits")
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == est.ModeKeys.PREDICT:
        outputs = {
            "serving_default": est.export.PredictOutput(predictions),
            "classes": est.export.ClassificationOutput(scores=predictions["probabilities"]),
        }
        return est.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["class"])}
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    step = optimizer.minimize(loss, tf.train.get_global_step())
    return est.EstimatorSpec(mode, predictions, loss, step, metrics)


def custom(folder, **kwargs):
    return est.Estimator(model_fn, config=config(folder), params={"rate": 0.1}, **kwargs)


def warm_started():
    """Begins from another's checkpoint, all but one layer."""
    first = tempfile.mkdtemp()
    custom(first).train(batches(CLASSES), hooks=[Begin()], steps=4)
    folder = tempfile.mkdtemp()
    settings = est.WarmStartSettings(
        first, vars_to_warm_start=".*", var_name_to_prev_var_name={"hidden/kernel": "hidden/kernel"}
    )
    custom(folder, warm_start_from=settings).train(batches(CLASSES), steps=3)
    return told(folder, "loss")


def trained_and_evaluated():
    """``train_and_evaluate`` with exporters and a hook that stops early."""
    folder = tempfile.mkdtemp()
    model = custom(folder)
    exporters = [est.FinalExporter("last", serving), est.LatestExporter("latest", serving)]
    spec = est.EvalSpec(batches(CLASSES, repeat=1), exporters=exporters, throttle_secs=0)
    result = est.train_and_evaluate(
        model, est.TrainSpec(batches(CLASSES), max_steps=5, hooks=[Begin()]), spec
    )
    made = sorted(os.listdir(os.path.join(folder, "export")))
    return {"result": plain(result[0]), "exports": made, "losses": told(folder, "loss")}


def stopped_early():
    folder = tempfile.mkdtemp()
    model = est.Estimator(
        model_fn,
        params={"rate": 0.1},
        config=config(folder).replace(save_checkpoints_steps=2),
    )
    os.makedirs(model.eval_dir())
    stop = est.experimental.stop_if_higher_hook(
        model, "accuracy", threshold=0.0, min_steps=2, run_every_secs=None, run_every_steps=1
    )
    evaluator = est.experimental.InMemoryEvaluatorHook(
        model, batches(CLASSES, repeat=1), every_n_iter=2
    )
    model.train(batches(CLASSES), hooks=[Begin(), evaluator, stop], steps=20)
    return {
        "steps": int(model.get_variable_value("global_step")),
        "accuracies": told(model.eval_dir(), "accuracy"),
    }


def from_keras():
    with tf.Graph().as_default():
        inputs = [tf.keras.Input([1], name="age"), tf.keras.Input([2], name="pair")]
        net = tf.keras.layers.Concatenate()(inputs)
        net = tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones", name="hidden")(net)
        out = tf.keras.layers.Dense(1, kernel_initializer="ones", name="out")(net)
        model = tf.keras.Model(inputs, out)
        model.compile(tf.keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
        folder = tempfile.mkdtemp()
        made = keras.model_to_estimator(
            keras_model=model, config=config(folder), checkpoint_format="saver"
        )

        def input_fn(repeat=None):
            given = {key: 0.1 * FEATURES[key] for key in ("age", "pair")}
            data = tf.data.Dataset.from_tensor_slices((given, {"out": NUMBERS}))
            return data.repeat(repeat).batch(8)

        made.train(input_fn, steps=5)
        return {
            "losses": told(folder, "loss"),
            "variables": sorted(made.get_variable_names()),
            "evaluated": plain(made.evaluate(lambda: input_fn(1))),
            "predicted": [plain(p) for p, _ in zip(made.predict(lambda: input_fn(1)), range(3))],
        }


embedded = fc.embedding_column(hashed, 3, initializer=tf.zeros_initializer())
deep = [age, pair, embedded, fc.indicator_column(ages)]
wide = [age, crossed, color]


def sgd(rate=0.01):
    return tf.train.GradientDescentOptimizer(rate)


CASES = {
    "custom": lambda: whole(custom, CLASSES),
    "warm_started": warm_started,
    "trained_and_evaluated": trained_and_evaluated,
    "stopped_early": stopped_early,
    "from_keras": from_keras,
    "DNNClassifier": lambda: whole(
        lambda f: est.DNNClassifier(
            [5, 3], deep, n_classes=3, config=config(f), batch_norm=True, optimizer=sgd()
        ),
        CLASSES,
    ),
    "DNNRegressor": lambda: whole(
        lambda f: est.DNNRegressor([4], deep, config=config(f), weight_column="weight"), NUMBERS
    ),
    "LinearRegressor": lambda: whole(
        lambda f: est.LinearRegressor(wide, config=config(f), weight_column="weight"), NUMBERS
    ),
    "LinearClassifier": lambda: whole(
        lambda f: est.LinearClassifier(wide, n_classes=3, config=config(f), optimizer=sgd()),
        CLASSES,
    ),
    "DNNLinearCombinedRegressor": lambda: whole(
        lambda f: est.DNNLinearCombinedRegressor(
            linear_feature_columns=wide,
            dnn_feature_columns=deep,
            dnn_hidden_units=[4],
            config=config(f),
        ),
        NUMBERS,
    ),
    "BaselineClassifier": lambda: whole(
        lambda f: est.BaselineClassifier(n_classes=3, config=config(f)), CLASSES
    ),
    "BaselineRegressor": lambda: whole(lambda f: est.BaselineRegressor(config=config(f)), NUMBERS),
    "BoostedTreesClassifier": lambda: whole(
        lambda f: est.BoostedTreesClassifier(
            [ages, fc.indicator_column(color)],
            1,
            n_classes=2,
            n_trees=2,
            max_depth=2,
            config=config(f),
        ),
        (CLASSES > 1).astype(np.int64),
        steps=8,
        nodes=False,
    ),
    "BoostedTreesRegressor": lambda: whole(
        lambda f: est.BoostedTreesRegressor([ages], 1, n_trees=2, max_depth=2, config=config(f)),
        NUMBERS,
        steps=8,
        nodes=False,
    ),
}

if __name__ == "__main__":
    print(json.dumps({name: CASES[name]() for name in sys.argv[1:] or CASES}, sort_keys=True))
