"""Programs of target columns and of weights found by hash (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values

LOGITS = np.array([[0.3], [-0.2], [1.5], [0.1]], "float32")
SEVERAL = np.array([[0.3, 1.0, 0.2], [-0.2, 0.1, 0.4], [1.5, 0.9, 2.0], [1.0, 0.5, 0.3]], "float32")
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0], "float32")
CLASSES = np.array([1, 0, 1, 0])


def _ran(tf, tensors):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [sess.run([tensor]) for tensor in tensors]


def _of(tf, target, logits, labels, with_nodes=True):
    with tf.Graph().as_default():
        logits, labels = tf.constant(logits), tf.constant(labels)
        features = {"w": tf.constant(WEIGHTS)}
        losses = [target.loss(logits, labels, features)]
        losses.append(target.training_loss(logits, labels, features))
        predictions = [target.logits_to_predictions(logits)]
        proba = refused(lambda: predictions.append(target.logits_to_predictions(logits, True)))
        found = target.get_eval_ops(features, logits, labels)
        updates = [found[name][1] for name in sorted(found)]
        values = [found[name][0] for name in sorted(found)]
        shown = [sorted(found), names(tf.local_variables()), proba, target.num_label_columns]
        shown += [target.problem_type, target.label_name, target.weight_column_name]
        return [nodes(tf) if with_nodes else None, shown, _ran(tf, losses + predictions + updates
                                                               + values)]  # fmt: skip


def case_regression(tf):
    target = tf.contrib.layers.regression_target
    return [
        _of(tf, target(), LOGITS, WEIGHTS),
        _of(tf, target(weight_column_name="w"), LOGITS, WEIGHTS[:, None]),
        _of(tf, target(label_dimension=3), SEVERAL, SEVERAL * 2),
        refused(lambda: target().loss(tf.constant(LOGITS), tf.constant(SEVERAL), {}), "incompat"),
    ]


def case_classes(tf):
    layers, slim = tf.contrib.layers, tf.contrib.slim
    return [
        _of(tf, layers.multi_class_target(2), LOGITS, CLASSES[:, None]),
        _of(tf, layers.multi_class_target(2, weight_column_name="w"), LOGITS, CLASSES[:, None]),
        _of(tf, layers.multi_class_target(3), SEVERAL, CLASSES * 2),
        _of(tf, layers.multi_class_target(3, "y", "w"), SEVERAL, CLASSES[:, None]),
        _of(tf, slim.binary_svm_target(), LOGITS, CLASSES[:, None]),
        _of(tf, slim.binary_svm_target(weight_column_name="w"), LOGITS, CLASSES[:, None]),
        refused(lambda: layers.multi_class_target(1), "n_classes must be > 1"),
        sorted(slim.get_default_binary_metrics_for_eval([0.3, 0.5])),
        [slim.ProblemType.UNSPECIFIED, slim.ProblemType.LOGISTIC_REGRESSION],
    ]


def case_given_metrics(tf):
    layers, metrics = tf.contrib.layers, tf.contrib.metrics
    labels = tf.constant(CLASSES)
    target, logits = layers.multi_class_target(3), tf.constant(SEVERAL)
    features = {"w": tf.constant(WEIGHTS)}
    found = target.get_eval_ops(features, logits, labels, {
        "a": lambda predictions, labels: metrics.streaming_mean(predictions),
        ("p", "probabilities"): lambda predictions, labels: metrics.streaming_mean(predictions),
        ("c", "classes"): metrics.streaming_accuracy,
    })  # fmt: skip
    more = layers.regression_target().get_eval_ops(features, tf.constant(LOGITS), labels, {
        "m": lambda predictions, labels: metrics.streaming_mean(predictions),
        ("n", "scores"): lambda predictions, labels: metrics.streaming_mean(labels),
    })  # fmt: skip
    weighted = layers.multi_class_target(3, weight_column_name="w").get_eval_ops(
        features, logits, labels, {"accuracy": metrics.streaming_accuracy}
    )
    more["w"] = weighted["accuracy"]
    found, more = ({str(k): v for k, v in some.items()} for some in (found, more))
    updates = [found[k][1] for k in sorted(found)] + [more[k][1] for k in sorted(more)]
    return [sorted(found), sorted(more), _ran(tf, updates)] + [
        refused(lambda n=name: target.get_eval_ops({}, logits, labels, {n: None}), words)
        for name, words in (
            (("a", "b", "c"), "with len 3, expected 2"),
            (("a", "b"), "'classes' or 'probab"),
        )
    ]


# ---- weights found by hash -----------------------------------------------------------------------


def _words(tf):
    words = tf.placeholder_with_default(["a", "b", "c"], [3])
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], words, [3, 2])


def _weights(tf, name, sizes):
    first = np.linspace(-1, 1, sum(sizes)).astype("float32")
    parts = np.split(first, np.cumsum(sizes)[:-1])
    made = [tf.get_variable(f"{name}{i}", initializer=tf.constant(p)) for i, p in enumerate(parts)]
    return made if len(made) > 1 else made[0]


def case_scattered(tf):
    slim = tf.contrib.slim
    one, three = _weights(tf, "one", [10]), _weights(tf, "three", [4, 3, 3])
    words = tf.constant([["a", "b"], ["c", "a"]])
    key = slim.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    made = [
        slim.scattered_embedding_lookup(one, words, 3),
        slim.scattered_embedding_lookup(three, words, 4, hash_key=7, name="x"),
        slim.scattered_embedding_lookup_sparse(one, _words(tf), 3),
        slim.scattered_embedding_lookup_sparse(three, _words(tf), 3, "sum", "z", hash_key=key),
        slim.scattered_embedding_lookup_sparse(one, _words(tf), 2, "sqrtn", name="y"),
        slim.bucketize(tf.constant([0.5, 1.0, 3.0]), [1, 2.5], name="b"),
        slim.sparse_feature_cross([words, words], True, 100, hash_key=key).values,
    ]
    look, sparse = slim.scattered_embedding_lookup, slim.scattered_embedding_lookup_sparse
    return [key, tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY == key, nodes(tf),
            values(tf, made)] + [
        refused(lambda: look(three[1:] + three[:1], words, 3), "Tensor 0 in params has size 3"),
        refused(lambda: look(one, words, 0), "Dimension must be >0. Given is 0"),
        refused(lambda: look([], words, 2)),
        refused(lambda: look(tf.ones([3, 2]), words, 2), "must have rank 1"),
        refused(lambda: sparse(one, words, 2), "sparse_values must be SparseTensor"),
        refused(lambda: sparse(one, _words(tf), 2, "x"), "Combiner must be one of 'mean', 'sqrtn'"),
    ]  # fmt: skip


def case_scattered_column(tf):
    layers = tf.contrib.layers
    key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    first = tf.ones_initializer()
    column = layers.scattered_embedding_column
    columns = [column("w", 20, 3, key, initializer=first), column("v", 10, 2, 9, "sum")]
    features = {"w": _words(tf), "v": _words(tf)}
    made = layers.input_from_feature_columns(features, columns)
    found = [nodes(tf), names(tf.get_collection("model_variables")), made.shape.as_list()]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for variable in tf.global_variables():
            variable.load(np.linspace(-1, 1, variable.shape[0]), sess)
        found.append(sess.run(made))
    found.append([c.name for c in columns])
    found.append(sorted(layers.create_feature_spec_for_parsing(columns)))
    return found + [
        refused(lambda: column("w", 0, 3, None), "Dimension and size must be greater than 0"),
        refused(lambda: column("w", 3, 3, None, "x"), "Combiner must be one of"),
        refused(lambda: column("w", 3, 3, None, initializer=3), "initializer must be callable"),
        refused(lambda: layers.weighted_sum_from_feature_columns(features, columns, 1)),
        refused(lambda: layers.sequence_input_from_feature_columns(features, columns),
                "is not currently supported for sequence data"),
    ]  # fmt: skip
