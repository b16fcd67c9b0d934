"""Tapes: gradients of what ran, against fixed values and against graph mode; misuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("eagerly")
X = np.array([[0.5, -1.25], [2.0, 0.75]], np.float32)

# Functions of a matrix, of many op families.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "broadcast": lambda x: x * x[0] - tf.reduce_mean(x, 0) / (2.0 + x * x),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True),
    "softmax": lambda x: tf.nn.softmax(x)[:, 0] * tf.nn.log_softmax(x)[:, 1],
    "loss": lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]] * 2, logits=x),
    "sparse_loss": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[1, 0], logits=x
    ),
    "gather": lambda x: tf.gather(x, [1, 1, 0]) ** 2.0,
    "concat": lambda x: tf.concat([x, tf.tanh(x)], 1)[:, 1:3],
    "stack": lambda x: tf.stack(tf.unstack(tf.sigmoid(x)))[0] * tf.transpose(x),
    "conv": lambda x: tf.nn.conv2d(
        tf.reshape(x, [1, 2, 2, 1]), tf.reshape(x, [2, 2, 1, 1]), [1, 1, 1, 1], "SAME"
    ),
    "pool": lambda x: tf.nn.max_pool(
        tf.reshape(x, [1, 2, 2, 1]), [1, 2, 1, 1], [1, 1, 1, 1], "VALID"
    ),
    "where": lambda x: tf.where(x > 0, tf.exp(x), x * 2),
    "pad": lambda x: tf.pad(tf.nn.relu(x), [[1, 0], [0, 1]]) * 3,
    "moments": lambda x: tf.nn.moments(x, [0, 1])[1],
    "reductions": lambda x: tf.reduce_max(x, 1) + tf.reduce_prod(x, 1) + tf.norm(x),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "cumsum": lambda x: tf.cumsum(x, 1) * tf.stop_gradient(x),
    "linalg": lambda x: tf.matrix_inverse(x) + tf.matrix_determinant(x),
    "top": lambda x: tf.nn.top_k(x, 1).values,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_a_graph(name: str) -> None:
    function = FUNCTIONS[name]
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    found = tf.convert_to_tensor(tape.gradient(y, x)).numpy()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        value, wanted = session.run(
            [function(x), tf.convert_to_tensor(tf.gradients(function(x), x)[0])]
        )
    np.testing.assert_allclose(y.numpy(), value, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_what_is_watched_counts() -> None:
    a, v = tf.constant(2.0), tf.Variable(3.0)
    fixed = tf.Variable(1.0, trainable=False)
    with tf.GradientTape() as tape:
        y = a * v * fixed
    assert tape.watched_variables() == (v,)
    grads = tape.gradient(y, {"a": a, "v": v, "fixed": fixed})
    assert grads["a"] is None
    assert grads["fixed"] is None
    assert grads["v"].numpy() == 2.0
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = a * v
    assert tape.gradient(y, v) is None


def test_nested_and_persistent_tapes() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3.0
        slope = inner.gradient(y, x)
    np.testing.assert_allclose(outer.gradient(slope, x).numpy(), [6, 12])
    np.testing.assert_allclose(outer.gradient(y, x, tf.constant([1.0, 10.0])).numpy(), [3, 120])
    np.testing.assert_allclose(outer.jacobian(y, x).numpy(), [[3, 0], [0, 12]])


def test_stopping_and_resetting() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            left_out = x * x
        y = x * 5.0
    assert tape.gradient([y, left_out], x).numpy() == 5.0
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
        tape.reset()
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        tape.watch(x)
    assert tape.gradient(v * 1.0, x, unconnected_gradients="zero").numpy() == 0.0


def test_misuse() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, x)
    with pytest.raises(ValueError, match="Passed in object of type <class 'float'>"):
        tf.GradientTape().watch(1.0)
    with pytest.raises(ValueError, match="already recording"), tf.GradientTape() as tape, tape:
        pass


def test_slices_reach_an_optimizer() -> None:
    table = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]) ** 2.0)
    grad = tape.gradient(y, table)
    assert isinstance(grad, tf.IndexedSlices)
    tf.train.GradientDescentOptimizer(0.25).apply_gradients([(grad, table)])
    np.testing.assert_array_equal(table.numpy(), [[1, 1], [0, 0], [1, 1], [0.5, 0.5]])


def test_a_custom_gradient() -> None:
    scale = tf.Variable(4.0)

    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        def grad(dy: Any, variables: Any = None) -> Any:
            return dy * 10, [dy * 7]

        return x * 2 * scale, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x)
    assert y.numpy() == 24.0
    assert [g.numpy() for g in tape.gradient(y, [x, scale])] == [10.0, 7.0]


OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_is_that_of_a_graph(name: str) -> None:
    def loss(w: Any, b: Any) -> Any:
        return tf.reduce_mean((tf.matmul(tf.constant(X), w) + b - 1.0) ** 2.0)

    w, b = tf.Variable(np.ones((2, 1), np.float32)), tf.Variable([0.5])
    optimizer, step = OPTIMIZERS[name](), tf.train.get_or_create_global_step()
    for _ in range(3):
        optimizer.minimize(lambda: loss(w, b), global_step=step)
    assert step.numpy() == 3
    with tf.Graph().as_default(), tf.Session() as session:
        w_node, b_node = tf.Variable(np.ones((2, 1), np.float32)), tf.Variable([0.5])
        train = OPTIMIZERS[name]().minimize(loss(w_node, b_node))
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        wanted = session.run([w_node, b_node])
    np.testing.assert_allclose(w.numpy(), wanted[0], rtol=1e-5)
    np.testing.assert_allclose(b.numpy(), wanted[1], rtol=1e-5)


def test_a_tape_over_nodes_watches_the_variables_that_they_read() -> None:
    with tf.Graph().as_default():
        kept, frozen = (
            tf.Variable(1.0, use_resource=True, trainable=t, name=n)
            for t, n in ((True, "kept"), (False, "frozen"))
        )
        rows = tf.Variable([[1.0], [2.0]], use_resource=True, name="rows")
        with tf.GradientTape() as tape:
            _ = kept + frozen
            tf.nn.embedding_lookup(rows, [0])
        _ = tf.Variable(1.0, use_resource=True) + 1.0  # read by nothing inside
        assert [v.op.name for v in tape.watched_variables()] == ["kept", "rows"]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            _ = kept + 1.0
        assert tape.watched_variables() == ()


def test_jacobians_of_tapes_that_are_not_persistent() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), [[2, 0], [0, 4]])
    with pytest.raises(RuntimeError, match="only be called once"):
        tape.gradient(y, x)
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = rows * rows[:, ::-1]
    found = tape.batch_jacobian(y, rows).numpy()
    np.testing.assert_allclose(found, [[[2, 1], [2, 1]], [[4, 3], [4, 3]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(RuntimeError, match="persistent=True to compute the jacobian with"):
        tape.jacobian(y, x, experimental_use_pfor=False)

    @tf.function
    def traced(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x, experimental_use_pfor=False)

    np.testing.assert_allclose(traced(x).numpy(), [[2, 0], [0, 4]])


@pytest.mark.parametrize("size", [3, 20])
def test_jacobians_of_nodes(size: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        other = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch([x, other])
            y = x * x[:, ::-1]
        whole, absent = tape.jacobian(y, [x, other], experimental_use_pfor=False)
        batch = tape.batch_jacobian(y, x)
        assert absent is None and batch.shape.as_list() == [None, 2, 2]
        value = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        whole, batch = session.run([whole, batch], {x: value})
    wanted = [[[b, a], [b, a]] for a, b in value.tolist()]
    np.testing.assert_allclose(batch, wanted)
    np.testing.assert_allclose(whole[range(size), :, range(size)], wanted)
    assert whole.shape == (size, 2, size, 2) and np.count_nonzero(whole) <= 4 * size
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(value[:, 0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        found = tape.jacobian(y, x)
        assert found.shape.as_list() == [size, size]
        np.testing.assert_allclose(session.run(found), np.diag(2 * value[:, 0]))


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean])
@pytest.mark.parametrize("axis", [None, [], 0, -1, [0, 2], [2, -2]])
@pytest.mark.parametrize("keep", [False, True])
def test_gradients_of_sums_and_means(reduce: Any, axis: Any, keep: bool) -> None:
    """As by numbers; and those of the gradients, where a second tape follows them."""
    value = np.arange(12, dtype=np.float64).reshape(2, 3, 2)
    x = tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(reduce(x * x, axis, keepdims=keep) ** 2.0)
        slope = inner.gradient(y, x)
        total = tf.reduce_sum(slope)
    axes = tuple(range(3)) if axis is None else tuple(np.atleast_1d(axis).astype(int))
    function = np.sum if reduce is tf.reduce_sum else np.mean
    parts = function(value**2, axis=axes, keepdims=True)
    share = 1.0 if reduce is tf.reduce_sum else parts.size / value.size
    np.testing.assert_allclose(slope.numpy(), 4.0 * share * value * parts, rtol=1e-12)
    rows = np.sum(value, axis=axes, keepdims=True)
    second = 4.0 * share * parts + 8.0 * share * share * rows * value
    np.testing.assert_allclose(outer.gradient(total, x).numpy(), second, rtol=1e-12)
