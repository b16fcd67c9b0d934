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
