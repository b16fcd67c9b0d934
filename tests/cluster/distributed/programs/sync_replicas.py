"""Synchronous replicas with a backup worker: two of three gradients make a step.

Without ``--job_name`` one process trains on batches of the same size as two replicas together.  The
last line of the chief is the loss on data that was kept aside.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import penstock as tf

INPUTS, CLASSES, BATCH = 20, 4, 32


def batch(random: np.random.RandomState, size: int) -> tuple[np.ndarray, np.ndarray]:
    labels = random.randint(0, CLASSES, size)
    x = random.randn(size, INPUTS).astype(np.float32)
    x[np.arange(size), labels] += 2.0
    return x, labels


def model(wrap):
    x = tf.placeholder(tf.float32, [None, INPUTS])
    labels = tf.placeholder(tf.int32, [None])
    start = np.random.RandomState(7)
    hidden = tf.Variable(start.randn(INPUTS, 16).astype(np.float32) * 0.1)
    out = tf.Variable(start.randn(16, CLASSES).astype(np.float32) * 0.1)
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, hidden)), out)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    global_step = tf.train.get_or_create_global_step()
    optimizer = wrap(tf.train.GradientDescentOptimizer(0.5))
    return x, labels, loss, optimizer, optimizer.minimize(loss, global_step=global_step)


def held_out(session, x, labels, loss) -> float:
    given = batch(np.random.RandomState(99), 1000)
    return float(session.run(loss, {x: given[0], labels: given[1]}))


def alone(steps: int) -> None:
    x, labels, loss, _, train = model(lambda optimizer: optimizer)
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            given = batch(random, 2 * BATCH)
            session.run(train, {x: given[0], labels: given[1]})
        print(f"held out {held_out(session, x, labels, loss):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--slow", type=float, default=0.0, help="seconds worker 2 loses a step")
    arguments = parser.parse_args()
    if not arguments.job_name:
        alone(arguments.steps)
        return
    cluster = tf.train.ClusterSpec(
        {"ps": arguments.ps_hosts.split(","), "worker": arguments.worker_hosts.split(",")}
    )
    server = tf.train.Server(cluster, job_name=arguments.job_name, task_index=arguments.task_index)
    if arguments.job_name == "ps":
        server.join()
        return
    chief = arguments.task_index == 0
    with tf.device(
        tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{arguments.task_index}", cluster=cluster
        )
    ):
        x, labels, loss, optimizer, train = model(
            lambda optimizer: tf.train.SyncReplicasOptimizer(
                optimizer, replicas_to_aggregate=2, total_num_replicas=3
            )
        )
    hooks = [
        optimizer.make_session_run_hook(chief),
        tf.train.StopAtStepHook(last_step=arguments.steps),
    ]
    random = np.random.RandomState(arguments.task_index)
    result = None
    with tf.train.MonitoredTrainingSession(server.target, chief, hooks=hooks) as session:
        while not session.should_stop():
            if arguments.task_index == 2:
                time.sleep(arguments.slow)
            given = batch(random, BATCH)
            session.run(train, {x: given[0], labels: given[1]})
            if chief and not session.should_stop():
                result = session.run_step_fn(
                    lambda step_context: held_out(step_context.session, x, labels, loss)
                )
    if chief:
        print(f"held out {result:.4f}")


if __name__ == "__main__":
    main()
