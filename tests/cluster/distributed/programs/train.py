"""A trainer that survives faults: parameter servers, asynchronous workers, checkpoints.

It prints each session that a task makes, with the step that it begins at and the checkpoint that is
the latest then, and the step count after each step.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

import numpy as np

import penstock as tf

INPUTS, BATCH = 8, 16


class Tell(tf.train.SessionRunHook):
    """Prints each new session."""

    def __init__(self, name: str, directory: str) -> None:
        self._name, self._directory = name, directory
        self._step = None

    def begin(self) -> None:
        self._step = tf.train.get_global_step()

    def after_create_session(self, session, coord) -> None:
        latest = tf.train.latest_checkpoint(self._directory)
        saved = int(latest.rpartition("-")[2]) if latest else None
        print(f"{self._name} session at {session.run(self._step)} saved {saved}")


def model():
    """Losses and the training step of a linear regression with its parameters on all servers."""
    x = tf.placeholder(tf.float32, [BATCH, INPUTS])
    y = tf.placeholder(tf.float32, [BATCH, 1])
    weights = tf.Variable(tf.zeros([INPUTS, 1]), name="weights")
    bias = tf.Variable(tf.zeros([1]), name="bias")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) + bias - y))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    return x, y, loss, step, train


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", required=True)
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--ps_hosts", required=True)
    parser.add_argument("--worker_hosts", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--save_steps", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two steps")
    arguments = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
    cluster = tf.train.ClusterSpec(
        {"ps": arguments.ps_hosts.split(","), "worker": arguments.worker_hosts.split(",")}
    )
    index = arguments.task_index
    server = tf.train.Server(cluster, job_name=arguments.job_name, task_index=index)
    if arguments.job_name == "ps":
        server.join()
        return
    with tf.device(
        tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)
    ):
        x, y, loss, global_step, train = model()
    name = f"worker {index}"
    random = np.random.RandomState(index)
    step = 0
    with tf.train.MonitoredTrainingSession(
        server.target,
        is_chief=index == 0,
        checkpoint_dir=arguments.dir,
        hooks=[tf.train.StopAtStepHook(last_step=arguments.steps)],
        # Before the hook that saves.
        chief_only_hooks=[Tell(name, arguments.dir)],
        save_checkpoint_steps=arguments.save_steps,
        save_summaries_steps=None,
        log_step_count_steps=None,
    ) as session:
        while not session.should_stop():
            given = random.randn(BATCH, INPUTS).astype(np.float32)
            wanted = given.sum(axis=1, keepdims=True) + 1.0
            _, now, step = session.run([train, loss, global_step], {x: given, y: wanted})
            print(f"{name} step {step} loss {now:.6f}")
            time.sleep(arguments.pause)
    print(f"{name} ends at {step} loss {now:.6f}")


if __name__ == "__main__":
    main()
