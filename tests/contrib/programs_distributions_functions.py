"""Programs of ``tf.contrib.distributions``: its functions (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, refused, values

VECTORS = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [-1.0, 0.5, 2.0, 8.0, 7.0, 3.0]]
MATRIX = [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]
CUBE = np.cos(np.arange(24.0)).reshape(2, 3, 4).astype("float32")


def _with_shapes(tf, tensors):
    return [[t.shape.as_list() for t in tensors], values(tf, tensors)]


def case_fill_triangular(tf):
    ds = tf.contrib.distributions
    found = [ds.fill_triangular(VECTORS), ds.fill_triangular(VECTORS, upper=True)]
    found += [ds.fill_triangular_inverse(t, upper) for t, upper in zip(found, (False, True))]
    # What is not of a triangle is added, too.
    found += [ds.fill_triangular_inverse(MATRIX), ds.fill_triangular_inverse(MATRIX, upper=True)]
    found.append(ds.fill_triangular([7.0]))
    x = tf.constant(VECTORS)
    found += tf.gradients(tf.reduce_sum(tf.sin(ds.fill_triangular(x))), x)
    fed = tf.placeholder(tf.float32)
    filled = ds.fill_triangular(fed)
    more = values(tf, [filled, ds.fill_triangular_inverse(filled)], {fed: VECTORS})
    wrong = refused(lambda: ds.fill_triangular([1.0, 2.0]), "does not correspond to a triangular")
    vector = refused(lambda: ds.fill_triangular_inverse([1.0]), "must have rank at least 2")
    return [*_with_shapes(tf, found), more, wrong, vector]


def case_tridiag(tf):
    ds = tf.contrib.distributions
    below, diag, above = [[1.0, 2.0]], [[3.0, 4.0, 5.0]], [[6.0, 7.0]]
    found = [ds.tridiag(below, diag, above), ds.tridiag(below), ds.tridiag(diag=diag)]
    found += [ds.tridiag(above=above), ds.tridiag(below, None, above)]
    wrong = refused(lambda: ds.tridiag(), "Must specify at least one of")
    return [*_with_shapes(tf, found), wrong]


def case_matrix_diag_transform(tf):
    ds = tf.contrib.distributions
    found = [ds.matrix_diag_transform(MATRIX, tf.exp), ds.matrix_diag_transform(MATRIX)]
    found.append(ds.matrix_diag_transform(MATRIX, tf.nn.softplus, name="mine"))
    return [*_with_shapes(tf, found), found[0].name.split("/")[0], found[2].name.split("/")[0]]


def case_reduce_weighted_logsumexp(tf):
    ds = tf.contrib.distributions
    logx, w = tf.constant([[1.0, 2.0], [300.0, 299.0]]), tf.constant([1.0, -2.0])
    found = [ds.reduce_weighted_logsumexp(logx), ds.reduce_weighted_logsumexp(logx, w)]
    found += [ds.reduce_weighted_logsumexp(logx, w, axis=axis) for axis in (0, 1, [0, 1], [-1])]
    found += ds.reduce_weighted_logsumexp(logx, w, axis=1, keep_dims=True, return_sign=True)
    found += ds.reduce_weighted_logsumexp(logx, axis=1, return_sign=True)
    found.append(ds.reduce_weighted_logsumexp(np.float32([-np.inf, 0.0]), w))
    found += tf.gradients(ds.reduce_weighted_logsumexp(logx[0], w), [logx, w])
    return _with_shapes(tf, found)


def case_softplus_inverse(tf):
    x = tf.constant([1e-9, 1e-3, 0.5, 1.0, 10.0, 50.0])
    found = tf.contrib.distributions.softplus_inverse(x)
    wide = tf.contrib.distributions.softplus_inverse(np.float64([1e-30, 0.5, 1.0, 500.0]))
    return [found.name.split("/")[0], *_with_shapes(tf, [found, wide, tf.gradients(found, x)[0]])]


def case_percentile(tf):
    ds = tf.contrib.distributions
    found = []
    for way in (None, "lower", "higher", "nearest"):
        for q in (0.0, 30.0, 37.5, 50.0, 99.0, 100.0, 150.0):
            found.append(ds.percentile([4.0, 1.0, 3.0, 2.0, 10.0], q, interpolation=way))
    for axis in (0, -1, [1], [0, 2], [2, 0], [0, 1, 2], None):
        found.append(ds.percentile(CUBE, 30.0, axis=axis))
        found.append(ds.percentile(CUBE, 30.0, axis=axis, keep_dims=True))
    found.append(ds.percentile(np.arange(24).reshape(2, 12), 35, axis=1))
    wrong = [
        refused(lambda: ds.percentile([1.0], 5.0, interpolation="linear"), "must be in"),
        refused(lambda: ds.percentile([1.0], 5.0, axis=3), "dim 3 not in the interval [0, 0]"),
        refused(lambda: values(tf, ds.percentile([1.0], 200.0, validate_args=True))),
        refused(lambda: ds.percentile([1.0], [1.0, 2.0])),
    ]
    return [*_with_shapes(tf, found), wrong]


def case_auto_correlation(tf):
    ds = tf.contrib.distributions
    rows = [[1.0, 2.0, 4.0, 7.0, 3.0], [2.0, 1.0, 5.0, 2.0, 0.0]]
    found = [ds.auto_correlation(rows), ds.auto_correlation(rows, axis=0)]
    found += [ds.auto_correlation(rows, max_lags=2, center=False)]
    found += [ds.auto_correlation(rows, max_lags=20, normalize=False)]
    found += [ds.auto_correlation(CUBE, axis=1, max_lags=1), ds.auto_correlation(np.float64(rows))]
    wrong = refused(lambda: ds.auto_correlation([1, 2]), "must have either float or complex dtype")
    return [*_with_shapes(tf, found), wrong]


def case_normal_conjugates(tf):
    ds = tf.contrib.distributions
    prior, total = ds.Normal([0.0, 1.0], 2.0), tf.constant([5.0, 6.0])
    found, wide = [], tf.constant(np.zeros(2))
    for function in (
        ds.normal_conjugates_known_scale_posterior,
        ds.normal_conjugates_known_scale_predictive,
    ):
        made = function(prior, 3.0, total, 4)
        found.append([type(made).__name__, values(tf, [made.loc, made.scale])])
        found.append(refused(lambda f=function: f(3, 3.0, total, 4), "instance of type Normal"))
        found.append(refused(lambda f=function: f(prior, 3.0, wide, 4), "does not match prior"))
    return found


def case_moving_statistics(tf):
    ds = tf.contrib.distributions
    mean, variance, log = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(0.5)
    updates = [ds.assign_moving_mean_variance(mean, variance, 3.0, 0.9)]
    updates.append(ds.assign_log_moving_mean_exp(log, 2.0, 0.75))
    updates.append(ds.moving_mean_variance([1.0, 2.0], 0.9))
    updates.append(ds.moving_mean_variance(4.0, 0.5, name="mine", collections=["some"]))
    for reference in (False, True):
        with tf.variable_scope("scope" + str(int(reference)), use_resource=not reference):
            updates.append(ds.moving_mean_variance([3.0], 0.5))
    init = tf.variables_initializer(tf.get_collection("some"))
    found = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), init])
        for _ in range(3):
            found.append([sess.run(update) for update in updates])
        found.append(sess.run([mean, variance, log]))
    wrong = refused(lambda: ds.assign_moving_mean_variance(tf.Variable(1), variance, 1, 0.5))
    made = [names(tf.global_variables()), names(tf.trainable_variables())]
    return [found, made, names(tf.get_collection("some")), wrong]


def case_seed_stream(tf):
    ds = tf.contrib.distributions
    stream = ds.SeedStream(3, salt="salt")
    found = [str(stream()), str(stream()), stream.salt, stream.original_seed]
    found += [str(ds.SeedStream(stream, "other")()), ds.SeedStream(None, "salt")()]
    return [*found, str(ds.SeedStream(0, "")())]


def case_head_of_a_distribution(tf):
    ds = tf.contrib.distributions
    modes = tf.contrib.learn.ModeKeys
    head = ds.estimator_head_distribution_regression(
        lambda logits: ds.Normal(logits, 2.0), weight_column_name="weight"
    )
    found = [head.logits_dimension]
    features = {"weight": tf.constant([[1.0], [3.0]])}
    logits, labels = tf.constant([[1.0], [3.0]]), tf.constant([[1.5], [2.0]])
    for mode in (modes.TRAIN, modes.EVAL, modes.INFER):
        ops = head.create_model_fn_ops(
            features, mode, labels, train_op_fn=lambda loss: tf.no_op(), logits=logits
        )
        found.append([sorted(ops.predictions), values(tf, list(ops.predictions.values()))])
        found.append(None if ops.loss is None else values(tf, ops.loss))
        found.append(sorted(ops.eval_metric_ops))
    pairs = ds.estimator_head_distribution_regression(
        lambda x: ds.MultivariateNormalDiag(x[:, :2], tf.exp(x[:, 2:])), 2, logits_dimension=4
    )
    wide = tf.constant([[1.0, 2.0, 0.5, 0.0], [0.0, 1.0, -0.5, 0.25]])
    ops = pairs.create_model_fn_ops(
        {}, modes.TRAIN, tf.constant([[1.0, 2.5], [0.5, 1.0]]), lambda loss: tf.no_op(), wide
    )
    found += [pairs.logits_dimension, values(tf, [ops.predictions["scores"], ops.loss])]
    made = head.distribution(logits)
    return [*found, made is head.distribution(logits), str(type(made).__name__)]


def case_names_of_the_package(tf):
    ds = tf.contrib.distributions
    found = []
    for package in (ds, ds.bijectors):
        kept = [n for n in dir(package) if not n.startswith("_") and hasattr(package, n)]
        found.append([n for n in kept if callable(getattr(package, n))])
    return found
