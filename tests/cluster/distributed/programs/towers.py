"""In-graph synchronous training as the talks show it: towers on workers, losses averaged.

Every task runs a server; the client, a process of its own without one, holds the graph of all
towers and runs it by a session on "grpc://".  Without ``--worker_hosts`` there is one process and
one tower for the whole batch.
"""

from __future__ import annotations

import argparse

import numpy as np

import penstock as tf

INPUTS, CLASSES, BATCH = 20, 4, 48


def batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(step)
    labels = random.randint(0, CLASSES, BATCH)
    x = random.randn(BATCH, INPUTS).astype(np.float32)
    x[np.arange(BATCH), labels] += 2.0
    return x, labels


def tower(x, labels, weights, biases):
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, weights[0]) + biases[0]), weights[1]) + biases[1]
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--client", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    if arguments.job_name:
        cluster = {
            "ps": arguments.ps_hosts.split(","), "worker": arguments.worker_hosts.split(","),
        }  # fmt: skip
        tf.train.Server(
            cluster, job_name=arguments.job_name, task_index=arguments.task_index
        ).join()
        return
    hosts = arguments.worker_hosts.split(",") if arguments.worker_hosts else []
    workers = [f"/job:worker/task:{i}" for i in range(len(hosts))] or [""]
    master = "/job:ps/task:0" if hosts else ""
    random = np.random.RandomState(7)
    with tf.device(master):
        weights = [
            tf.Variable(random.randn(INPUTS, 16).astype(np.float32) * 0.1),
            tf.Variable(random.randn(16, CLASSES).astype(np.float32) * 0.1),
        ]
        biases = [tf.Variable(tf.zeros([16])), tf.Variable(tf.zeros([CLASSES]))]
        x = tf.placeholder(tf.float32, [BATCH, INPUTS])
        labels = tf.placeholder(tf.int32, [BATCH])
    losses = []
    xs, ys = tf.split(x, len(workers)), tf.split(labels, len(workers))
    for worker, some, theirs in zip(workers, xs, ys, strict=True):
        with tf.device(worker):
            losses.append(tower(some, theirs, weights, biases))
    with tf.device(master):
        global_step = tf.Variable(0, trainable=False)
        losses_avg = tf.add_n(losses) / len(workers)
        train_op = tf.train.AdagradOptimizer(0.1).minimize(losses_avg, global_step=global_step)
    target = f"grpc://{hosts[0]}" if hosts else ""
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        step = 0
        while step < arguments.steps:
            given = batch(step)
            loss, _, step = session.run(
                [losses_avg, train_op, global_step], {x: given[0], labels: given[1]}
            )
            print(f"loss {loss:.6f}")


if __name__ == "__main__":
    main()
