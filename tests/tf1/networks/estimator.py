"""The networks of canned estimators, in their mode of training."""

from tests.tf1.networks.observe import Network, classes, numbers


def _made(tf, name, regression=False, **arguments):
    age = tf.feature_column.numeric_column("age", shape=[3])
    column = tf.feature_column.categorical_column_with_identity("town", 7)
    columns = {"wide": [age, column], "deep": [age, tf.feature_column.embedding_column(column, 4)]}
    for key in arguments:
        if key.endswith("feature_columns"):
            arguments[key] = columns[arguments[key]]
    with tf.Graph().as_default():  # as programs make it: where nothing else is
        estimator = getattr(tf.estimator, name)(**arguments)
    features = {
        "age": tf.placeholder(tf.float32, [None, 3]),
        "town": tf.placeholder(tf.int64, [None, 1]),
    }
    feed = {features["age"]: numbers([6, 3]), features["town"]: classes(7, [6, 1])}
    labels = tf.constant(numbers([6, 1], 8) if regression else classes(3, [6, 1]))
    tf.train.get_or_create_global_step()
    spec = estimator.model_fn(features, labels, tf.estimator.ModeKeys.TRAIN, estimator.config)
    output = [t for k, t in sorted(spec.predictions.items()) if k in ("logits", "predictions")][0]
    return Network(feed, output, spec.loss)


def linear(tf):
    return _made(tf, "LinearClassifier", feature_columns="wide", n_classes=3)


def deep(tf):
    return _made(tf, "DNNClassifier", feature_columns="deep", hidden_units=[8, 5], n_classes=3)


def deep_regression(tf):
    return _made(tf, "DNNRegressor", True, feature_columns="deep", hidden_units=[6])


def wide_and_deep(tf):
    return _made(tf, "DNNLinearCombinedClassifier", linear_feature_columns="wide",
                 dnn_feature_columns="deep", dnn_hidden_units=[6, 4], n_classes=3)  # fmt: skip


def baseline(tf):
    return _made(tf, "BaselineClassifier", n_classes=3)


NETWORKS = {
    function.__name__: function
    for function in (linear, deep, deep_regression, wide_and_deep, baseline)
}
