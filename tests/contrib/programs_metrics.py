"""Programs of ``tf.contrib.metrics`` (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, refused

RNG = np.random.RandomState(7)
SCORES = RNG.uniform(0, 1, size=[3, 6]).astype("float32")
TRUTH = RNG.uniform(size=[3, 6]) > 0.5
GUESSES = RNG.uniform(size=[3, 6]) > 0.4
WEIGHTS = RNG.uniform(0.5, 2, size=[3, 6]).astype("float32")
CLASSES = RNG.randint(0, 3, size=[3, 6])
CHOSEN = RNG.randint(0, 3, size=[3, 6])
FLOATS = RNG.normal(size=[3, 6]).astype("float32")
LOGITS = RNG.normal(size=[3, 4, 5]).astype("float32")
LABELS = RNG.randint(0, 5, size=[3, 4, 2])


def _run(tf, build, *batches):
    """Names of variables; the update and then the value of a metric after each batch."""
    with tf.Graph().as_default():
        fed = [tf.placeholder(tf.as_dtype(b.dtype), b.shape[1:]) for b in batches]
        value, update = build(*fed)
        found = [names(tf.local_variables())]
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            for step in range(3):
                feed = {f: b[step] for f, b in zip(fed, batches)}
                found.append(_shown(sess.run(update, feed)))
                found.append(_shown(sess.run(value)))
    return found


def _shown(value):
    return value if value is None or isinstance(value, tuple) else np.asarray(value)


def _several(tf, functions, *batches, **arguments):
    metrics = tf.contrib.metrics
    return [_run(tf, lambda *fed, n=name: getattr(metrics, n)(*fed, **arguments), *batches)
            for name in functions.split()]  # fmt: skip


def case_of_decisions(tf):
    functions = (
        "streaming_true_positives streaming_true_negatives streaming_false_positives"
        " streaming_false_negatives streaming_accuracy streaming_precision streaming_recall"
        " streaming_false_positive_rate streaming_false_negative_rate"
    )
    found = _several(tf, functions, GUESSES, TRUTH)
    return found + _several(tf, functions, GUESSES, TRUTH, WEIGHTS)


def case_of_floats(tf):
    functions = (
        "streaming_mean_absolute_error streaming_mean_squared_error"
        " streaming_root_mean_squared_error streaming_covariance streaming_pearson_correlation"
    )
    found = _several(tf, functions, SCORES, FLOATS) + _several(
        tf, functions, SCORES, FLOATS, WEIGHTS
    )
    found += _several(tf, "streaming_mean streaming_mean_tensor count", FLOATS)
    found += _several(tf, "streaming_mean streaming_mean_tensor count", FLOATS, WEIGHTS)
    metrics = tf.contrib.metrics
    found.append(_run(tf, lambda x: metrics.streaming_percentage_less(x, 0.2), FLOATS))
    found.append(
        _run(tf, lambda x, y: metrics.streaming_mean_relative_error(x, y, y), SCORES, WEIGHTS)
    )
    found.append(
        _run(tf, lambda x, y: metrics.streaming_mean_cosine_distance(x, y, 0), SCORES, FLOATS)
    )
    return found


def case_of_thresholds(tf):
    functions = (
        "streaming_true_positives_at_thresholds streaming_true_negatives_at_thresholds"
        " streaming_false_positives_at_thresholds streaming_false_negatives_at_thresholds"
        " streaming_false_positive_rate_at_thresholds streaming_false_negative_rate_at_thresholds"
        " streaming_precision_at_thresholds streaming_recall_at_thresholds"
    )
    limits = [0.2, 0.5, 0.8]
    found = _several(tf, functions, SCORES, TRUTH, thresholds=limits)
    metrics = tf.contrib.metrics
    for name in functions.split():
        found.append(_run(tf, lambda x, y, w: getattr(metrics, name)(  # noqa: B023
            x, y, limits, w), SCORES, TRUTH, WEIGHTS))  # fmt: skip
    return found


def case_of_curves(tf):
    metrics = tf.contrib.metrics
    found = [
        _run(tf, lambda x, y: metrics.streaming_auc(x, y, num_thresholds=9), SCORES, TRUTH),
        _run(tf, lambda x, y: metrics.f1_score(y, x, num_thresholds=9), SCORES, TRUTH),
        _run(tf, lambda x, y, w: metrics.f1_score(y, x, w, 9), SCORES, TRUTH, WEIGHTS),
        _run(tf, lambda x, y: metrics.precision_at_recall(y, x, 0.6), SCORES, TRUTH),
        _run(tf, lambda x, y: metrics.recall_at_precision(y, x, 0.6), SCORES, TRUTH),
        _run(tf, lambda x, y: metrics.recall_at_precision(y, x, 0.6, strict_mode=True),
             SCORES, TRUTH),
        _run(tf, lambda x, y: metrics.streaming_specificity_at_sensitivity(x, y, 0.7),
             SCORES, TRUTH),
        _run(tf, lambda x, y: metrics.streaming_sensitivity_at_specificity(x, y, 0.7),
             SCORES, TRUTH),
    ]  # fmt: skip
    for curve in ("ROC", "PR"):
        found.append(
            _run(
                tf,
                lambda x, y, c=curve: metrics.streaming_curve_points(y, x, None, 5, curve=c),
                SCORES,
                TRUTH,
            )
        )
    x, y = tf.constant(SCORES[0]), tf.constant(TRUTH[0])
    found.append(refused(lambda: metrics.recall_at_precision(y, x, 2.0), "in the range [0, 1]"))
    found.append(refused(lambda: metrics.precision_at_recall(y, x, 2.0), "in the range [0, 1]"))
    found.append(refused(lambda: metrics.streaming_curve_points(y, x, curve="X"), "unknown"))
    return found


def case_equal_thresholds(tf):
    metrics = tf.contrib.metrics

    def build(x, y, w=None):
        data, update = metrics.precision_recall_at_equal_thresholds(y, x, w, num_thresholds=5)
        return list(data), update

    found = _run(tf, build, SCORES, TRUTH) + _run(tf, build, SCORES, TRUTH, WEIGHTS)
    x, y = tf.constant(SCORES[0]), tf.constant(TRUTH[0])
    for function in (
        lambda: metrics.precision_recall_at_equal_thresholds(y, x, num_thresholds=1),
        lambda: metrics.precision_recall_at_equal_thresholds(y, y),
    ):
        found.append(refused(function))
    return found


def case_of_classes(tf):
    metrics = tf.contrib.metrics
    found = [
        _run(tf, lambda x, y: metrics.streaming_mean_iou(x, y, 3), CHOSEN, CLASSES),
        _run(tf, lambda x, y: metrics.cohen_kappa(y, x, 3), CHOSEN, CLASSES),
        _run(tf, lambda x, y, w: metrics.cohen_kappa(y, x, 3, w), CHOSEN, CLASSES, WEIGHTS),
    ]
    x, y = tf.constant(CHOSEN[0]), tf.constant(CLASSES[0])
    with tf.Session() as sess:
        found.append(sess.run([
            metrics.accuracy(x, y), metrics.accuracy(x, y, tf.constant(WEIGHTS[0])),
            metrics.confusion_matrix(y, x, 3),
        ]))  # fmt: skip
    found.append(refused(lambda: metrics.cohen_kappa(y, x, 1), "`num_classes` must be >= 2"))
    found.append(refused(lambda: metrics.accuracy(tf.constant([1.0]), tf.constant([1.0])), "dtype"))
    return found


def case_at_k(tf):
    metrics = tf.contrib.metrics
    best = np.argsort(-LOGITS, axis=-1)[..., :3]
    labels = LABELS.astype("int64")
    return [
        _run(tf, lambda x, y: metrics.streaming_recall_at_k(x, y[:, 0], 2), LOGITS, labels),
        _run(tf, lambda x, y: metrics.streaming_sparse_recall_at_k(x, y, 3), LOGITS, labels),
        _run(tf, lambda x, y: metrics.streaming_sparse_precision_at_k(x, y, 3, 2), LOGITS, labels),
        _run(tf, lambda x, y: metrics.streaming_sparse_precision_at_top_k(x, y), best, labels),
        _run(tf, lambda x, y: metrics.sparse_recall_at_top_k(y, x, 1), best, labels),
        _run(tf, lambda x, y: metrics.streaming_sparse_average_precision_at_k(x, y, 3),
             LOGITS, labels),
        _run(tf, lambda x, y: metrics.streaming_sparse_average_precision_at_top_k(x, y),
             best, labels),
    ]  # fmt: skip


def case_many(tf):
    metrics = tf.contrib.metrics
    x = tf.constant([1.0, 2.0])
    pairs = {"a": metrics.streaming_mean(x), "b": metrics.count(x)}
    values, updates = metrics.aggregate_metric_map(pairs)
    found = [sorted(values), sorted(updates)]
    found.append([len(v) for v in metrics.aggregate_metrics(*pairs.values())])
    found.append(refused(lambda: metrics.aggregate_metrics(), "Expected at least one"))
    metrics.streaming_mean(x, metrics_collections=["m"], updates_collections="u", name="own")
    found += [[t.name for t in tf.get_collection(key)] for key in ("m", "u")]
    return found


def case_sets(tf):
    metrics = tf.contrib.metrics
    a, b = tf.constant([[1, 2, 3]]), tf.constant([[2, 3, 4]])
    made = [metrics.set_difference(a, b), metrics.set_intersection(a, b), metrics.set_union(a, b)]
    with tf.Session() as sess:
        found = [sess.run(m).values for m in made]
        return found + [sess.run(metrics.set_size(made[2]))]


def case_nodes_of_counts_at_thresholds(tf):
    """What is made, and whether scores beyond [0, 1] are refused as the step runs."""
    metrics = tf.contrib.metrics
    labels = tf.constant([[0, 1], [1, 0], [1, 1]])
    scores = tf.placeholder_with_default(
        np.array([[0.1, 0.9], [0.8, 0.3], [0.5, 0.6]], "float32"), [3, 2]
    )
    weights = tf.constant([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    beyond = {scores: np.full([3, 2], 1.5, "float32")}
    made = [
        metrics.f1_score(labels, scores, num_thresholds=3),
        metrics.f1_score(labels, scores, weights, num_thresholds=3),
        metrics.streaming_true_positives_at_thresholds(scores, labels, [0.2, 0.5]),
        metrics.streaming_false_negatives_at_thresholds(scores, labels, [0.2, 0.5], weights),
        metrics.streaming_false_positive_rate_at_thresholds(scores, labels, [0.2, 0.5]),
        metrics.streaming_curve_points(labels, scores, num_thresholds=4),
    ]
    found = [sorted(op.name + ":" + op.type for op in tf.get_default_graph().get_operations())]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for _, update in made:
            try:
                session.run(update, beyond)
                found.append("counted")
            except tf.errors.InvalidArgumentError:
                found.append("refused")
        session.run(tf.local_variables_initializer())
        session.run([update for _, update in made])
        return found + session.run([value for value, _ in made])
