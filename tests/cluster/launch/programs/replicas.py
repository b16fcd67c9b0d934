"""Between-graph replication as the workshop's slides show it: servers, workers, a Supervisor.

Every process runs this program and learns from flags what it is.  A parameter server joins; a
worker builds the model, its variables spread over the parameter servers, and trains until the
shared step count is reached.  Worker 0 is the chief: it initializes, saves and restores.

The model is a linear fit whose answer is known, so that the end can be checked: worker 0 prints
``final step N loss X``, and each worker ``worker N is done``.
"""

from __future__ import annotations

import argparse

import numpy as np

import penstock as tf

TRUE_WEIGHTS = np.linspace(-1.0, 1.0, 16, dtype=np.float32).reshape(16, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", required=True, choices=["ps", "worker"])
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--ps_hosts", required=True)
    parser.add_argument("--worker_hosts", required=True)
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--save_secs", type=int, default=2)
    flags = parser.parse_args()

    cluster = tf.train.ClusterSpec(
        {"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")}
    )
    server = tf.train.Server(cluster, job_name=flags.job_name, task_index=flags.task_index)
    if flags.job_name == "ps":
        server.join()
    else:
        train(flags, cluster, server)


def train(
    flags: argparse.Namespace, cluster: tf.train.ClusterSpec, server: tf.train.Server
) -> None:
    is_chief = flags.task_index == 0
    with tf.device(
        tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{flags.task_index}", cluster=cluster
        )
    ):
        inputs = tf.placeholder(tf.float32, [None, 16], name="inputs")
        labels = tf.placeholder(tf.float32, [None, 1], name="labels")
        weights = tf.Variable(tf.zeros([16, 1]), name="weights")
        bias = tf.Variable(tf.zeros([1]), name="bias")
        global_step = tf.Variable(0, name="global_step", trainable=False)
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) + bias - labels))
        train_op = tf.train.AdagradOptimizer(0.3).minimize(loss, global_step=global_step)
        init_op = tf.global_variables_initializer()

    supervisor = tf.train.Supervisor(
        is_chief=is_chief,
        logdir=flags.logdir,
        init_op=init_op,
        global_step=global_step,
        summary_op=None,
        save_model_secs=flags.save_secs,
    )
    random = np.random.RandomState(flags.task_index)
    with supervisor.managed_session(server.target) as session:
        step, value = 0, float("nan")
        while not supervisor.should_stop() and step < flags.steps:
            batch = random.randn(32, 16).astype(np.float32)
            feeds = {inputs: batch, labels: batch @ TRUE_WEIGHTS + 0.5}
            _, step, value = session.run([train_op, global_step, loss], feeds)
        print(f"final step {step} loss {value:.6f}", flush=True)
    print(f"worker {flags.task_index} is done", flush=True)


if __name__ == "__main__":
    main()
