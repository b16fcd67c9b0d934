"""Programs of small packages of ``tf.contrib`` (``recorded``)."""

import json
import os

import numpy as np

from tests.contrib.recorded import names, refused, values


def case_sparsemax(tf):
    package = tf.contrib.sparsemax
    rng = np.random.RandomState(2)
    z = tf.constant(rng.normal(size=[4, 5]).astype("float32"))
    q = tf.constant(np.eye(5, dtype="float32")[[0, 2, 4, 1]])
    p = package.sparsemax(z)
    loss = package.sparsemax_loss(z, p, q)
    found = values(tf, [p, loss] + tf.gradients(loss, [z]))
    odd = package.sparsemax(tf.constant([[float("nan"), 1.0], [float("-inf"), 0.0]]))
    return found + [np.nan_to_num(values(tf, odd), nan=-1.0)]


def case_deprecated_summaries(tf):
    package = tf.contrib.deprecated
    made = [package.scalar_summary("a", 1.0), package.histogram_summary("b", [1.0, 2.0])]
    made += [package.merge_summary(made), package.merge_all_summaries()]
    return [[m.name for m in made], refused(lambda: package.image_summary("c", tf.ones([2])))]


def case_mixed_precision(tf):
    package = tf.contrib.mixed_precision
    manager = package.ExponentialUpdateLossScaleManager(8.0, 2, 1)
    w = tf.Variable([1.0], name="w", use_resource=True)
    factor = tf.placeholder(tf.float32, [])
    optimizer = package.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    step = tf.train.get_or_create_global_step()
    op = optimizer.minimize(tf.reduce_sum(w * w) * factor, global_step=step)
    found = [names(tf.global_variables())]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in (1.0, 1.0, 1.0, float("inf"), 1.0):
            sess.run(op, {factor: value})
            found.append(sess.run([w, step, manager.get_loss_scale()]))
    fixed = package.FixedLossScaleManager(4.0)
    pairs = package.LossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.1), fixed).compute_gradients(w * 3.0)  # fmt: skip
    found += values(tf, [fixed.get_loss_scale()] + [g for g, _ in pairs])
    found.append(fixed.update_loss_scale(True).type)
    found.append(refused(lambda: package.FixedLossScaleManager(0.5), "must be at least 1"))
    return found


def case_cluster_resolvers(tf):
    package = tf.contrib.cluster_resolver
    spec = tf.train.ClusterSpec({"ps": ["p0:1"], "worker": ["w0:1", "w1:1"]})
    one = package.SimpleClusterResolver(spec, "master:1", "worker", 1, "google", {"GPU": 2}, "grpc")
    other = package.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["w1:1", "w2:1"], "chief": ["c:1"]}))  # fmt: skip
    union = package.UnionClusterResolver(one, other)
    found = [one.cluster_spec().as_dict(), one.master(), one.master("ps", 0), one.task_type]
    found += [one.environment, one.rpc_layer, one.num_accelerators(), other.master()]
    found += [union.cluster_spec().as_dict(), union.master(), union.master("worker", 1)]
    found += [union.task_type, union.task_id, union.rpc_layer, union.environment]
    found.append(refused(lambda: package.SimpleClusterResolver({"a": ["b"]})))
    found.append(refused(lambda: package.UnionClusterResolver(), "At least one ClusterResolver"))
    found.append(refused(lambda: package.UnionClusterResolver(3), "must be"))
    before = os.environ.pop("TF_CONFIG", None)
    try:
        empty = package.TFConfigClusterResolver()
        found += [empty.cluster_spec().as_dict(), empty.master(), empty.task_type]
        os.environ["TF_CONFIG"] = json.dumps({
            "cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]}, "rpc_layer": "grpc",
            "task": {"type": "worker", "index": 1}})  # fmt: skip
        made = package.TFConfigClusterResolver()
        found += [made.cluster_spec().as_dict(), made.master(), made.master("ps", 0)]
        found += [made.task_type, made.task_id, made.rpc_layer, made.environment]
        given = package.TFConfigClusterResolver("ps", 0, "http", "here")
        found += [given.master(), given.task_type, given.environment]
    finally:
        os.environ.pop("TF_CONFIG", None)
        if before is not None:
            os.environ["TF_CONFIG"] = before
    return found
