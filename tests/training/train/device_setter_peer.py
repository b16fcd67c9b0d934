"""Graphs under device functions, built by Penstock and by TF 1.15, which writes their devices."""

from __future__ import annotations

import json
import sys

SIZES = [3, 5, 200, 7, 4, 300, 300, 2]


def _model(tf, resource=True):
    x = tf.placeholder(tf.float32, [None, SIZES[0]], name="x")
    for i, (rows, columns) in enumerate(zip(SIZES, SIZES[1:])):
        w = tf.get_variable(f"w{i}", [rows, columns], use_resource=resource and i % 2 == 0)
        b = tf.get_variable(
            f"b{i}", [columns], initializer=tf.zeros_initializer(), use_resource=False
        )
        x = tf.nn.relu(tf.matmul(x, w) + b)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(x, name="loss")
    tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)


def _greedy(tf, count):
    training = tf.contrib.training
    return training.GreedyLoadBalancingStrategy(count, training.byte_size_load_fn)


SETTERS = {
    "tasks": lambda tf: tf.train.replica_device_setter(ps_tasks=3),
    "cluster": lambda tf: tf.train.replica_device_setter(
        cluster={"ps": ["a:1", "b:1"], "worker": ["c:1"]}
    ),
    "sparse": lambda tf: tf.train.replica_device_setter(
        cluster=tf.train.ClusterSpec({"ps": {1: "b:1", 4: "a:1"}}).as_dict()
    ),
    "worker": lambda tf: tf.train.replica_device_setter(
        ps_tasks=2, worker_device="/job:worker/task:7/gpu:1", ps_device="/job:ps/cpu:0"
    ),
    "jobless": lambda tf: tf.train.replica_device_setter(
        ps_tasks=2, worker_device="", ps_device="/job:params"
    ),
    "no_merge": lambda tf: tf.train.replica_device_setter(ps_tasks=2, merge_devices=False),
    "ops": lambda tf: tf.train.replica_device_setter(ps_tasks=2, ps_ops=["MatMul", "VariableV2"]),
    "greedy": lambda tf: tf.train.replica_device_setter(ps_tasks=3, ps_strategy=_greedy(tf, 3)),
    "random": lambda tf: tf.train.replica_device_setter(
        ps_tasks=3, ps_strategy=tf.contrib.training.RandomStrategy(3, seed=5)
    ),
    "none": lambda tf: tf.train.replica_device_setter(),
    "no_ps": lambda tf: tf.train.replica_device_setter(cluster={"worker": ["c:1"]}),
}
AROUND = ("", "/job:worker/task:1", "/cpu:0", "/job:ps/task:1")


def devices(tf, name, around):
    """``{node: device}`` of the model under a setter, in another device scope."""
    with tf.Graph().as_default() as graph, tf.device(around), tf.device(SETTERS[name](tf)):
        with tf.device("/gpu:1"):
            tf.constant(1.0, name="asked")
        # TensorFlow's sizes of resource variables are those of their handles.
        _model(tf, resource=name != "greedy")
        return {op.name: op.device for op in graph.get_operations()}


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as out:
        json.dump(
            {f"{n} in {a!r}": devices(tensorflow, n, a) for n in SETTERS for a in AROUND}, out
        )
