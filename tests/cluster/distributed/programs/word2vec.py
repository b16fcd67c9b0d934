"""Skip-gram word vectors, trained as the talks show it: parameter servers, workers, a Supervisor.

Without ``--job_name`` the same model is trained in one process.  The last line of the chief (or of
the one process) is the loss of the whole softmax on words that were kept aside.
"""

from __future__ import annotations

import argparse
import pydoc_data.topics
import re
import time

import numpy as np

import penstock as tf

VOCABULARY, SIZE, BATCH, SAMPLED = 800, 32, 64, 16


def pairs(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(center, context) words of the English that comes with Python, shuffled."""
    text = " ".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics))
    words = re.findall(r"[a-z]+", text.lower())
    names, counts = np.unique(words, return_counts=True)
    known = {names[i]: rank for rank, i in enumerate(np.argsort(-counts)[: VOCABULARY - 1])}
    ids = np.array([known.get(word, VOCABULARY - 1) for word in words])
    center = np.concatenate([ids[1:], ids[:-1]])
    context = np.concatenate([ids[:-1], ids[1:]])
    order = np.random.RandomState(seed).permutation(len(center))
    return center[order].astype(np.int32), context[order].astype(np.int64)


def model():
    """The training step, the loss on given words, and where words are fed."""
    center = tf.placeholder(tf.int32, [None], name="center")
    context = tf.placeholder(tf.int64, [None], name="context")
    embeddings = tf.Variable(
        tf.random_uniform([VOCABULARY, SIZE], -0.5, 0.5, seed=1), name="embeddings"
    )
    weights = tf.Variable(tf.zeros([VOCABULARY, SIZE]), name="weights")
    biases = tf.Variable(tf.zeros([VOCABULARY]), name="biases")
    inside = tf.nn.embedding_lookup(embeddings, center)
    loss = tf.reduce_mean(
        tf.nn.sampled_softmax_loss(weights, biases, context[:, None], inside, SAMPLED, VOCABULARY)
    )
    global_step = tf.Variable(0, name="global_step", trainable=False)
    train = tf.train.AdagradOptimizer(0.5).minimize(loss, global_step=global_step)
    logits = tf.matmul(inside, weights, transpose_b=True) + biases
    whole = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=context, logits=logits)
    )
    return train, whole, global_step, center, context


def train_on(session, nodes, steps: int, seed: int, stop=lambda: False) -> int:
    """Trains until the shared step count is reached; returns it."""
    train, _, global_step, center, context = nodes
    words, near = pairs(seed)
    step, at = 0, 2000
    while step < steps and not stop():
        feeds = {center: words[at : at + BATCH], context: near[at : at + BATCH]}
        _, step = session.run([train, global_step], feeds)
        at = at + BATCH if at + 2 * BATCH < len(words) else 2000
    return step


def held_out(session, nodes) -> float:
    """The loss on words that a seed of their own picks."""
    _, whole, _, center, context = nodes
    words, near = pairs(0)
    return float(session.run(whole, {center: words[:2000], context: near[:2000]}))


def alone(arguments: argparse.Namespace) -> None:
    nodes = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        train_on(session, nodes, arguments.steps, 0)
        print(f"held out {held_out(session, nodes):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--job_name", default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts", default="")
    parser.add_argument("--steps", type=int, default=1500)
    arguments = parser.parse_args()
    if not arguments.job_name:
        alone(arguments)
        return
    cluster = tf.train.ClusterSpec(
        {"ps": arguments.ps_hosts.split(","), "worker": arguments.worker_hosts.split(",")}
    )
    server = tf.train.Server(cluster, job_name=arguments.job_name, task_index=arguments.task_index)
    if arguments.job_name == "ps":
        server.join()
        return
    with tf.device(
        tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{arguments.task_index}", cluster=cluster
        )
    ):
        nodes = model()
    chief = arguments.task_index == 0
    supervisor = tf.train.Supervisor(is_chief=chief, global_step=nodes[2], recovery_wait_secs=0.1)
    with supervisor.managed_session(server.target) as session:
        step = train_on(
            session, nodes, arguments.steps, arguments.task_index, supervisor.should_stop
        )
        print(f"worker {arguments.task_index} ends at {step}")
        if chief:
            time.sleep(0.2)
            print(f"held out {held_out(session, nodes):.4f}")


if __name__ == "__main__":
    main()
