"""Programs of ``tf.contrib.estimator`` and ``tf.estimator.experimental`` (``recorded``)."""

import glob
import json
import tempfile
import zlib

import numpy as np

from tests.contrib.recorded import nodes, refused, values

LOGITS = np.random.RandomState(4).normal(size=[4, 3]).astype("float32")
WEIGHTS = np.float32([[1.0], [2.0], [0.5], [1.0]])


def _spec(tf, head, width, labels, mode="eval"):
    features = {"x": tf.ones([4, 1]), "w": tf.constant(WEIGHTS)}
    scale = tf.get_variable("scale", initializer=1.5)
    given = {} if mode == "infer" else {"labels": labels}
    if mode == "train":
        tf.train.create_global_step()
        given["optimizer"] = tf.train.GradientDescentOptimizer(0.1)
    return head.create_estimator_spec(
        features, mode, tf.constant(LOGITS[:, :width]) * scale, **given
    )


def _run(tf, fetches, then=None):
    """What is fetched; or, where there is more, what that is after it."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(tf.tables_initializer())
        found = sess.run(fetches)
        return found if then is None else sess.run(then)


def _found(tf, head, width, labels):
    """What a head finds in each mode."""
    found = {}
    with tf.Graph().as_default():
        spec = _spec(tf, head, width, labels())
        updates = {key: update for key, (_, update) in spec.eval_metric_ops.items()}
        found["metrics"], found["loss"] = _run(tf, [updates, spec.loss])
        found["eval"] = [len(nodes(tf)), zlib.crc32(json.dumps(nodes(tf)).encode())]
    with tf.Graph().as_default():
        spec = _spec(tf, head, width, labels(), "train")
        summaries = [each.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        (scale,) = tf.trainable_variables()
        found["train"] = [summaries, _run(tf, spec.train_op, scale)]
    with tf.Graph().as_default():
        spec = _spec(tf, head, width, None, "infer")
        numbers = {k: v for k, v in spec.predictions.items() if v.dtype != tf.string}
        found["predictions"] = {str(k): v for k, v in values(tf, numbers).items()}
        found["outputs"] = sorted(spec.export_outputs)
    return found


def case_binary_head(tf):
    make = tf.contrib.estimator.binary_classification_head
    found = [_found(tf, make(thresholds=[0.4]), 1, lambda: tf.constant([[1], [0], [0], [1]]))]
    head = make("w", label_vocabulary=["no", "yes"], name="named",
                loss_reduction=tf.losses.Reduction.SUM)  # fmt: skip
    found.append(_found(tf, head, 1, lambda: tf.constant([["yes"], ["no"], ["no"], ["yes"]])))
    return found + [refused(lambda: make(thresholds=[1.5]), "thresholds")]


def case_multi_class_head(tf):
    make = tf.contrib.estimator.multi_class_head
    head = make(3, weight_column="w", name="kind")
    found = [_found(tf, head, 3, lambda: tf.constant([[2], [0], [1], [1]]))]
    return found + [refused(lambda: make(2), "n_classes must be > 2")]


def case_multi_label_head(tf):
    make = tf.contrib.estimator.multi_label_head

    def sparse(kept):
        return tf.SparseTensor([[0, 0], [1, 0], [1, 1], [3, 0]], kept, [4, 2])

    hot = np.int64([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0]])
    names = ["a", "b", "c"]
    named = make(3, "w", [0.3, 0.5], names, classes_for_class_based_metrics=["c"], name="n")
    return [
        _found(tf, make(3, classes_for_class_based_metrics=[0, 2]), 3, lambda: tf.constant(hot)),
        _found(tf, make(3), 3, lambda: sparse([0, 2, 1, 1])),
        _found(tf, named, 3, lambda: sparse(["a", "c", "b", "b"])),
        refused(lambda: make(1), "n_classes must be > 1"),
        refused(lambda: make(3, thresholds=[0.0]), "thresholds must be in (0, 1) range"),
        refused(lambda: make(3, label_vocabulary=["a"]), "must be n_classes (3)"),
        refused(lambda: make(3, classes_for_class_based_metrics=[3]), "must be in range [0, 2]"),
        refused(lambda: make(3, classes_for_class_based_metrics=["a"]), "must be provided when"),
    ]


def case_number_heads(tf):
    package = tf.contrib.estimator
    counts = tf.float32, [[1.0], [0.0], [4.0], [2.0]]
    parts = tf.float32, [[0.25], [1.0], [0.0], [0.5]]
    pairs = tf.float32, [[1.0, 2.0], [0.0, 1.0], [3.0, 3.0], [1.0, -1.0]]
    made = [
        (package.poisson_regression_head("w", name="count"), 1, counts),
        (package.poisson_regression_head(compute_full_loss=False), 1, counts),
        (package.logistic_regression_head(), 1, parts),
        (package.regression_head(label_dimension=2, inverse_link_fn=tf.tanh), 2, pairs),
    ]
    return [
        _found(tf, head, width, lambda given=given: tf.constant(given[1], given[0]))
        for head, width, given in made
    ]


def case_multi_head(tf):
    package = tf.contrib.estimator
    heads = [package.regression_head(name="r"), package.binary_classification_head(name="b")]

    def labels():
        return {
            "r": tf.constant([[1.0], [2.0], [0.0], [1.0]]),
            "b": tf.constant([[1], [0], [1], [1]]),
        }

    found = [_found(tf, package.multi_head(heads, [1.0, 0.5]), 2, labels)]
    found += [_found(tf, package.multi_head(heads), 2, labels)]
    found += [refused(lambda: package.multi_head([]), "Must specify heads")]
    found += [refused(lambda: package.multi_head(heads, [1.0]), "must have the same size")]
    found += [refused(lambda: package.multi_head([package.regression_head()]), "must have name")]
    return found


def _read(tf):
    def input_fn():
        features = {"x": [[1.0], [2.0], [3.0], [4.0]], "id": [[5], [6], [7], [8]]}
        return tf.data.Dataset.from_tensors((features, [[3.0], [5.0], [7.0], [9.0]])).repeat(20)

    return input_fn


def _regressor(tf, **more):
    x = tf.feature_column.numeric_column("x")
    return tf.estimator.LinearRegressor([x], tempfile.mkdtemp(), **more)


def case_extenders(tf):
    package = tf.contrib.estimator
    plain = tf.train.GradientDescentOptimizer(0.1)
    made = _regressor(tf, optimizer=package.clip_gradients_by_norm(plain, 2.0))
    made = package.add_metrics(made, lambda labels: {"mean": tf.metrics.mean(labels)})
    made = package.forward_features(made, "id")
    made.train(_read(tf), steps=3)
    found = [float(made.get_variable_value(n).sum()) for n in made.get_variable_names()]
    metrics = made.evaluate(_read(tf), steps=1)
    found += [made.get_variable_names(), {k: float(v) for k, v in metrics.items()}]
    found.append([each["id"] for each, _ in zip(made.predict(_read(tf)), range(4))])
    found += [refused(lambda: package.forward_features(made, 3), "keys should be either a string")]
    again = package.forward_features(made, "none")
    found += [refused(lambda: next(again.predict(_read(tf))), "keys should be exist in features")]
    return found


def case_early_stopping(tf):
    package = tf.estimator.experimental
    found = []
    rate = tf.train.GradientDescentOptimizer(0.001)

    measured = _regressor(tf, optimizer=rate)
    for _ in range(2):
        measured.train(_read(tf), steps=2)
        measured.evaluate(_read(tf), steps=1)

    def steps_of(make, limit):
        made = _regressor(tf, optimizer=rate)
        given = {"min_steps": 1, "run_every_secs": None, "run_every_steps": 1}
        hook = make(made, "loss", limit, measured.eval_dir(), **given)
        made.train(_read(tf), steps=3, hooks=[hook])
        return int(made.get_variable_value("global_step")), made.get_variable_names()

    for name, limit in (
        ("stop_if_higher_hook", 1.0),
        ("stop_if_lower_hook", 1.0),
        ("stop_if_no_increase_hook", 2),
        ("stop_if_no_decrease_hook", 2),
    ):
        found.append(steps_of(getattr(package, name), limit))
    made = _regressor(tf)
    hook = package.make_stop_at_checkpoint_step_hook(made, 5)
    made.train(_read(tf), hooks=[hook])
    found.append([int(made.get_variable_value("global_step")), type(hook).__name__])
    ask = package.make_early_stopping_hook
    found += [refused(lambda: ask(3, lambda: True), "must have type `tf.estimator.Estimator`")]
    found += [refused(lambda: ask(made, lambda: True, 1, 1), "Only one of `run_every_secs`")]
    found += [refused(lambda: ask(made, 3), "`should_stop_fn` must be callable")]
    return found


def case_in_memory_evaluator(tf):
    made = _regressor(tf, optimizer=tf.train.GradientDescentOptimizer(0.001))
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(
        made, _read(tf), 1, name="in", every_n_iter=2
    )
    made.train(_read(tf), steps=5, hooks=[hook])
    found = []
    for path in sorted(glob.glob(made.eval_dir("in") + "/*")):
        for event in tf.train.summary_iterator(path):
            found += [[event.step, v.tag, v.simple_value] for v in event.summary.value]
    bad = tf.estimator.experimental.InMemoryEvaluatorHook
    return found + [refused(lambda: bad(made, _read(tf), every_n_iter=0), "invalid every_n_iter=0")]


def case_logit_functions(tf):
    package = tf.estimator.experimental
    x = tf.feature_column.numeric_column("x")
    features = {"x": tf.constant([[1.0], [2.0]])}
    deep = package.dnn_logit_fn_builder(2, [3], [x], tf.nn.relu, None, None, True)
    linear = package.linear_logit_fn_builder(2, [x])
    made = [package.call_logit_fn(each, features, "eval", {}, None) for each in (deep, linear)]
    found = [[each.shape.as_list() for each in made]]
    wrong = package.call_logit_fn
    found += [
        refused(lambda: wrong(lambda features: 3, features, "eval", {}, None), "should return")
    ]
    return found + [
        refused(
            lambda: package.dnn_logit_fn_builder(1.5, [3], [x], None, None, None, 0),
            "units must be an int",
        )
    ]


def _receiver(tf, input_fn, **arguments):
    make = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn
    with tf.Graph().as_default() as graph:
        receiver_fn = make(input_fn, **arguments)
        assert not graph.get_operations()
        receiver = receiver_fn()
        fed = {
            key: [tensor.name, tensor.op.type, str(tensor.get_shape()), tensor.dtype.name]
            for key, tensor in receiver.receiver_tensors.items()
        }
        return [fed, [op.name for op in graph.get_operations()]]


def case_receivers_of_input_functions(tf):
    def rows(n):
        return {"x": tf.ones([n, 3])}, {"l": tf.ones([n])}

    def dataset():
        return tf.data.Dataset.from_tensor_slices(({"x": [[1.0, 2.0]]}, [1])).batch(1)

    return [
        _receiver(tf, lambda: ({"x": tf.ones([4, 3]), "y": tf.zeros([4], tf.int64)}, tf.ones([4]))),
        _receiver(tf, lambda: (tf.ones([4, 3]), tf.ones([4]))),
        _receiver(tf, rows, n=2),
        _receiver(tf, dataset),
        _receiver(tf, lambda: (
            {"x": tf.SparseTensor([[0, 0]], [1.0], [2, 2])}, tf.ones([2])
        )),
    ]  # fmt: skip


_POINTS = np.float32([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
_SUMS = _POINTS.sum(axis=1, keepdims=True)


def _given(tf, features, labels=None):
    """An ``input_fn`` of two batches."""
    data = features if labels is None else (features, labels)
    return lambda: tf.data.Dataset.from_tensors(data).repeat(2)


def _linear_fn(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer([[0.5], [1.0]]))
        y = tf.matmul(features["x"], w) + tf.get_variable(
            "b", [1], initializer=tf.zeros_initializer()
        )
        predictions = {"y": y, "twice": 2 * y}
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions)
        loss = tf.reduce_mean(tf.square(y - labels))
        metrics = {"mean": tf.metrics.mean(y), "off": tf.metrics.mean_absolute_error(labels, y)}
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train, eval_metric_ops=metrics)

    return model_fn


def _exported_linear(tf):
    """A model that was trained, and folders of it: of all modes, and of predictions alone."""
    made = tf.estimator.Estimator(_linear_fn(tf), tempfile.mkdtemp())
    made.train(_given(tf, {"x": _POINTS}, _SUMS), steps=2)
    with tf.Graph().as_default():
        x = {"x": tf.placeholder(tf.float32, [7, 2], name="given")}
        serve = tf.estimator.export.build_raw_serving_input_receiver_fn(x)
        learn = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
            x, tf.placeholder(tf.float32, [7, 1], name="wanted")
        )
    receivers = {"train": learn, "eval": learn, "infer": serve}
    folder = tempfile.mkdtemp()
    export_all = tf.contrib.estimator.export_all_saved_models
    return (
        made,
        [
            export_all(made, folder + "/all", receivers),
            made.export_saved_model(folder + "/one", serve),
        ],
        receivers,
    )


def _used(tf, estimator):
    """What an estimator measures and predicts."""
    metrics = estimator.evaluate(_given(tf, {"x": _POINTS}, _SUMS), steps=1)
    found = {key: float(value) for key, value in metrics.items()}
    predicted = list(estimator.predict(_given(tf, {"x": _POINTS, "more": _POINTS})))
    return [found, predicted, [each["y"] for each in estimator.predict(
        _given(tf, {"x": _POINTS}), predict_keys=["y"])]]  # fmt: skip


class _GraphHook:
    """Makes a hook that keeps the graph's nodes and collections as a session begins."""

    def __init__(self, tf):
        found = self.found = {}

        class Hook(tf.train.SessionRunHook):
            def begin(self):
                found["nodes"] = [len(nodes(tf)), zlib.crc32(json.dumps(nodes(tf)).encode())]
                for key in ("variables", "trainable_variables", "local_variables", "train_op"):
                    found[key] = [each.name for each in tf.get_collection(key)]
                found["savers"] = len(tf.get_collection("savers"))

        self.hook = Hook()


def case_saved_model_estimator(tf):
    package = tf.contrib.estimator
    given, (folder, only), receivers = _exported_linear(tf)
    made = package.SavedModelEstimator(folder, tempfile.mkdtemp())
    found = [made.latest_checkpoint(), _used(tf, made)]
    watched = _GraphHook(tf)
    made.train(_given(tf, {"x": _POINTS}, {"label": _SUMS}), steps=2, hooks=[watched.hook])
    given.train(_given(tf, {"x": _POINTS}, _SUMS), steps=2)
    for each in (made, given):
        found.append({name: each.get_variable_value(name) for name in each.get_variable_names()})
    found += [watched.found, _used(tf, made)]
    again = package.export_all_saved_models(made, tempfile.mkdtemp(), receivers)
    found.append(_used(tf, package.SavedModelEstimator(again)))
    return found + [list(package.SavedModelEstimator(only).predict(_given(tf, {"x": _POINTS})))]


def case_saved_model_estimator_refuses(tf):
    make = tf.contrib.estimator.SavedModelEstimator
    _, (folder, only), _ = _exported_linear(tf)
    made, served = make(folder), make(only)
    good = _given(tf, {"x": _POINTS}, _SUMS)

    def evaluate(features, labels=None, words=""):
        return refused(lambda: made.evaluate(_given(tf, features, labels)), words)

    return [
        refused(lambda: make(tempfile.mkdtemp()), "invalid SavedModel format"),
        refused(lambda: served.train(good), "train mode is not available in the SavedModel"),
        refused(lambda: served.evaluate(good), "eval mode is not available in the SavedModel"),
        evaluate(_POINTS, _SUMS, 'Key "x" not found in features or labels'),
        evaluate({"x": _POINTS}, None, 'Key "label" not found in features or labels'),
        evaluate({"x": _POINTS}, {"l": _SUMS}, 'Key "label" not found in features or labels'),
        evaluate({"x": _POINTS}, _SUMS.astype(int), "Expected dtype: <dtype: 'float32'>, Got:"),
        evaluate({"x": _POINTS[:, :1]}, _SUMS, "Expected shape: (?, 2), Got: (3, 1)"),
        refused(lambda: made.evaluate(lambda: ({"x": _POINTS}, _SUMS)), "feature x must be a"),
        refused(lambda: made.export_savedmodel, "Please use `export_saved_model`"),
        _refused_without_default(tf),
    ]


def _refused_without_default(tf):
    """What a canned model says whose MetaGraph has no default signature."""
    made = _regressor(tf).train(_read(tf), steps=1)

    def receive():
        x = {"x": tf.placeholder(tf.float32, [None, 1])}
        return tf.estimator.export.ServingInputReceiver(x, x)

    folder = made.export_saved_model(tempfile.mkdtemp(), receive)
    served = tf.contrib.estimator.SavedModelEstimator(folder)
    words = "infer mode is not available in the SavedModel"
    return refused(lambda: next(served.predict(_read(tf))), words)


# ---- towers --------------------------------------------------------------------------------------

TOWER_X = np.float32([[1.0], [2.0], [3.0], [4.0]])


def _tower_model(tf, make=None):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", initializer=2.0)
        p = features["x"] * w
        if mode == "infer":
            return tf.estimator.EstimatorSpec(mode, predictions={"p": p})
        loss = tf.losses.mean_squared_error(labels, p)
        optimizer = make() if make else tf.train.AdamOptimizer(0.1)
        wrapped = tf.contrib.estimator.TowerOptimizer(optimizer)
        train_op = wrapped.minimize(loss, tf.train.get_or_create_global_step())
        metrics = {"m": tf.metrics.mean(p), "rmse": tf.metrics.root_mean_squared_error(labels, p)}
        return tf.estimator.EstimatorSpec(mode, p, loss, train_op, metrics)

    return model_fn


def _towers(tf, mode, devices, model=None, reduction="weighted_sum_by_nonzero_weights", rows=4):
    features, labels = {"x": tf.constant(TOWER_X[:rows])}, tf.constant(TOWER_X[:rows] ** 2)
    tf.train.get_or_create_global_step()
    model = model or _tower_model(tf)
    made = tf.contrib.estimator.replicate_model_fn(model, reduction, devices)
    return made(features, None if mode == "infer" else labels, mode)


def _step_of_towers(tf, spec, steps=2):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        losses = []
        for _ in range(steps):
            losses.append(sess.run(spec.loss))
            sess.run(spec.train_op)
        ordered = sorted(tf.global_variables(), key=lambda each: each.name)
        return [losses, [v.name for v in ordered], sess.run(ordered)]


def case_towers_train(tf):
    found, two = [], ["/cpu:0", "/cpu:1"]
    for devices, reduction in ((two, "weighted_mean"), (two, "weighted_sum"), (two[:1], "none_")):
        with tf.Graph().as_default() as graph:
            spec = _towers(tf, "train", devices, reduction=reduction)
            kept = [[op.name, op.device] for op in graph.get_operations()
                    if op.type in ("VariableV2", "Mul", "Split", "AddN", "ApplyAdam")
                    and "gradients" not in op.name and "mean" not in op.name]  # fmt: skip
            found.append([sorted(kept), _step_of_towers(tf, spec)])
    return found


def case_towers_sparse(tf):
    def model_fn(features, labels, mode):
        table = tf.get_variable("table", initializer=tf.ones([4, 2]))
        loss = tf.reduce_sum(
            tf.nn.embedding_lookup(table, tf.cast(features["x"][:, 0], tf.int32) - 1)
        )
        optimizer = tf.contrib.estimator.TowerOptimizer(
            lambda: tf.train.GradientDescentOptimizer(0.1)
        )
        train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return _step_of_towers(tf, _towers(tf, "train", ["/cpu:0", "/cpu:1"], model_fn))


def case_towers_evaluate_and_predict(tf):
    with tf.Graph().as_default():
        spec = _towers(tf, "eval", ["/cpu:0", "/cpu:1"])
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            sess.run([update for _, update in spec.eval_metric_ops.values()])
            metrics = sess.run({k: v for k, (v, _) in spec.eval_metric_ops.items()})
            found = [metrics, sess.run(spec.loss)]
            found.append({v.name: sess.run(v) for v in tf.local_variables()})
    spec = _towers(tf, "infer", ["/cpu:0", "/cpu:1"])
    outputs = {k: v.outputs for k, v in spec.export_outputs.items()}
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(tf.global_variables_initializer())
        return found + [sess.run([spec.predictions, outputs]), spec.predictions["p"].name]


def case_towers_in_an_estimator(tf):
    made = tf.contrib.estimator.replicate_model_fn(_tower_model(tf), devices=["/cpu:0"])
    estimator = tf.estimator.Estimator(made, tempfile.mkdtemp())
    data = tf.data.Dataset.from_tensors

    def input_fn():
        return data(({"x": TOWER_X}, TOWER_X**2)).repeat(3)

    estimator.train(input_fn)
    found = {k: float(v) for k, v in estimator.evaluate(input_fn).items()}
    return [found, float(estimator.get_variable_value("w"))]


def case_towers_refuse(tf):
    package, two = tf.contrib.estimator, ["/cpu:0", "/cpu:1"]

    optimizer = package.TowerOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    w = tf.get_variable("alone", initializer=2.0)
    optimizer.minimize(w * 3.0)
    return [
        refused(lambda: package.replicate_model_fn(_tower_model(tf), "none"), "need to be reduced"),
        refused(lambda: _towers(tf, "infer", two, rows=3), "divisible by the number of GPUs"),
        optimizer.get_name(), optimizer.get_slot_names(), optimizer.get_slot(w, "momentum").name,
        [v.name for v in optimizer.variables()],
    ]  # fmt: skip


def case_towers_used(tf):
    wrapper, seen = tf.contrib.estimator.TowerOptimizer, []
    inner = _tower_model(tf)

    def model_fn(features, labels, mode):
        seen.append(wrapper.has_been_used())
        spec = inner(features, labels, mode)
        seen.append(wrapper.has_been_used())
        return spec

    for devices in (["/cpu:0"], ["/cpu:0", "/cpu:1"]):
        with tf.Graph().as_default():
            _towers(tf, "train", devices, model_fn)
            seen.append(wrapper.has_been_used())
    wrapper(tf.train.GradientDescentOptimizer(0.1)).minimize(tf.get_variable("w", [1]) * 2.0)
    return seen + [wrapper.has_been_used(), wrapper.COLLECTION_FOR_GRAPH_STATES]
