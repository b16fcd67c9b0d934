"""Programs of ``tf.contrib.metrics`` that keep all values, or histograms of them (``recorded``)."""

import numpy as np

from tests.contrib.recorded import names, nodes, refused

RNG = np.random.RandomState(3)
SCORES = np.round(RNG.uniform(0, 1, size=[3, 8]), 1).astype("float32")  # some are equal
TRUTH = RNG.randint(0, 2, size=[3, 8]).astype("int64")
WEIGHTS = RNG.uniform(0.5, 2, size=[3, 8]).astype("float32")


def _nodes(tf):
    """Nodes by name; but for switches, which are named after the first that takes them."""
    return sorted(node for node in nodes(tf) if node[1] != "Switch")


def _run(tf, build, *batches):
    """Nodes and local variables; the update and then the value of a metric after each batch."""
    with tf.Graph().as_default():
        fed = [tf.placeholder(tf.as_dtype(b.dtype), [None] * (b.ndim - 1)) for b in batches]
        value, update = build(*fed)
        found = [
            _nodes(tf),
            names(tf.local_variables()),
            names(tf.get_collection("metric_variables")),
        ]
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            for step in range(3):
                feed = {f: b[step] for f, b in zip(fed, batches)}
                found.append(sess.run(update, feed))
                found.append(sess.run(value, feed))  # its nodes wait for checks of the batch
    return found


def case_of_concatenated(tf):
    concat = tf.contrib.metrics.streaming_concat
    wide = RNG.normal(size=[3, 4, 2]).astype("float32")

    def along(x, axis, shape, **kw):
        x.set_shape(shape)
        value, update = concat(x, axis, **kw)
        return value, update

    found = [
        _run(tf, lambda x: along(x, 0, [None, 2]), wide),
        _run(tf, lambda x: along(x, -1, [4, None]), wide),
        _run(tf, lambda x: along(x, 0, [None, 2], max_size=5), wide),
        _run(tf, lambda x: along(x, 0, [4, 2], max_size=30, name="kept"), wide),
    ]
    with tf.Graph().as_default():
        value, update = concat(tf.constant([1]), metrics_collections=["m"], updates_collections="u")
        found.append([tf.get_collection("m") == [value], tf.get_collection("u") == [update]])
        found += [
            refused(lambda: concat(tf.constant(1.0)), "axis = 0 not in [0, 0)"),
            refused(lambda: concat(tf.constant([1.0]), 1), "axis = 1 not in [0, 1)"),
            refused(lambda: concat(tf.constant([1.0]), -2), "axis = -1 not in [0, 1)"),
            refused(lambda: concat(tf.placeholder(tf.float32)), "statically known rank"),
            refused(lambda: concat(tf.placeholder(tf.float32, [None, None])), "known size"),
        ]
    return found


def case_of_dynamic_auc(tf):
    auc = tf.contrib.metrics.streaming_dynamic_auc
    found = []
    for curve in ("ROC", "PR"):
        found.append(_run(tf, lambda y, x, c=curve: auc(y, x, c), TRUTH, SCORES))
        found.append(
            _run(tf, lambda y, x, w, c=curve: auc(y, x, c, ["m"], ["u"], "area", w), TRUTH, SCORES,
                 WEIGHTS)
        )  # fmt: skip
    found.append(_run(tf, auc, np.ones_like(TRUTH), SCORES))
    found.append(_run(tf, auc, TRUTH.astype("int32"), SCORES))
    found.append(_run_refused(tf, auc, TRUTH * 2, SCORES))
    y, x = tf.constant(TRUTH[0]), tf.constant(SCORES[0])
    found.append(refused(lambda: auc(y, x, "X"), "curve must be either ROC or PR, X unknown"))
    found.append(refused(lambda: auc(y, x[1:]), "are incompatible"))
    return found


def _run_refused(tf, build, *batches):
    return refused(lambda: _run(tf, build, *batches), "labels must be 0 or 1")


def case_of_confidence(tf):
    auc = tf.contrib.metrics.auc_with_confidence_intervals

    def build(y, x, *w, **kw):
        data, update = auc(y, x, *w, **kw)
        return tuple(data), update

    found = [
        _run(tf, build, TRUTH, SCORES),
        _run(tf, lambda *b: build(*b, alpha=0.8), TRUTH.astype("int32"), SCORES, WEIGHTS),
        _run(tf, lambda *b: build(*b, logit_transformation=False), TRUTH, SCORES, WEIGHTS),
        _run(tf, build, np.zeros_like(TRUTH), SCORES),
        _run(tf, build, TRUTH, TRUTH.astype("float32")),
        _run_refused(tf, build, TRUTH - 1, SCORES),
    ]
    y, x = tf.constant(TRUTH[0]), tf.constant(SCORES[0])
    data, update = auc(y, x, metrics_collections=["m"], updates_collections=["u"], name="area")
    found.append([tf.get_collection("m") == [data], tf.get_collection("u") == [update]])
    found.append([list(data._fields), data.lower.name])
    for alpha in (0.0, 1.5):
        found.append(refused(lambda a=alpha: auc(y, x, alpha=a), f"currently {alpha:.02f}"))
    return found


def case_of_histogram(tf):
    auc = tf.contrib.metrics.auc_using_histogram
    found = [
        _run(tf, lambda y, x: auc(y, x, [0.0, 1.0], 11), TRUTH.astype(bool), SCORES),
        _run(tf, lambda y, x: auc(y, x, [0.2, 0.8], 5, ["c", "local_variables"], False, "area"),
             TRUTH.astype(bool), SCORES),
    ]  # fmt: skip
    y, x = tf.constant([True, False]), tf.constant([0.1, 0.2])
    auc(y, x, [0.0, 1.0], collections=["c"])
    found.append([names(tf.get_collection("c")), names(tf.local_variables())])
    found.append(refused(lambda: auc([1, 0], x, [0.0, 1.0]), "should have dtype bool.  Found: "))
    found.append(refused(lambda: auc(y, x[1:], [0.0, 1.0], check_shape=False), "are incompatible"))
    return found
