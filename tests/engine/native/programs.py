"""Programs that get a native form, and how a test waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf

Program = tuple[Any, dict[Any, Any]]
# What ``explain`` says of a step of which more is to come.
_UNDER_WAY = ("not hot", "noting", "compiling", "on trial")


def softmax() -> Program:
    x = tf.placeholder(tf.float32, [None, 20], name="x")
    y = tf.placeholder(tf.float32, [None, 5], name="y")
    w = tf.Variable(np.linspace(-1, 1, 100).reshape(20, 5).astype("f"), name="w")
    b = tf.Variable(tf.zeros([5]), name="b")
    entropy = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.matmul(x, w) + b)
    loss = tf.reduce_mean(entropy)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    rng = np.random.RandomState(0)
    fed = {x: rng.rand(8, 20).astype("f"), y: np.eye(5, dtype="f")[np.arange(8) % 5]}
    return [loss, train], fed


def mlp_adam() -> Program:
    rng = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 12], name="x")
    hidden = x
    for layer, (rows, columns) in enumerate([(12, 16), (16, 16), (16, 1)]):
        w = tf.Variable(rng.randn(rows, columns).astype("f") * 0.3, name=f"w{layer}")
        hidden = tf.matmul(hidden, w) + tf.Variable(tf.zeros([columns]), name=f"b{layer}")
        hidden = tf.nn.elu(hidden) if layer < 2 else hidden
    loss = tf.reduce_mean(tf.square(hidden - tf.reduce_sum(x, 1, keepdims=True)))
    return [loss, tf.train.AdamOptimizer(0.01).minimize(loss)], {x: rng.rand(9, 12).astype("f")}


def word2vec() -> Program:
    rng = np.random.RandomState(2)
    words = tf.placeholder(tf.int32, [6], name="words")
    labels = tf.placeholder(tf.int32, [6, 1], name="labels")
    embeddings = tf.Variable(rng.rand(50, 8).astype("f"), name="embeddings")
    weights = tf.Variable(rng.rand(50, 8).astype("f"), name="weights")
    biases = tf.Variable(tf.zeros([50]), name="biases")
    inputs = tf.nn.embedding_lookup(embeddings, words)
    tf.set_random_seed(7)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, inputs, 4, 50))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    fed = {words: np.arange(6), labels: np.arange(6, 12).reshape(6, 1)}
    return [loss, train], fed


def lstm() -> Program:
    rng = np.random.RandomState(3)
    words = tf.placeholder(tf.int32, [4, 3], name="words")
    embedding = tf.Variable(rng.rand(9, 6).astype("f"), name="embedding")
    w = tf.Variable(rng.randn(12, 24).astype("f") * 0.3, name="w")
    b = tf.Variable(tf.zeros([24]), name="b")
    cell = hidden = tf.zeros([4, 6])
    for x in tf.unstack(tf.nn.embedding_lookup(embedding, words), axis=1):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x, hidden], 1), w) + b, 4, axis=1)
        cell = tf.sigmoid(f + 1.0) * cell + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.sigmoid(o) * tf.tanh(cell)
    loss = tf.reduce_sum(tf.square(hidden - 0.5))
    variables = [embedding, w, b]
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(gradients, variables))
    return [loss, train], {words: rng.randint(0, 9, (4, 3))}


def branches() -> Program:
    """A conditional of two short branches and a loop of a short body between other lines."""
    x = tf.placeholder(tf.float32, [4], name="x")
    v = tf.Variable([1.0, 2.0, 3.0, 4.0], name="v")
    before = tf.tanh(tf.exp(tf.sin(x * v) + 1.0) * 0.5) + x
    side = tf.cond(before[0] > 0.5, lambda: before * 2.0, lambda: before - 1.0)
    looped = tf.while_loop(lambda t: t[0] < 5.0, lambda t: t * 1.5 + 1.0, [side])
    after = tf.sqrt(tf.abs(tf.cos(looped) * x)) + tf.log(tf.abs(looped) + 1.0)
    train = v.assign_sub(after * 0.01)
    return [tf.reduce_sum(after), train.op], {x: np.array([0.3, -0.4, 0.5, 2.0], "f")}


def dynamic_rnn() -> Program:
    """A loop and its gradient's, which train an LSTM."""
    rng = np.random.RandomState(4)
    words = tf.placeholder(tf.float32, [4, 6, 5], name="words")
    lengths = tf.placeholder(tf.int32, [4], name="lengths")
    cell = tf.nn.rnn_cell.BasicLSTMCell(7)
    with tf.variable_scope("", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=5)):
        _, state = tf.nn.dynamic_rnn(cell, words, lengths, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(state.h - 0.25))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    fed = {words: rng.rand(4, 6, 5).astype("f"), lengths: np.array([6, 2, 5, 3])}
    return [loss, train], fed


def choices() -> tuple[Any, Any, Any]:
    """A conditional whose branches are worth a call, what it gives, and what is fed to choose."""
    x = tf.placeholder(tf.float32, [4], name="x")
    chosen = tf.placeholder(tf.bool, [], name="chosen")
    v = tf.Variable([1.0, 2.0, 3.0, 4.0], name="v")

    def yes() -> Any:
        y = tf.exp(tf.sin(x * v) * 0.5)
        with tf.control_dependencies([v.assign_add(y * 0.1)]):
            return tf.tanh(y) - x

    def no() -> Any:
        y = tf.sqrt(tf.abs(tf.cos(x) * v) + 1.0)
        with tf.control_dependencies([v.assign_sub(y * 0.1)]):
            return tf.sigmoid(y) + x

    return tf.cond(chosen, yes, no), x, chosen


def values(session: Any, program: Program, steps: int) -> list[Any]:
    """What some steps give, and the variables after them."""
    fetches, fed = program
    seen = [session.run(fetches, fed)[0] for _ in range(steps)]
    return [*seen, *session.run(tf.trainable_variables())]


def settled(session: Any, program: Program, run: Callable[[], Any] | None = None) -> str:
    """Runs a step until nothing more will come of its native form; gives what ``explain`` says."""
    fetches, fed = program
    while True:
        text: str = session.explain(fetches, fed)
        if "# native: compiling" in text:
            time.sleep(0.2)
        elif any(f"# native: {state}" in text for state in _UNDER_WAY):
            (run or (lambda: session.run(fetches, fed)))()
        else:
            return text
