"""Programs of ``tf.estimator``'s heads that are made of Keras's metrics (``recorded``)."""

import json
import zlib

import numpy as np

from tests.contrib.recorded import nodes, refused, values

LOGITS = np.random.RandomState(4).normal(size=[4, 3]).astype("float32")
WEIGHTS = np.float32([[1.0], [2.0], [0.5], [1.0]])
NUMBERS = np.float32([[1.0, 2.0], [0.0, 2.0], [2.0, 2.0], [3.0, 4.0]])


def _spec(tf, head, labels, mode, regularized=False):
    features = {"x": tf.ones([4, 1]), "w": tf.constant(WEIGHTS)}
    scale = tf.get_variable("scale", initializer=1.5, use_resource=True)
    given = {} if mode == "infer" else {"labels": labels()}
    if regularized:
        given["regularization_losses"] = [tf.constant(0.3), tf.constant(0.5)]
    if mode == "train":
        optimizer = tf.keras.optimizers.SGD(0.1)
        optimizer.iterations = tf.train.create_global_step()
        given.update(optimizer=optimizer, trainable_variables=tf.trainable_variables())
    logits = tf.constant(LOGITS[:, : head.logits_dimension]) * scale
    return head.create_estimator_spec(features, mode, logits, **given)


def _made(tf):
    """The nodes so far, but those of the optimizer: how many, and what they are."""
    made = [each for each in nodes(tf) if not each[0].startswith("training")]
    return [len(made), zlib.crc32(json.dumps(made).encode())]


def _run(tf, fetches, then=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(tf.tables_initializer())
        found = sess.run(fetches)
        return found if then is None else sess.run(then)


def _found(tf, make, labels, regularized=False):
    """What a head finds in each mode."""
    found = {}
    with tf.Graph().as_default():
        spec = _spec(tf, make(), labels, "eval", regularized)
        updates = [update for _, update in spec.eval_metric_ops.values()]
        found["variables"] = sorted(each.name for each in tf.local_variables())
        results = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
        found["metrics"] = _run(tf, updates, results)
        found["loss"] = _run(tf, spec.loss)
    with tf.Graph().as_default():
        spec = _spec(tf, make(), labels, "train", regularized)
        found["train nodes"] = _made(tf)
        summaries = [each.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        then = [tf.trainable_variables()[0], tf.train.get_global_step()]
        found["train"] = [summaries, _run(tf, spec.train_op, then)]
    with tf.Graph().as_default():
        spec = _spec(tf, make(), labels, "infer")
        found["infer nodes"] = _made(tf)
        numbers = {k: v for k, v in spec.predictions.items() if v.dtype != tf.string}
        found["predictions"] = {str(k): v for k, v in values(tf, numbers).items()}
        found["outputs"] = list(spec.export_outputs)
    return found


def case_binary(tf):
    make = tf.estimator.BinaryClassHead
    found = [_found(tf, make, lambda: tf.constant([[1], [0], [0], [1]]))]

    def named():
        return make("w", thresholds=[0.4, 0.7], label_vocabulary=["no", "yes"], name="named",
                    loss_reduction="sum")  # fmt: skip

    labels = [["yes"], ["no"], ["no"], ["yes"]]
    found.append(_found(tf, named, lambda: tf.constant(labels), regularized=True))
    keys = make().predictions(tf.zeros([2, 1]), ["classes", "logistic"])
    return found + [
        sorted(keys),
        refused(lambda: make(thresholds=[1.5]), "thresholds not in (0, 1)"),
        refused(lambda: make(label_vocabulary="no"), "should be a list or a tuple"),
        refused(lambda: make(loss_reduction="none"), "Invalid loss_reduction: none"),
        refused(lambda: make(loss_reduction="weighted_sum"), "Invalid loss_reduction"),
        refused(lambda: make().predictions(tf.zeros([2, 1]), ["foo"]), "Prediction key must be"),
    ]


def case_multi_class(tf):
    make = tf.estimator.MultiClassHead
    found = [
        _found(tf, lambda: make(3, "w", name="kind"), lambda: tf.constant([[2], [0], [1], [1]]),
               regularized=True),
        _found(tf, lambda: make(3, label_vocabulary=["a", "b", "c"]),
               lambda: tf.constant([["a"], ["b"], ["c"], ["a"]])),
    ]  # fmt: skip
    return found + [
        refused(lambda: make(2), "n_classes must be > 2"),
        refused(lambda: make(None), "n_classes cannot be None"),
        refused(lambda: make(3, label_vocabulary=["a"]), '"label_vocabulary" does not have'),
        refused(lambda: make(3).loss(tf.zeros([4, 1]), tf.zeros([4, 3]), {"x": tf.zeros([4])}),
                "Labels dtype should be integer"),
    ]  # fmt: skip


def case_regression(tf):
    make = tf.estimator.RegressionHead

    def loss(labels, logits):
        return tf.abs(labels - logits)

    found = [
        _found(tf, make, lambda: tf.constant(NUMBERS[:, :1])),
        _found(tf, lambda: make(2, "w", inverse_link_fn=tf.exp, name="r"),
               lambda: tf.constant(NUMBERS), regularized=True),
        _found(tf, lambda: make(2, loss_fn=loss), lambda: tf.constant(NUMBERS)),
        _found(tf, tf.estimator.PoissonRegressionHead, lambda: tf.constant(NUMBERS[:, :1])),
        _found(tf, lambda: tf.estimator.PoissonRegressionHead(2, compute_full_loss=False),
               lambda: tf.constant(NUMBERS)),
        _found(tf, lambda: tf.estimator.LogisticRegressionHead("w"),
               lambda: tf.constant(NUMBERS[:, 1:] / 4)),
    ]  # fmt: skip
    return found + [
        refused(lambda: make(0), "Invalid label_dimension 0"),
        refused(lambda: make(loss_fn=lambda a, b: a), "loss_fn must contain argument: labels"),
        refused(lambda: make().loss(tf.zeros([4, 2]), tf.zeros([4, 1])), "Mismatched label shape"),
        refused(lambda: make().predictions(tf.zeros([4, 2])), "logits shape must be"),
    ]


def case_multi_label(tf):
    make = tf.estimator.MultiLabelHead

    def sparse(kept):
        return lambda: tf.SparseTensor([[0, 0], [1, 0], [1, 1], [3, 0]], kept, [4, 2])

    hot = np.int64([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 0]])
    found = [
        _found(tf, lambda: make(3, thresholds=[0.4], classes_for_class_based_metrics=[0, 2],
                                name="ml"), lambda: tf.constant(hot), regularized=True),
        _found(tf, lambda: make(3, "w"), sparse([0, 1, 2, 0])),
        _found(tf, lambda: make(3, label_vocabulary=["a", "b", "c"],
                                classes_for_class_based_metrics=["c"]),
               sparse(["a", "b", "c", "a"])),
    ]  # fmt: skip
    return found + [
        refused(lambda: make(1), "n_classes must be > 1"),
        refused(lambda: make(3, label_vocabulary=["a"]), "Length of label_vocabulary must be"),
        refused(lambda: make(3, classes_for_class_based_metrics=[5]), "must be in range [0, 2]"),
        refused(lambda: make(3, classes_for_class_based_metrics=["a"]), "label_vocabulary must be"),
    ]


def case_multi(tf):
    one, two = tf.estimator.BinaryClassHead, tf.estimator.RegressionHead

    def labels():
        return {"one": tf.constant([[1], [0], [0], [1]]), "two": tf.constant(NUMBERS)}

    def make(weights=None):
        return tf.estimator.MultiHead([one(name="one"), two(2, name="two")], weights)

    found = [_found(tf, make, labels), _found(tf, lambda: make([0.3, 0.7]), labels, True)]
    by_head = {"one": tf.zeros([4, 1]), "two": tf.zeros([4, 2])}
    return found + [
        make().name, make().logits_dimension, sorted(map(str, make().predictions(by_head))),
        refused(lambda: tf.estimator.MultiHead([]), "Must specify heads"),
        refused(lambda: tf.estimator.MultiHead([one()]), "must have name specified"),
        refused(lambda: make([1.0]), "heads and head_weights must have the same size"),
        refused(lambda: make().predictions({"one": by_head["one"]}), "logits has missing values"),
        refused(lambda: make().predictions(tf.zeros([4, 4])), "Could not split logits of shape"),
        refused(lambda: make().loss(tf.zeros([4, 3]), by_head), "labels must be a dict"),
    ]  # fmt: skip


def case_training(tf):
    """What training needs, and what else a train op may be."""

    def train(**given):
        head = tf.estimator.RegressionHead()
        logits = tf.Variable(tf.zeros([4, 1]), use_resource=True) * 1.0
        return head.create_estimator_spec(
            {"x": tf.ones([4, 1])}, "train", logits, tf.zeros([4, 1]), **given
        ).train_op

    sgd = tf.keras.optimizers.SGD(0.1)
    update = tf.no_op(name="update")
    grouped = train(train_op_fn=lambda loss: tf.identity(loss, name="t"), update_ops=[update])
    return [
        [grouped.name, [each.name for each in grouped.control_inputs]],
        train(train_op_fn=lambda loss: tf.identity(loss, name="u")).name,
        refused(train, "train_op_fn and optimizer cannot both be None"),
        refused(lambda: train(optimizer=sgd, train_op_fn=tf.identity), "cannot both be set"),
        refused(lambda: train(optimizer=sgd), "trainable_variables cannot be None"),
        refused(lambda: train(optimizer=sgd, trainable_variables=3), "should be a list or a tuple"),
        refused(lambda: train(optimizer=tf.train.AdamOptimizer(), trainable_variables=[]),
                "The given optimizer is not a tf.keras.optimizers.Optimizer instance"),
        refused(tf.estimator.Head, "abstract"),
    ]  # fmt: skip


def case_estimator(tf):
    """A model function with a head, trained and evaluated as a whole."""

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer(), use_resource=True)
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.iterations = tf.train.get_or_create_global_step()
        return tf.estimator.MultiClassHead(3).create_estimator_spec(
            features, mode, tf.matmul(features["x"], w), labels, optimizer, tf.trainable_variables()
        )

    def data():
        x = np.float32([[1, 0], [0, 1], [1, 1], [0, 0.5]])
        return tf.data.Dataset.from_tensors(({"x": x}, [[0], [1], [2], [1]])).repeat(5)

    made = tf.estimator.Estimator(model_fn)
    made.train(data)
    found = made.evaluate(data)
    predicted = [each["class_ids"].tolist() for each in made.predict(data)]
    return [{key: float(value) for key, value in found.items()}, predicted[:4]]


def case_metrics_of_keras(tf):
    """Metrics of Keras as a specification's own."""

    def spec(metric):
        return tf.estimator.EstimatorSpec(
            "eval", loss=tf.constant(1.0), eval_metric_ops={"m": metric}
        )

    mean = tf.keras.metrics.Mean()
    mean.update_state([1.0, 3.0])
    value, update = spec(mean).eval_metric_ops["m"]
    kept = [len(tf.get_collection(k)) for k in ("local_variables", "metric_variables")]
    never = tf.keras.metrics.Mean(name="never")
    return [
        _run(tf, update, value), kept, len(mean.updates),
        refused(lambda: spec(never), 'Please call update_state(...) on the "never" metric'),
    ]  # fmt: skip
