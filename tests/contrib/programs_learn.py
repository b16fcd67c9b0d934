"""Programs of ``tf.contrib.learn`` (``recorded``)."""

import itertools
import tempfile

import numpy as np

from tests.contrib.programs_columns import _counted, _digest
from tests.contrib.recorded import names, nodes, refused, values

_AGES = [[1.0], [2.0], [3.0], [4.0]]


def _input(tf, labels, **more):
    def input_fn():
        features = {"age": tf.constant(_AGES), "w": tf.constant([[1.0], [1.0], [2.0], [1.0]])}
        return features, tf.constant(labels)

    return input_fn


class _Seen:
    """A hook's record of the graph that a session runs."""

    def hook(self, tf):
        outer = self

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                outer.variables = names(tf.global_variables())
                outer.trained = names(tf.trainable_variables())
                outer.local = names(tf.local_variables())

        return Hook()


def _fitted(tf, model, labels, key, steps=3):
    """What an estimator makes and finds; values only where they begin with zeros."""
    seen = _Seen()
    data = _input(tf, labels)
    model.fit(input_fn=data, steps=steps, monitors=[seen.hook(tf)])
    found = model.evaluate(input_fn=data, steps=1)
    shown = [np.ravel(p) for p in model.predict(input_fn=data, outputs=[key]) for p in [p[key]]]
    first = [np.ravel(p) for p in model.predict(input_fn=data)]
    # Names of slots hold a part of their scope's name: TensorFlow cuts them.
    return [seen.variables, seen.trained, seen.local, sorted(found), len(first),
            {k: float(v) for k, v in found.items()}, shown, first]  # fmt: skip


def _age(tf):
    return [tf.contrib.layers.real_valued_column("age")]


def case_linear_classifier(tf):
    model = tf.contrib.learn.LinearClassifier(_age(tf), model_dir=tempfile.mkdtemp())
    return _fitted(tf, model, [[0], [1], [1], [0]], "probabilities")


def case_linear_classifier_of_three(tf):
    model = tf.contrib.learn.LinearClassifier(_age(tf), n_classes=3, model_dir=tempfile.mkdtemp())
    return _fitted(tf, model, [0, 1, 2, 0], "probabilities")


def case_linear_classifier_weighted(tf):
    model = tf.contrib.learn.LinearClassifier(
        _age(tf), weight_column_name="w", gradient_clip_norm=0.1, model_dir=tempfile.mkdtemp(),
        optimizer=lambda: tf.train.GradientDescentOptimizer(0.1))  # fmt: skip
    return _fitted(tf, model, [[0], [1], [1], [0]], "probabilities")


def case_linear_regressor(tf):
    model = tf.contrib.learn.LinearRegressor(_age(tf), model_dir=tempfile.mkdtemp())
    return _fitted(tf, model, [0.5, 1.0, 2.0, 0.0], "scores")


def case_network_names(tf):
    """Networks begin with random weights: names, not values."""
    learn = tf.contrib.learn
    found = []
    for model, labels, key in (
        (learn.DNNClassifier([3, 2], _age(tf), dropout=0.1), [0, 1, 1, 0], "probabilities"),
        (learn.DNNRegressor([3], _age(tf), optimizer="SGD"), [0.5, 1.0, 2.0, 0.0], "scores"),
    ):
        made = _fitted(tf, model, labels, key)
        found.append([made[:5], model.get_variable_value("global_step")])
    return found


def _wide_and_deep(tf, **more):
    layers = tf.contrib.layers
    job = layers.sparse_column_with_hash_bucket("job", 9)
    return {
        "linear_feature_columns": [job, layers.real_valued_column("w")],
        "dnn_feature_columns": _age(tf) + [layers.embedding_column(job, 2)],
        "dnn_hidden_units": [3, 2], "model_dir": tempfile.mkdtemp(), **more,
    }  # fmt: skip


def _wide_input(tf, labels):
    def input_fn():
        features, labelled = _input(tf, labels)()
        places = [[i, 0] for i in range(4)]
        shape = tf.placeholder_with_default(np.array([4, 1], np.int64), [2])
        features["job"] = tf.SparseTensor(places, tf.constant(["a", "b", "a", "c"]), shape)
        return features, labelled

    return input_fn


def case_more_heads(tf):
    learn = tf.contrib.learn
    several = [[1, 0, 1], [0, 0, 1], [1, 1, 0]]
    found = []
    for make, labels, size in (
        (learn.multi_label_head, np.array(several), 3),
        (learn.poisson_regression_head, np.array([[1.0], [2.0], [0.0]], "float32"), 1),
        (learn.binary_svm_head, np.array([[1], [0], [1]]), 1),
    ):
        for weighted in (None, "w"):
            head = make(*([3] if size == 3 else []), weight_column_name=weighted)
            for mode in ("train", "eval", "infer"):
                with tf.Graph().as_default(), tf.Session() as sess:
                    tf.train.get_or_create_global_step()
                    logits = tf.constant([[0.5 * i - j for j in range(size)] for i in range(3)])
                    given = {"w": tf.constant([[1.0], [2.0], [0.5]])}
                    asked = None if mode == "infer" else tf.constant(labels)
                    made = head.create_model_fn_ops(
                        given, mode, asked, lambda _: tf.no_op(), logits
                    )
                    shown = [[n for n in nodes(tf) if "alternatives" not in n[0]]
                             if mode != "infer" else None]  # fmt: skip
                    sess.run(tf.local_variables_initializer())
                    shown += [sorted(made.predictions), sess.run(made.predictions),
                              head.logits_dimension]  # fmt: skip
                    if mode != "infer":
                        measured = made.eval_metric_ops
                        losses = [made.loss] if mode == "train" else []
                        updates = [measured[k][1] for k in sorted(measured)]
                        shown.append(sess.run(losses + updates))
                        shown.append(sorted(measured))
                    found.append(shown)
    return found + [refused(lambda: learn.multi_label_head(1), "n_classes must be > 1")]


def case_multi_head(tf):
    learn = tf.contrib.learn
    numbers = learn.regression_head(label_name="a", head_name="a")
    head = learn.multi_head(
        [numbers, learn.multi_class_head(3, label_name="b", head_name="b")], [2.0, 0.5]
    )
    logits = np.array([[0.1, 0.5, 1.0, -1.0], [2.0, 0.0, 0.3, 0.1]], "float32")
    found = [head.logits_dimension]
    for mode in ("train", "eval", "infer"):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.train.get_or_create_global_step()
            labels = {"a": tf.constant([[1.0], [2.0]]), "b": tf.constant([[0], [2]])}
            made = head.create_model_fn_ops(
                {}, mode, None if mode == "infer" else labels, lambda _: tf.no_op(),
                tf.constant(logits))  # fmt: skip
            found.append([n for n in nodes(tf) if "alternatives" not in n[0]])
            sess.run(tf.local_variables_initializer())
            predictions = made.predictions or {}
            found.append([[str(key), sess.run(predictions[key])] for key in sorted(predictions)])
            found.append(None if mode == "infer" else sess.run(made.loss))
            found.append(sorted(made.eval_metric_ops or {}))
            found.append(sorted(made.output_alternatives or {}))
    again = [learn.regression_head(head_name=name) for name in "ab"]
    return found + [
        refused(lambda: learn.multi_head([learn.regression_head()]), "must have names"),
        refused(lambda: learn.multi_head(again, [1.0]), "must have same size"),
        refused(lambda: head.create_model_fn_ops({}, "eval", {"a": 1, "b": 2}), "Neither"),
    ]


def case_wide_and_deep_graphs(tf):
    """Node for node, by mode; without what TensorFlow's heads add for what is exported."""
    learn = tf.contrib.learn
    combined, found = learn.DNNLinearCombinedClassifier, []
    for model, labels, mode in (
        (combined(**_wide_and_deep(tf)), [0, 1, 1, 0], "train"),
        (combined(**_wide_and_deep(
            tf, n_classes=3, fix_global_step_increment_bug=True, gradient_clip_norm=0.5,
            dnn_dropout=0.2)), [0, 1, 2, 0], "train"),
        (learn.DNNLinearCombinedRegressor(**_wide_and_deep(
            tf, dnn_feature_columns=None, dnn_optimizer="SGD",
            linear_optimizer=lambda: tf.train.GradientDescentOptimizer(0.1))),
         [0.5, 1.0, 2.0, 0.0], "train"),
        (learn.DNNLinearCombinedRegressor(**_wide_and_deep(
            tf, linear_feature_columns=None, dnn_activation_fn=tf.tanh)),
         [0.5, 1.0, 2.0, 0.0], "eval"),
    ):  # fmt: skip
        made = []

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                graph = tf.get_default_graph()
                listed = [[n.name, n.type] for n in graph.get_operations()]
                made.extend(  # noqa: B023
                    [
                        [n for n in listed if n[0].split("/")[0] in ("dnn", "linear", "add")],
                        [n for n in listed if "/train_op/" in n[0] and "gradients" not in n[0]],
                        names(tf.global_variables()),
                        names(tf.trainable_variables()),
                        names(tf.get_collection("dnn")),
                        names(tf.get_collection("linear")),
                    ]
                )

        data = _wide_input(tf, labels)
        if mode == "eval":
            model.fit(input_fn=data, steps=1)
            model.evaluate(input_fn=data, steps=1, hooks=[Hook()])
        else:
            model.fit(input_fn=data, steps=2, monitors=[Hook()])
        # Where both parts count a step, the hook that stops may see the first or the second.
        step = int(model.get_variable_value("global_step"))
        found.append([made, step if len(found) == 1 else step > 0])
    return found


def case_wide_and_deep_values(tf):
    """Where all variables begin with zeros, or the network is constant."""
    learn = tf.contrib.learn
    found = []
    for model, labels, key in (
        (learn.DNNLinearCombinedClassifier(**_wide_and_deep(tf, dnn_feature_columns=None)),
         [0, 1, 1, 0], "probabilities"),
        (learn.DNNLinearCombinedRegressor(**_wide_and_deep(
            tf, dnn_feature_columns=None, _joint_linear_weights=False, weight_column_name="w")),
         [0.5, 1.0, 2.0, 0.0], "scores"),
        (learn.DNNLinearCombinedEstimator(
            learn.multi_class_head(3), **_wide_and_deep(
                tf, dnn_feature_columns=None, fix_global_step_increment_bug=True)),
         [0, 1, 2, 0], "probabilities"),
    ):  # fmt: skip
        data = _wide_input(tf, labels)
        model.fit(input_fn=data, steps=3)
        found.append({k: float(v) for k, v in model.evaluate(input_fn=data, steps=1).items()})
        found.append([p[key] for p in model.predict(input_fn=data, outputs=[key])])
        found.append(sorted(model.get_variable_names()))
    model = learn.DNNLinearCombinedClassifier(**_wide_and_deep(tf))
    data = _wide_input(tf, [0, 1, 1, 0])
    model.fit(input_fn=data, steps=3)
    found.append([len(list(model.predict_classes(input_fn=data))),
                  [len(p) for p in model.predict_proba(input_fn=data)],
                  sorted(model.evaluate(input_fn=data, steps=1))])  # fmt: skip
    model = learn.DNNLinearCombinedRegressor(**_wide_and_deep(tf))
    model.fit(input_fn=data, steps=3)
    found.append(len(list(model.predict_scores(input_fn=data))))
    bare = _wide_and_deep(tf, dnn_hidden_units=None)
    return found + [
        refused(lambda: learn.DNNLinearCombinedClassifier(), "must be defined"),
        refused(lambda: learn.DNNLinearCombinedRegressor(), "must be defined"),
        refused(lambda: learn.DNNLinearCombinedClassifier(**_wide_and_deep(tf, n_classes=1)),
                "n_classes must be > 1"),
        refused(lambda: learn.DNNLinearCombinedClassifier(**bare).fit(input_fn=data, steps=1),
                "dnn_hidden_units must be defined"),
    ]  # fmt: skip


def _model_fn(tf, as_ops):
    def line(features, labels, mode, params):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        predictions = features * w
        loss = step = None
        if mode != tf.contrib.learn.ModeKeys.INFER:
            loss = tf.reduce_mean(tf.square(predictions - labels))
            step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(
                loss, tf.train.get_global_step())  # fmt: skip
        if as_ops:
            return tf.contrib.learn.ModelFnOps(mode, {"y": predictions}, loss, step)
        return predictions, loss, step

    return line


def case_estimators_of_both_forms(tf):
    learn = tf.contrib.learn
    x = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    found = []
    for as_ops in (False, True):
        model = learn.Estimator(_model_fn(tf, as_ops), params={"rate": 0.02})
        compatible = learn.SKCompat(model)
        compatible.fit(x, 2 * x, batch_size=2, steps=5)
        score = compatible.score(x, 2 * x, batch_size=2, metrics={
            "mse": learn.MetricSpec(tf.metrics.mean_squared_error)})  # fmt: skip
        predicted = compatible.predict(x)
        predicted = predicted["y"] if as_ops else predicted
        each = list(itertools.islice(model.predict(x, batch_size=3), 2))
        found += [{k: float(v) for k, v in score.items()}, predicted, len(each),
                  model.get_variable_value("w")]  # fmt: skip
    return found


def case_experiments(tf):
    learn = tf.contrib.learn

    def input_fn():
        return tf.constant([1.0, 2.0]), tf.constant([2.0, 4.0])

    def make(output_dir):
        model = learn.Estimator(_model_fn(tf, True), output_dir, params={"rate": 0.05})
        return learn.Experiment(model, input_fn, input_fn, train_steps=4, eval_steps=1)

    metrics, _ = learn.learn_runner.run(make, tempfile.mkdtemp(), schedule="train_and_evaluate")
    return [
        {k: float(v) for k, v in metrics.items()},
        float(make(tempfile.mkdtemp()).test()["loss"]),
        refused(lambda: learn.learn_runner.run(make), "Must set value for"),
        refused(lambda: learn.learn_runner.run(make, tempfile.mkdtemp(), schedule="nothing"),
                "chedule"),
        refused(lambda: learn.learn_runner.run(3, tempfile.mkdtemp()), "is not callable"),
    ]  # fmt: skip


def case_early_stopping(tf):
    learn = tf.contrib.learn
    x = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    model = learn.Estimator(_model_fn(tf, True), params={"rate": 0.5},  # it grows without bound
                            config=learn.RunConfig(save_checkpoints_steps=1))  # fmt: skip
    monitor = learn.monitors.ValidationMonitor(
        x, 2 * x, every_n_steps=1, early_stopping_rounds=2,
        eval_steps=1, check_interval_secs=0)  # fmt: skip
    model.fit(x, 2 * x, steps=12, monitors=[monitor])
    return [bool(monitor.early_stopped), int(monitor.best_step) <= 3,
            int(model.get_variable_value("global_step")) < 12]  # fmt: skip


def case_serving_inputs(tf):
    learn = tf.contrib.learn
    made = learn.build_parsing_serving_input_fn({"age": tf.FixedLenFeature([1], tf.float32)})()
    other = learn.utils.input_fn_utils.build_default_serving_input_fn({"b": tf.ones([3, 2])})()
    found = [made._fields, sorted(made.features), sorted(made.default_inputs), made.labels is None,
             other.features["b"].shape.as_list(), _digest(tf)]  # fmt: skip
    model = learn.LinearRegressor(_age(tf), model_dir=tempfile.mkdtemp())
    model.fit(input_fn=_input(tf, [0.5, 1.0, 2.0, 0.0]), steps=2)
    column = tf.contrib.layers.create_feature_spec_for_parsing(_age(tf))
    folder = model.export_savedmodel(
        tempfile.mkdtemp(), learn.build_parsing_serving_input_fn(column))  # fmt: skip
    example = tf.train.Example()
    example.features.feature["age"].float_list.value.append(2.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, ["serve"], folder.decode())
        served = loaded.signature_def["serving_default"]
        place = next(iter(served.inputs.values())).name
        result = next(iter(served.outputs.values())).name
        got = sess.run(result, {place: [example.SerializeToString()]})
    return [*found, served.method_name, np.ravel(got)]


def case_models_and_ops(tf):
    learn = tf.contrib.learn
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
    classes = tf.placeholder(tf.float32, [None, 2])
    numbers = learn.models.linear_regression(x, y)
    shares = learn.models.logistic_regression(x, classes)
    vectors = learn.ops.categorical_variable(tf.constant([[1], [4]]), 5, 3, name="cat")
    encoded = learn.ops.seq2seq_inputs(tf.ones([2, 3, 4]), tf.ones([2, 2, 4]), 3, 2)
    decoded = learn.ops.sequence_classifier([x, 2 * x], [tf.nn.softmax(x), tf.nn.softmax(-x)])
    found = [names(tf.global_variables()), names(tf.get_collection(tf.GraphKeys.SUMMARIES)),
             [t.name for part in encoded for t in part]]  # fmt: skip
    counted = _counted(tf.global_variables())
    feed = {x: [[0.1, 0.2, 0.3], [1.0, -1.0, 0.5]], y: [1.0, 2.0], classes: [[1, 0], [0, 1]]}
    with tf.Session() as sess:
        sess.run(counted)
        found += [sess.run(numbers, feed), sess.run(shares, feed), sess.run(vectors),
                  sess.run(decoded, feed), sess.run(encoded[2])]  # fmt: skip
    return found


def case_iris(tf):
    iris = tf.contrib.learn.datasets.load_dataset("iris")
    return [iris.data, iris.target, values(tf, tf.shape(iris.data)),
            refused(lambda: tf.contrib.learn.datasets.load_dataset("x"), "not found")]  # fmt: skip


def case_refusals(tf):
    learn = tf.contrib.learn
    x = np.ones([2, 1], np.float32)
    model = learn.LinearRegressor(_age(tf), model_dir=tempfile.mkdtemp())
    return [
        refused(lambda: learn.ModeKeys.validate("x"), "Invalid mode"),
        refused(lambda: learn.ModelFnOps("train"), "Missing"),
        refused(lambda: learn.Estimator(lambda features, labels: None, params={"a": 1}),
                "does not have a params argument"),
        refused(lambda: model.fit(x, x, steps=1, max_steps=2), "Can not provide both steps"),
        refused(lambda: model.evaluate(x, x), "find trained model"),
        refused(lambda: learn.LinearClassifier(_age(tf), n_classes=1), "n_classes must be > 1"),
        refused(lambda: learn.monitors.ValidationMonitor(), "Either x or input_fn"),
    ]  # fmt: skip
