"""Programs over several tasks, each a function that builds into the default graph.

It returns the steps to run one after another: (fetches, feed).  ``ps`` and ``worker`` are device
scopes; tests also place the nodes at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf

Steps = list[tuple[list[Any], dict[Any, Any]]]
PS, WORKER, OTHER = "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"
PROGRAMS: dict[str, Callable[[], Steps]] = {}


def program(function: Callable[[], Steps]) -> Callable[[], Steps]:
    PROGRAMS[function.__name__] = function
    return function


def _init() -> tuple[list[Any], dict[Any, Any]]:
    return [tf.global_variables_initializer()], {}


def _numbers(*dims: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed).uniform(-1, 1, dims).astype(np.float32)


def _regression(optimizer: Any, use_resource: bool) -> Steps:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=_numbers(3, 2), use_resource=use_resource)
        b = tf.get_variable("b", initializer=np.zeros(2, np.float32), use_resource=use_resource)
        step = tf.train.get_or_create_global_step()
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.matmul(x, w) + b
        loss = tf.reduce_mean(tf.square(y - 1.0))
        train = optimizer.minimize(loss, global_step=step)
    runs = [([loss, train], {x: _numbers(n, 3, seed=n)}) for n in (4, 4, 2)]
    return [_init(), *runs, ([w, b, step], {})]


@program
def gradient_descent() -> Steps:
    return _regression(tf.train.GradientDescentOptimizer(0.1), False)


@program
def momentum_of_resources() -> Steps:
    return _regression(tf.train.MomentumOptimizer(0.1, 0.9), True)


@program
def adam() -> Steps:
    return _regression(tf.train.AdamOptimizer(0.05), False)


@program
def embedding_rows() -> Steps:
    with tf.device(PS):
        table = tf.get_variable("table", initializer=_numbers(10, 4))
        ids = tf.placeholder(tf.int32, [None])
        rows = tf.nn.embedding_lookup(table, ids)
    with tf.device(WORKER):
        loss = tf.reduce_sum(tf.square(tf.tanh(rows)))
        train = tf.train.AdagradOptimizer(0.3).minimize(loss)
    runs = [([loss, train], {ids: chosen}) for chosen in ([1, 3, 3], [0, 1])]
    return [_init(), *runs, ([table], {})]


@program
def towers() -> Steps:
    """In-graph replication: two workers' averaged gradients applied on the ps."""
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    with tf.device(PS):
        w = tf.get_variable("w", initializer=_numbers(3, 1))
    x = tf.placeholder(tf.float32, [4, 3])
    losses, towers = [], []
    for device, rows in zip((WORKER, OTHER), tf.split(x, 2)):
        with tf.device(device):
            losses.append(tf.reduce_mean(tf.square(tf.matmul(rows, w) - 1.0)))
            towers.append(optimizer.compute_gradients(losses[-1], [w])[0][0])
    with tf.device(PS):
        train = optimizer.apply_gradients([(tf.add_n(towers) / 2.0, w)])
        loss = tf.add_n(losses) / 2.0
    feed = {x: _numbers(4, 3, seed=3)}
    return [_init(), ([loss, train], feed), ([loss, train], feed), ([w], {})]


@program
def reads_before_and_after_an_update() -> Steps:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.float32([1, 2, 3]))
        read = w.read_value() if hasattr(w, "read_value") else w
    with tf.device(WORKER):
        before = read * 10.0
    with tf.device(PS), tf.control_dependencies([before]):
        update = tf.assign_add(w, tf.ones([3]))
    with tf.device(WORKER), tf.control_dependencies([update]):
        after = w.read_value() * 10.0
    with tf.device(OTHER), tf.control_dependencies([after]):
        last = tf.identity(tf.reduce_sum(before) + tf.reduce_sum(after))
    return [_init(), ([before, after, last, update], {}), ([w], {})]


@program
def control_edges_alone() -> Steps:
    with tf.device(PS):
        count = tf.get_variable("count", initializer=np.int64(0), use_resource=True)
    done = None
    for index in range(4):
        with tf.device((PS, WORKER, OTHER)[index % 3]), tf.control_dependencies(done or []):
            gate = tf.no_op()
        with tf.device(PS), tf.control_dependencies([gate]):
            done = [tf.assign_add(count, 2 if index % 2 else 10)]
    with tf.device(WORKER), tf.control_dependencies(done):
        value = tf.identity(tf.cast(count.read_value(), tf.float32)) + 0.5
    return [_init(), ([value], {}), ([value, tf.group(*done)], {})]


@program
def a_loop_over_tasks() -> Steps:
    n = tf.placeholder(tf.int32, [])
    with tf.device(PS):
        w = tf.get_variable("w", initializer=_numbers(3, 3))

    def body(i: Any, x: Any, total: Any) -> Any:
        with tf.device(WORKER):
            y = tf.tanh(tf.matmul(x, w))
        with tf.device(OTHER):
            return i + 1, y * 0.9, total + tf.reduce_sum(y)

    with tf.device(WORKER):
        _, x, total = tf.while_loop(
            lambda i, *_: i < n, body, [0, tf.constant(_numbers(2, 3, seed=1)), 0.0]
        )
    grads = tf.gradients(total, [w])
    return [_init(), ([x, total, *grads], {n: 3}), ([x, total, *grads], {n: 0})]


@program
def a_loop_whose_test_is_elsewhere() -> Steps:
    def body(x: Any, k: Any) -> Any:
        with tf.device(WORKER):
            return x * 1.5, k + 1

    def test(x: Any, k: Any) -> Any:
        with tf.device(OTHER):
            return tf.reduce_sum(x) < 20.0

    with tf.device(PS):
        x, k = tf.while_loop(test, body, [tf.constant([1.0, 2.0]), 0])
        y = tf.reduce_sum(x) * tf.cast(k, tf.float32)
    return [([x, k, y], {})]


@program
def a_loop_that_updates() -> Steps:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.float32([1.0, 2.0]))

    def body(i: Any, s: Any) -> Any:
        with tf.device(WORKER), tf.control_dependencies([s]):
            new = tf.assign_add(w, tf.ones([2]) * tf.cast(i, tf.float32))
        with tf.device(OTHER), tf.control_dependencies([new]):
            return i + 1, s + tf.reduce_sum(w.read_value() * 2.0)

    with tf.device(WORKER):
        _, s = tf.while_loop(lambda i, s: i < 4, body, [0, 0.0], parallel_iterations=1)
    return [_init(), ([s], {}), ([s], {}), ([w], {})]


@program
def conditionals() -> Steps:
    p = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [2])
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.float32([1.0, -1.0]))
        u = tf.get_variable("u", initializer=np.float32(0.5), use_resource=True)

    def yes() -> Any:
        with tf.device(WORKER):
            y = tf.tanh(x * w)
        with tf.device(OTHER), tf.control_dependencies([tf.assign_add(u, tf.reduce_sum(y))]):
            return tf.sin(y), tf.constant(1)

    def no() -> Any:
        with tf.device(OTHER):
            inner = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * w * u, lambda: x - 1.0)
        return inner * 2.0, tf.constant(7)

    with tf.device(WORKER):
        y, k = tf.cond(p, yes, no)
        grads = tf.gradients(y, [x, w])
    with tf.device(PS):
        z = y * tf.cast(k, tf.float32)
    runs = [([y, k, z, *grads], {p: a, x: b}) for a, b in
            ((True, [1.0, 2.0]), (False, [1.0, 2.0]), (False, [-1.0, 0.2]))]  # fmt: skip
    return [_init(), *runs, ([w, u], {})]


@program
def a_recurrent_network() -> Steps:
    x = tf.placeholder(tf.float32, [2, None, 3])
    lengths = tf.placeholder(tf.int32, [2])
    with tf.device(
        tf.train.replica_device_setter(ps_device="/job:ps/task:0", worker_device=WORKER, ps_tasks=1)
    ):
        first = tf.nn.rnn_cell.BasicLSTMCell(4, name="first")
        outputs, state = tf.nn.dynamic_rnn(first, x, lengths, dtype=tf.float32)
        loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(state.c)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.device(OTHER):
        scaled = outputs * 2.0
    steps = [([v.initializer], {}) for v in tf.global_variables()]
    tf.set_random_seed(1)
    values = [tf.assign(v, _numbers(*v.shape.as_list(), seed=i))
              for i, v in enumerate(tf.trainable_variables())]  # fmt: skip
    feed = {x: _numbers(2, 5, 3, seed=2), lengths: [5, 3]}
    run = ([scaled, state.h, loss, train], feed)
    return [*steps, (values, {}), run, run, (list(tf.trainable_variables()), {})]


@program
def layers_on_two_workers() -> Steps:
    """A two-layer network unrolled over time, a layer a worker."""
    x = tf.placeholder(tf.float32, [2, 4, 3])
    with tf.device(WORKER), tf.variable_scope("a"):
        w1 = tf.get_variable("w", initializer=_numbers(6, 3))
    with tf.device(OTHER), tf.variable_scope("b"):
        w2 = tf.get_variable("w", initializer=_numbers(6, 3, seed=1))
    h1 = h2 = tf.zeros([2, 3])
    for time in range(4):
        with tf.device(WORKER):
            h1 = tf.tanh(tf.matmul(tf.concat([x[:, time], h1], 1), w1))
        with tf.device(OTHER):
            h2 = tf.tanh(tf.matmul(tf.concat([h1, h2], 1), w2))
    with tf.device(OTHER):
        loss = tf.reduce_sum(h2)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = optimizer.compute_gradients(loss, colocate_gradients_with_ops=True)
    run = ([loss, optimizer.apply_gradients(grads)], {x: _numbers(2, 4, 3, seed=5)})
    return [_init(), run, run, ([w1, w2], {})]


@program
def queues() -> Steps:
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        queue = tf.FIFOQueue(3, [tf.float32, tf.string], shapes=[[], []])
    with tf.device(WORKER):
        put = queue.enqueue([x * 2.0, tf.as_string(x)])
        value, text = queue.dequeue()
    with tf.device(OTHER):
        shown = tf.string_join([text, "!"]), value + 1.0
    size = queue.size()
    return [
        ([put], {x: 1.0}), ([put], {x: 2.0}), ([size], {}), (list(shown), {}),
        # Both in one step: the dequeue finds the element of the enqueue, or the one before.
        ([put, *shown], {x: 3.0}), (list(shown), {}), ([size], {}),
    ]  # fmt: skip


@program
def types() -> Steps:
    values: list[Any] = [
        np.array(["a", "bc"], object), np.array([], np.float32), np.array([True, False]),
        np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.int64), np.array(2.5),
        np.array([1 + 2j, 3j], np.complex64), np.float16([1, 2]), np.zeros((2, 0), np.int32),
    ]  # fmt: skip
    results = []
    for value in values:
        held = tf.placeholder(tf.as_dtype(value.dtype) if value.dtype != object else tf.string,
                              value.shape)  # fmt: skip
        with tf.device(WORKER):
            there = tf.identity(held)
        with tf.device(OTHER):
            back = tf.identity(tf.expand_dims(there, 0))
        with tf.device(WORKER):
            results.append((held, tf.identity(back), value))
    with tf.device(WORKER):
        wide = tf.cast(tf.range(4, dtype=tf.float32), tf.bfloat16)
    with tf.device(OTHER):
        results_of_wide = tf.cast(wide * wide, tf.float32)
    return [([r for _, r, _ in results] + [results_of_wide], {h: v for h, _, v in results})]


@program
def feeds_and_fetches() -> Steps:
    x = tf.placeholder(tf.float32, [2])
    y = tf.placeholder(tf.float32, [2])
    with tf.device(WORKER):
        a = x + 1.0
    with tf.device(OTHER):
        b = x * a
    with tf.device(PS):
        c = tf.constant([1.0, 2.0])
    return [([a, x, b, c, a, b], {x: [1.0, 2.0]}), ([b, y], {x: [3.0, 4.0], y: [0.0, 1.0]})]


@program
def back_and_forth() -> Steps:
    """Many edges in both directions, in an order that invites two tasks to wait for each other."""
    x = tf.placeholder(tf.float32, [2])
    values = [x, x + 1.0, x + 2.0]
    for index in range(24):
        with tf.device((PS, WORKER, OTHER)[index * 7 % 3]):
            values.append(tf.tanh(values[-1] + values[-3 - index % 2] * 0.5))
    with tf.device(PS):
        total = tf.add_n(values[::2])
    with tf.device(WORKER):
        return [([total, values[-1], tf.reduce_sum(values[-2])], {x: [0.1, 0.2]})]


@program
def arrays_and_maps() -> Steps:
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [None, 2])
        mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
        scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    with tf.device(OTHER):
        total = mapped + scanned
    grads = tf.gradients(total, [x], colocate_gradients_with_ops=True)
    return [([total, *grads], {x: _numbers(3, 2)})]


@program
def functions_and_datasets() -> Steps:
    with tf.device(WORKER):
        dataset = tf.data.Dataset.range(6).map(lambda i: tf.cast(i, tf.float32) * 2.0).batch(2)
        iterator = dataset.make_initializable_iterator()
        batch = iterator.get_next()
    with tf.device(OTHER):
        y = batch + 0.5
    return [([iterator.initializer], {}), ([y], {}), ([y], {})]


@program
def branches_that_give_nothing() -> Steps:
    """A value of a branch is used in a later conditional, in another task."""
    p = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [3])
    with tf.device(WORKER):
        y = tf.cond(p, lambda: tf.exp(tf.tanh(x)) * x, lambda: x)
    grads = tf.gradients(y, [x])
    return [([y, *grads], {p: p_, x: [0.1, 0.2, -0.3]}) for p_ in (True, False)]
