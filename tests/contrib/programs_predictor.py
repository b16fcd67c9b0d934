"""Programs of ``tf.contrib.predictor`` (``recorded``)."""

import os
import tempfile

from tests.contrib.recorded import refused


def _saved(tf):
    folder = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        z = tf.matmul(x, tf.Variable([[1.0], [2.0]]), name="z")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, folder, {"a": x}, {"b": z})
    return folder


def _told(predict):
    feeds, fetches = predict.feed_tensors, predict.fetch_tensors
    return [{k: v.name for k, v in feeds.items()}, {k: v.name for k, v in fetches.items()}]


def case_from_saved_model(tf):
    make, folder = tf.contrib.predictor.from_saved_model, _saved(tf)
    predict = make(folder)
    own = make(folder, input_names={"i": "x:0"}, output_names={"o": "z:0"}, graph=tf.Graph())
    names = {"a": "x:0"}
    return [
        _told(predict), predict({"a": [[1.0, 1.0], [0.0, 3.0]]}), repr(predict).split(" ")[:4],
        predict.session.graph is predict.graph, _told(own), own({"i": [[1.0, 1.0]]}),
        refused(lambda: predict({"c": 1}), "Got unexpected keys in input_dict: {'c'}"),
        refused(lambda: predict({})),
        refused(lambda: make(folder, tags="x"), "could not be found in SavedModel"),
        refused(lambda: make(folder, input_names=names), "must both be specified or both"),
        refused(lambda: make(folder, "serving_default", None, names, names), "at most one of"),
    ]  # fmt: skip


def case_from_estimator(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(3.0))
        found = tf.matmul(features["x"], w)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(found)
        export = tf.estimator.export.PredictOutput
        outputs = {"sum": export({"s": found}), "serving_default": export({"p": found + 1})}
        train = tf.group(step.assign_add(1), w.assign_sub(tf.ones([2, 1])))
        return tf.estimator.EstimatorSpec(mode, {"p": found}, loss, train, export_outputs=outputs)

    def receiver_fn():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": 2 * x}, {"given": x})

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(lambda: ({"x": tf.ones([1, 2])}, tf.ones([1])), steps=1)
    make = tf.contrib.predictor.from_estimator
    found = []
    for key in (None, "sum"):
        predict = make(estimator, receiver_fn, key)
        found += [_told(predict), predict({"given": [[1.0, 2.0]]})]
    found.append(refused(lambda: make(3, receiver_fn)))
    return found


def case_from_contrib_estimator(tf):
    layers, learn = tf.contrib.layers, tf.contrib.learn
    make, found = tf.contrib.predictor.from_contrib_estimator, []

    def fed():
        x = tf.placeholder(tf.float32, [None, 1], name="X")
        return learn.InputFnOps({"x": x}, None, {"x": x})

    for kind, labels, more in (
        (learn.LinearRegressor, [1.0, 2.0], {}),
        (learn.LinearClassifier, [1, 0], {}),
        (learn.LinearClassifier, [2, 0], {"n_classes": 3}),
    ):
        model = kind(
            [layers.real_valued_column("x")], model_dir=tempfile.mkdtemp(),
            optimizer=lambda: tf.train.GradientDescentOptimizer(0.1), **more)  # fmt: skip

        def data():
            return {"x": tf.constant([[1.0], [2.0]])}, tf.constant(labels)  # noqa: B023

        model.fit(input_fn=data, steps=2)
        predict = make(model, fed)
        found.append([type(predict).__name__, _told(predict)[0], sorted(predict.fetch_tensors),
                      predict({"x": [[3.0], [-1.0]]})])  # fmt: skip
    core = tf.estimator.Estimator(lambda features, labels, mode: None, tempfile.mkdtemp())
    return found + [
        refused(lambda: make(model, fed, output_alternative_key="zz"),
                "Requested default_output_alternative: zz, but available"),
        refused(lambda: make(model, fed, input_alternative_key="zz"), "zz"),
        refused(lambda: make(core, fed), "You likely want to call from_estimator."),
    ]  # fmt: skip
