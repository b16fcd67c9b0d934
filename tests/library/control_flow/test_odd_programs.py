"""Loops and conditionals at their limits: no rounds, no elements, nests, new shapes, threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _run(fetches: Any, feeds: Any, session: Any = None) -> Any:
    if session is not None:
        return session.run(fetches, feeds)
    with tf.Session() as made:
        made.run(tf.global_variables_initializer())
        return made.run(fetches, feeds)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def test_no_rounds_hand_the_gradient_on() -> None:
    x, w, n = (tf.placeholder(tf.float32, s) for s in ([None], [], []))
    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1.0, a * w), [0.0, x])[1]
    grads = tf.gradients(y, [x, w])
    with tf.Session() as session:
        for rounds, count in ((0, 3), (2, 3), (0, 0), (3, 0), (1, 5)):
            value, (dx, dw) = session.run([y, grads], {x: np.ones(count, "f"), w: 2.0, n: rounds})
            np.testing.assert_allclose(value, np.full(count, 2.0**rounds))
            np.testing.assert_allclose(dx, np.full(count, 2.0**rounds))
            assert dw == count * rounds * 2.0 ** max(rounds - 1, 0)


@pytest.mark.parametrize("rows, columns", [(0, 3), (2, 0), (3, 2)])
def test_maps_in_maps_over_any_number(rows: int, columns: int) -> None:
    m = tf.placeholder(tf.float32, [None, None])
    w = tf.get_variable("w", initializer=3.0)
    y = tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * w, row), m)
    (dm, dw) = tf.gradients(y, [m, w])
    data = np.arange(rows * columns, dtype="f").reshape(rows, columns)
    if not data.size:
        # As in TensorFlow: of no rows the length is not known, so there is nothing to stack.
        if rows:
            assert _run(y, {m: data}).shape == (rows, 0)
        with pytest.raises(tf.errors.UnimplementedError):
            _run(dm if rows else y, {m: data})
        return
    value, slope, of_w = _run([y, dm, dw], {m: data})
    np.testing.assert_allclose(value, 3 * data**2)
    np.testing.assert_allclose(slope, 6 * data)
    np.testing.assert_allclose(of_w, np.sum(data**2))


def test_a_loop_in_a_map_in_a_conditional() -> None:
    x, p = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", initializer=0.5, use_resource=True)

    def powers(e: Any) -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [0, e])[1]

    y = tf.cond(p, lambda: tf.map_fn(powers, x), lambda: x * w)
    grads = tf.gradients(y, [x, w])
    with tf.Session() as session:
        session.run(w.initializer)
        for data in ([1.0, 2.0], [4.0], [1.0, 2.0, 3.0]):
            value, (dx, dw) = session.run([y, grads], {x: data, p: True})
            np.testing.assert_allclose(value, np.multiply(data, 0.125))
            np.testing.assert_allclose(dx, np.full(len(data), 0.125))
            np.testing.assert_allclose(dw, sum(data) * 0.75, rtol=1e-6)
            value, (dx, dw) = session.run([y, grads], {x: data, p: False})
            np.testing.assert_allclose(value, np.multiply(data, 0.5))
            np.testing.assert_allclose(dw, sum(data), rtol=1e-6)


def test_branches_share_tensors() -> None:
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    shared = tf.exp(x)
    a, b = tf.cond(p, lambda: (shared, shared * 2.0), lambda: (shared * 2.0, shared))
    grads = tf.gradients(a - b, x)[0]
    for flag, sign in ((True, -1.0), (False, 1.0)):
        values = _run([a, b, grads, shared], {x: [0.0, 1.0], p: flag})
        np.testing.assert_allclose(values[0] - values[1], sign * np.exp([0.0, 1.0]), rtol=1e-6)
        np.testing.assert_allclose(values[2], sign * np.exp([0.0, 1.0]), rtol=1e-6)
        np.testing.assert_allclose(values[3], np.exp([0.0, 1.0]), rtol=1e-6)


def test_a_variable_grows_over_runs_and_rounds() -> None:
    v = tf.get_variable("v", initializer=0.0)

    def body(i: Any, a: Any) -> Any:
        with tf.control_dependencies([i]):
            added = tf.assign_add(v, 1.0)
        with tf.control_dependencies([added]):
            return i + 1, a + added * 1.0

    y = tf.while_loop(lambda i, a: i < 4, body, [0, 0.0])[1]
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(y) == 10.0
        assert session.run(y) == 26.0
        assert session.run(v) == 8.0


def test_one_loop_step_on_four_threads() -> None:
    x, n = tf.placeholder(tf.float64, [None]), tf.placeholder(tf.int32, [])
    w = tf.constant(0.9, tf.float64)
    array = tf.TensorArray(tf.float64, n)

    def body(i: Any, a: Any, array: Any) -> Any:
        a = tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a) * w, lambda: a + 0.1)
        return i + 1, a, array.write(i, a)

    y = tf.while_loop(lambda i, a, _: i < n, body, [0, x, array])
    stacked = y[2].stack()
    fetches = [y[1], stacked, *tf.gradients(tf.reduce_sum(stacked), [x])]
    wrong: list[Any] = []
    with tf.Session() as session:
        feeds = [{x: np.linspace(-1, 1, 3 + k), n: 2 + k} for k in range(4)]
        wanted = [session.run(fetches, feed) for feed in feeds]

        def work(k: int) -> None:
            try:
                for _ in range(25):
                    for one, other in zip(session.run(fetches, feeds[k]), wanted[k], strict=True):
                        np.testing.assert_array_equal(one, other)
            except BaseException as error:
                wrong.append((k, error))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


# ---- updates made outside, whose reference goes in -----------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_update_outside_a_loop_is_made_once(use_resource: bool) -> None:
    a, b = (tf.Variable(0, use_resource=use_resource) for _ in range(2))
    once = tf.assign_add(a, 1)

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(b, once)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 10, body, [tf.constant(0)], parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(loop)
        assert session.run([a, b]) == [1, 10]


def test_a_reference_from_an_update_is_read_in_each_round() -> None:
    a, b = tf.Variable(1), tf.Variable(0)
    assigned = tf.assign(a, 5)

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(a, 1)]):
            with tf.control_dependencies([tf.assign_add(b, assigned)]):
                return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)], parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(loop)
        assert session.run([a, b]) == [8, 6 + 7 + 8]


def test_an_update_outside_a_conditional_is_made_once() -> None:
    a, b = tf.Variable(1), tf.Variable(0)
    once = tf.assign_add(a, 5)
    value = tf.cond(tf.constant(True), lambda: once + 1, lambda: tf.constant(0))
    stored = tf.cond(tf.constant(True), lambda: tf.assign_add(b, once), lambda: tf.identity(b))
    assert _run([value, a.read_value()], {})[0] == 7
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(value) == 7
        assert session.run([value, once]) == [12, 11]
        assert session.run(stored) == 16
        assert session.run([a, b]) == [16, 16]


def test_an_update_outside_nested_loops_is_made_once() -> None:
    a = tf.Variable([1, 2, 3])
    once = tf.scatter_add(a, [0], [10])

    def inner(x: Any) -> Any:
        total = tf.reduce_sum(tf.gather(once, [0, 1]))
        return tf.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, y + total), [0, x])[1]

    loop = tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, inner(x)), [0, 0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loop) == (4, 12 * 13)
        assert session.run(a).tolist() == [11, 2, 3]


def test_what_an_optimizer_hands_on_is_taken_once() -> None:
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.train.MomentumOptimizer(1.0, 0.5)
    update = optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    (applied,) = (op.outputs[0] for op in update.control_inputs if op.type == "ApplyMomentum")
    loop = tf.while_loop(
        lambda i, x: i < 4, lambda i, x: (i + 1, x + tf.reduce_sum(applied)), [0, 0.0]
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loop) == (4, 4.0)
        assert session.run(v).tolist() == [0.0, 1.0]
