"""Programs of what runs graphs and keeps where inputs are (``recorded``)."""

import json
import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values


def case_runs(tf):
    learn = tf.contrib.learn
    variable, fed = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    outputs = {"a": variable * 2.0, "b": fed + variable}
    with tf.Session() as sess:
        sess.run(variable.assign(5.0))
        path = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "m"))
    product = {"a": variable * 2.0}
    return [
        learn.run_n(product, n=3),
        learn.run_n(product, restore_checkpoint_path=path, n=2),
        learn.run_feeds(outputs, [{fed: 1.0}, {fed: 2.0}]),
        learn.run_feeds(outputs, [{fed: 1.0}], path),
        learn.infer(path, outputs, {fed: 7.0}),
        learn.infer(None, product),
        refused(lambda: learn.run_n(None), "output_dict is invalid: None."),
        refused(lambda: learn.infer(path, {}), "output_dict is invalid: {}."),
        refused(lambda: learn.run_feeds(outputs, []), "feed_dicts is invalid"),
    ]


def case_inferred_columns(tf):
    learn = tf.contrib.learn

    def shown(columns):
        return [[c.column_name, c.dimension, c.dtype.name] for c in columns]

    def input_fn():
        return {"a": tf.constant([[1.0, 2.0]]), "b": tf.constant([[1]])}, None

    infer = learn.infer_real_valued_columns_from_input
    return [
        shown(infer(np.ones([3, 2], "float32"))),
        shown(infer(np.ones([3, 2]))),
        shown(infer({"a": np.ones([3, 4], "int32")})),
        shown(learn.infer_real_valued_columns_from_input_fn(input_fn)),
        refused(lambda: infer(np.array([["a"]])), "Non integer or non floating types"),
    ]


def case_abstract(tf):
    learn = tf.contrib.learn

    class Half(learn.Evaluable):
        model_dir = None

    class Whole(learn.Trainable, learn.Evaluable):
        model_dir = "d"

        def fit(self, x=None):
            return 1

        def evaluate(self, x=None):
            return 2

    return [
        [issubclass(learn.Estimator, c) for c in (learn.Evaluable, learn.Trainable)],
        refused(learn.Evaluable, "abstract"), refused(learn.Trainable, "abstract"),
        refused(Half, "abstract"), Whole().fit(), Whole().evaluate(),
    ]  # fmt: skip


def case_input_checkpoints(tf):
    seen = []

    def model_fn(features, labels, mode):
        step = tf.train.get_or_create_global_step()
        value = tf.py_func(lambda v: (seen.append(int(v)), v)[1], [features], tf.int64)
        value.set_shape([])
        weight = tf.get_variable("w", initializer=0.0)
        loss = tf.square(weight) + 0.0 * tf.cast(value, tf.float32)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))

    folder = tempfile.mkdtemp()
    config = tf.estimator.RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=2)
    estimator = tf.estimator.Estimator(model_fn, folder, config)
    found = []
    for _ in range(3):
        hook = tf.contrib.data.CheckpointInputPipelineHook(estimator)
        estimator.train(lambda: tf.data.Dataset.range(20), hooks=[hook], steps=3)
        found.append(list(seen))
        del seen[:]
    estimator.train(lambda: tf.data.Dataset.range(20), steps=2)
    state = tf.train.get_checkpoint_state(folder, "checkpoint_input")
    files = sorted(f for f in os.listdir(folder) if f.startswith("input") and "index" in f)
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        hook = tf.contrib.data.CheckpointInputPipelineHook(estimator)
        nothing = refused(hook.begin, "No variables to save")
    return [found, seen, os.path.basename(state.model_checkpoint_path), files[-1], nothing]


def _server(tf, config):
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        server = tf.contrib.distribute.run_standard_tensorflow_server()
    finally:
        del os.environ["TF_CONFIG"]
    made = server.server_def
    return [made.job_name, made.task_index, made.protocol, server.target.split(":")[0]]


def case_distribute(tf):
    config = tf.contrib.distribute.DistributeConfig
    cluster = {"worker": ["localhost:0"]}
    return [
        [config._fields, tuple(config()), tuple(config(1, remote_cluster=cluster))],
        repr(config(train_distribute=2)),
        refused(lambda: _server(tf, {}), '"cluster" is not found in TF_CONFIG.'),
        refused(lambda: _server(tf, {"cluster": cluster}), '"task" is not found in TF_CONFIG.'),
        _server(tf, {"cluster": cluster, "task": {"type": "worker"}}),
    ]


def case_annotated(tf):
    column, estimator = tf.feature_column, tf.contrib.estimator
    columns = [
        column.numeric_column("x", shape=[2]),
        column.indicator_column(column.categorical_column_with_identity("i", 3)),
    ]
    found = []
    for model, labels in (
        (estimator.DNNClassifierWithLayerAnnotations([3], columns, tempfile.mkdtemp()), [[1]]),
        (estimator.DNNClassifierWithLayerAnnotations(
            [3, 2], columns, tempfile.mkdtemp(), n_classes=3, dropout=0.1), [[2]]),
        (estimator.DNNRegressorWithLayerAnnotations(
            [3], columns, tempfile.mkdtemp(), optimizer="SGD"), [[1.0]]),
    ):  # fmt: skip
        for mode in ("train", "eval", "infer"):
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                features = {"x": tf.constant([[1.0, 2.0]]), "i": tf.constant([[1]])}
                asked = None if mode == "infer" else tf.constant(labels)
                spec = model.model_fn(features, asked, mode, model.config)
                found.append([type(model).__name__, sorted(spec.predictions), nodes(tf),
                              names(tf.trainable_variables())])  # fmt: skip
    return found


def case_lists_of_autograph(tf):
    autograph = tf.contrib.autograph
    made = tf.TensorArray(tf.float32, 2).unstack(tf.constant([[1.0, 2.0], [3.0, 4.0]])).stack()
    return [
        autograph.set_element_type([], tf.float32), autograph.stack([1, 2], strict=False),
        autograph.stack(3, strict=False), values(tf, autograph.stack(made)),
        refused(lambda: autograph.stack([made]), "must be stackable when strict=True"),
        refused(lambda: autograph.stack(3), "3 must be stackable when strict=True"),
    ]  # fmt: skip


def case_logistic_regressor(tf):
    learn = tf.contrib.learn

    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", initializer=0.3)
        predictions = tf.sigmoid(features * weight)
        if mode == learn.ModeKeys.INFER:
            return predictions, None, None
        loss = tf.reduce_mean(tf.square(predictions - tf.cast(labels, tf.float32)))
        step = tf.train.get_global_step()
        return predictions, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    def input_fn():
        return tf.constant([[1.0], [-2.0], [3.0], [0.5]]), tf.constant([[1], [0], [1], [0]])

    found = []
    for thresholds in (None, [0.3, 0.7]):
        model = learn.LogisticRegressor(model_fn, thresholds, tempfile.mkdtemp())
        model.fit(input_fn=input_fn, steps=2)
        measured = model.evaluate(input_fn=input_fn, steps=1)
        found.append([type(model).__name__, {k: float(v) for k, v in measured.items()}])
    return found
