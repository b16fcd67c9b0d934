"""Small programs for GPUs: each builds a graph and gives what a few steps return."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf

Values = list[Any]
CONFIG = {"allow_soft_placement": True}


def _random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def _steps(fetches: Any, feeds: Any = None, count: int = 3) -> Values:
    with tf.Session(config=tf.ConfigProto(**CONFIG)) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(fetches, feeds) for _ in range(count)]


def run(program: Callable[[], Values]) -> Values:
    """What a program gives in a graph of its own, always with the same random numbers."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        return program()


def same(found: Any, expected: Any, rtol: float, atol: float) -> None:
    """Compares what two runs gave: floats within a tolerance, all else exactly."""
    if isinstance(expected, list | tuple):
        for one, other in zip(found, expected, strict=True):
            same(one, other, rtol, atol)
    elif isinstance(expected, np.ndarray | np.generic) and expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


def mlp() -> Values:
    """Adam, accuracy from labels that are fed as whole numbers."""
    x, labels = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int64, [None])
    hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [6, 8])) + tf.get_variable("b", [8]))
    logits = tf.matmul(hidden, tf.get_variable("v", [8, 3]))
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    feeds = {x: _random(12, 6), labels: np.arange(12) % 3}
    return _steps([loss, accuracy, train, tf.train.get_global_step()], feeds)


def cnn() -> Values:
    """Convolutions, batch normalization, pooling, dropout, momentum, weight decay."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 2])
    kernel = tf.get_variable("kernel", [3, 3, 2, 4])
    found = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")
    scale, offset = tf.get_variable("s", [4]), tf.get_variable("o", [4])
    found, _, _ = tf.nn.fused_batch_norm(found, scale, offset)
    found = tf.nn.max_pool(tf.nn.relu(found), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    flat = tf.nn.dropout(tf.reshape(found, [-1, 64]), keep_prob=0.5, seed=3)
    loss = tf.reduce_mean(tf.square(tf.matmul(flat, tf.get_variable("w", [64, 2]))))
    loss += 0.01 * tf.nn.l2_loss(kernel)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return _steps([loss, train], {images: _random(5, 8, 8, 2)})


def recurrent() -> Values:
    """A loop and its gradient; lengths differ."""
    inputs = tf.placeholder(tf.float32, [4, None, 3])
    lengths = tf.placeholder(tf.int32, [4])
    cell = tf.nn.rnn_cell.LSTMCell(5)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(state.c)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    feeds = {inputs: _random(4, 6, 3), lengths: [6, 2, 0, 4]}
    return _steps([loss, train, outputs], feeds)


def words() -> Values:
    """Rows of an embedding, sampled classes, sparse updates."""
    ids, labels = tf.placeholder(tf.int32, [6]), tf.placeholder(tf.int64, [6, 1])
    table = tf.get_variable("table", [20, 4])
    weights, biases = tf.get_variable("w", [20, 4]), tf.get_variable("b", [20])
    inputs = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_mean(
        tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 5, 20, seed=1)
    )
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    feeds = {ids: [1, 5, 5, 19, 0, 7], labels: np.arange(6)[:, None]}
    return _steps([loss, train, table], feeds)


def mixed() -> Values:
    """Parts that ask for the CPU, Python code, conditionals whose sides are on two devices."""
    x = tf.placeholder(tf.float32, [3])
    with tf.device("/cpu:0"):
        held = tf.get_variable("held", [3], initializer=tf.ones_initializer())
        doubled = x * 2
    with tf.device("/gpu:0"):
        there = tf.get_variable("there", [3], initializer=tf.ones_initializer())
        total = there * doubled + held

    def on_cpu() -> Any:
        with tf.device("/cpu:0"):
            return held - total

    positive = tf.reduce_sum(x) > 0
    chosen = tf.cond(positive, lambda: total + there, on_cpu)
    seen = tf.py_func(lambda a: a[::-1].copy(), [chosen], tf.float32)
    seen.set_shape([3])
    _, turned = tf.while_loop(
        lambda i, _: i < 3, lambda i, a: (i + 1, a + seen * tf.cast(i, tf.float32)), [0, held]
    )
    update = tf.group(there.assign_add(seen), held.assign_sub(turned))
    text = tf.as_string(tf.reduce_max(turned), precision=3)
    with tf.Session(config=tf.ConfigProto(**CONFIG)) as session:
        session.run(tf.global_variables_initializer())
        found = []
        for sign in (1, -1, 1):
            fed = {x: sign * np.float32([1, 2, 3])}
            found.append(session.run([chosen, seen, turned, text, update, there, held], fed))
        return found


def saved() -> Values:
    """A checkpoint written and restored."""
    v = tf.get_variable("v", [4, 2])
    changed = v.assign(v * 3)
    saver = tf.train.Saver()
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, f"{folder}/model")
        before = session.run(v)
        session.run(changed)
        saver.restore(session, path)
        return [before, session.run(v), tf.train.load_variable(path, "v")]


def towers() -> Values:
    """Two towers that share variables, their gradients averaged on the CPU."""
    x = tf.placeholder(tf.float32, [8, 3])
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", [3, 1])
        optimizer = tf.train.GradientDescentOptimizer(0.1)
    parts, losses, gradients = tf.split(x, 2), [], []
    for tower in range(2):
        with tf.device(f"/gpu:{tower}"), tf.name_scope(f"tower_{tower}"):
            losses.append(tf.reduce_mean(tf.square(tf.matmul(parts[tower], w) - 1)))
            gradients.append(optimizer.compute_gradients(losses[-1])[0][0])
    with tf.device("/cpu:0"):
        train = optimizer.apply_gradients([(tf.add_n(gradients) / 2, w)])
        loss = tf.add_n(losses) / 2
    return _steps([loss, train, w], {x: _random(8, 3)}, 5)


PROGRAMS: dict[str, Callable[[], Values]] = {
    function.__name__: function for function in (mlp, cnn, recurrent, words, mixed, saved, towers)
}
