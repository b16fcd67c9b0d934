"""Workers that train variables of their own and meet in centers: optimizers of ``contrib.opt``.

Without ``--job_name`` one process trains by plain gradient descent.  The last line of the chief is
the loss of the centers on data that was kept aside.
"""

from __future__ import annotations

import argparse

import numpy as np
from sync_replicas import BATCH, CLASSES, INPUTS, batch

import penstock as tf

PERIOD = 5


def model(inner, device=None):
    x = tf.placeholder(tf.float32, [None, INPUTS])
    labels = tf.placeholder(tf.int32, [None])
    start = tf.random_normal_initializer(stddev=0.1, seed=1)
    hidden = tf.get_variable("hidden", [INPUTS, 16], initializer=start)
    out = tf.get_variable("out", [16, CLASSES], initializer=start)
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), out)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    step = tf.train.get_or_create_global_step()
    # A worker's count of its own steps is to be its own, and no variable of the parameter server's.
    with tf.device(device):
        optimizer = inner(tf.train.GradientDescentOptimizer(0.2))
        train = optimizer.minimize(loss, global_step=step)
    return x, labels, loss, optimizer, train


def held_out(session, x, labels, loss) -> float:
    given = batch(np.random.RandomState(99), 1000)
    return float(session.run(loss, {x: given[0], labels: given[1]}))


def alone(steps: int) -> None:
    x, labels, loss, _, train = model(lambda optimizer: optimizer)
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            given = batch(random, BATCH)
            session.run(train, {x: given[0], labels: given[1]})
        print(f"held out {held_out(session, x, labels, loss):.4f}")


def made(kind: str, workers: int, task: int, getter):
    opt = tf.contrib.opt
    if kind == "elastic":
        return lambda inner: opt.ElasticAverageOptimizer(inner, workers, getter, PERIOD)
    if kind == "model":
        return lambda inner: opt.ModelAverageOptimizer(inner, workers, task == 0, getter, PERIOD)
    return lambda inner: opt.AGNOptimizer(inner, workers, getter, PERIOD)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--kind", default="elastic")
    arguments = parser.parse_args()
    if not arguments.job_name:
        alone(arguments.steps)
        return
    cluster = tf.train.ClusterSpec(
        {"ps": arguments.ps_hosts.split(","), "worker": arguments.worker_hosts.split(",")}
    )
    task = arguments.task_index
    server = tf.train.Server(cluster, job_name=arguments.job_name, task_index=task)
    if arguments.job_name == "ps":
        server.join()
        return
    device = f"/job:worker/task:{task}"
    names = {"elastic": "ElasticAverage", "model": "ModelAverage", "agn": "AGN"}
    getter = getattr(tf.contrib.opt, f"{names[arguments.kind]}CustomGetter")(worker_device=device)
    workers = len(arguments.worker_hosts.split(","))
    with (
        tf.device(tf.train.replica_device_setter(worker_device=device, cluster=cluster)),
        tf.variable_scope("", custom_getter=getter),
    ):
        inner = made(arguments.kind, workers, task, getter)
        x, labels, loss, optimizer, train = model(inner, device)
    how = () if arguments.kind == "model" else (task == 0, task)
    hook = optimizer.make_session_run_hook(*how)
    random = np.random.RandomState(task)
    with tf.train.MonitoredTrainingSession(
        master=server.target, is_chief=task == 0, hooks=[hook]
    ) as session:
        for _ in range(arguments.steps):
            given = batch(random, BATCH)
            session.run(train, {x: given[0], labels: given[1]})
        print(f"worker {task} ends at {arguments.steps}", flush=True)
        if task == 0:
            print(f"held out {held_out(session, x, labels, loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
