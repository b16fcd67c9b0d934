"""Gradients of tapes that record the same again: the program gives what the calls give."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.library.eager import replay
from penstock.library.eager.replay import TAPES_BEFORE

pytestmark = pytest.mark.usefixtures("eagerly")

X = np.linspace(-1.0, 2.0, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(0.5, 1.5, 8, dtype=np.float32).reshape(4, 2)
LOSSES = {
    "layer": lambda x, w: tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) - 0.5)),
    "axes": lambda x, w: tf.reduce_sum(tf.reduce_mean(x, [1], keepdims=True) * tf.matmul(x, w)),
    "parts": lambda x, w: tf.reduce_sum(tf.concat([x[:, :2], tf.matmul(x, w)], 1) ** 2.0),
    "shapes": lambda x, w: tf.reduce_max(tf.reshape(tf.transpose(x), [3, 4]) @ tf.exp(w)),
    "softmax": lambda x, w: tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=tf.nn.softmax(x[:, :2]), logits=tf.matmul(x, w)
    ),
    "variables only": lambda x, w: w * w,
    "stacked": lambda x, w: tf.reduce_logsumexp(tf.stack([x, x * 2.0], 1)) * tf.reduce_sum(w),
    "chosen": lambda x, w: tf.where(x > 0, x * tf.reduce_sum(w), -x),
    "dims": lambda x, w: tf.tile(x, tf.shape(w)) * tf.reduce_prod(w),
}


def programs():
    return [p for p in tf.get_default_graph().replays._programs.values() if p is not None]


def gradients_of(loss, x_value=X, w_value=W):
    x, w = tf.constant(x_value), tf.Variable(w_value, use_resource=True)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x, w)
    return [None if g is None else g.numpy() for g in tape.gradient(y, [x, w])]


def assert_equal(found, wanted):
    assert [g is None for g in found] == [g is None for g in wanted]
    for one, other in zip(found, wanted):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_program_gives_what_the_calls_give_of_other_values(name):
    loss = LOSSES[name]
    first, other = gradients_of(loss), gradients_of(loss, X[::-1] * 0.5, W + 0.25)
    assert not programs()
    for _ in range(TAPES_BEFORE):
        gradients_of(loss)
    assert programs()
    assert_equal(gradients_of(loss), first)
    assert_equal(gradients_of(loss, X[::-1] * 0.5, W + 0.25), other)


@pytest.mark.usefixtures("at_once")
def test_other_shapes_arguments_and_sources_are_other_structures():
    x = tf.constant(X)
    for axis in (0, 1):
        for value in (X, X[:2]):
            x = tf.constant(value)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.cumsum(x, axis))
            (grad,) = tape.gradient(y, [x])
            places = np.arange(value.shape[axis], 0, -1, dtype=np.float32)
            wanted = np.broadcast_to(places[:, None] if axis == 0 else places, value.shape)
            np.testing.assert_array_equal(grad.numpy(), wanted)
    assert len(programs()) == 4


@pytest.mark.usefixtures("at_once")
def test_sources_that_nothing_depends_on_and_targets_that_are_sources():
    x, alone = tf.constant(X), tf.constant(1.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch([x, alone])
            y = x * 3.0
            z = y * 2.0
        found = tape.gradient([z, y], [x, y, alone])
        assert found[2] is None
        np.testing.assert_allclose(found[0].numpy(), np.full_like(X, 9.0))
        np.testing.assert_allclose(found[1].numpy(), np.full_like(X, 3.0))
    assert programs()


@pytest.mark.usefixtures("at_once")
def test_a_second_derivative_is_recorded_by_the_outer_tape():
    x = tf.constant(3.0)
    for _ in range(4):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            first = inner.gradient(y, x)
        assert float(first) == 27.0 and float(outer.gradient(first, x)) == 18.0


@pytest.mark.usefixtures("at_once")
def test_a_gradient_of_a_users_own_is_called_at_each_tape():
    calls = []

    @tf.custom_gradient
    def clipped(x):
        return x * 1.0, lambda g: calls.append(g) or tf.clip_by_value(g, -0.5, 0.5)

    x = tf.constant(X)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clipped(x) * 4.0
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.full_like(X, 0.5))
    assert len(calls) == 3 and not programs()


@pytest.mark.usefixtures("at_once")
def test_sparse_gradients_stay_sparse():
    table = tf.Variable(W, use_resource=True)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.gather(table, [1, 1])
        found = tape.gradient(y, table)
        assert isinstance(found, tf.IndexedSlices)
        assert found.indices.numpy().tolist() == [1, 1]


@pytest.mark.usefixtures("at_once")
def test_what_a_program_gave_stays_when_it_runs_again():
    x = tf.constant(X)

    def gradient(factor):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.constant(factor)
        return tape.gradient(y, x)

    first = gradient(2.0)
    second = gradient(3.0)
    assert np.unique(first.numpy()).tolist() == [2.0]
    assert np.unique(second.numpy()).tolist() == [3.0]


def test_what_a_key_names_is_kept_while_it_is_looked_for(monkeypatch):
    monkeypatch.setattr(replay, "_MOST_KINDS", 1)
    replays = tf.get_default_graph().replays
    gradients_of(LOSSES["layer"])
    kept = {id(kind.attrs) for kind in replays._kinds.values()}
    (key,) = replays._seen
    is_op = [isinstance(item, str) and hasattr(tf.raw_ops, item) for item in key]
    named = [key[place + 1] for place, is_name in enumerate(is_op) if is_name]
    assert len(named) > 2 and set(named) <= kept
    gradients_of(lambda x, w: tf.reduce_sum(tf.exp(x)) * tf.reduce_sum(w))
    assert kept - set(replays._kinds) and len(replays._seen) == 1


@pytest.mark.usefixtures("at_once")
def test_training_by_a_program_gives_what_the_calls_give(monkeypatch):
    def losses():
        w = tf.Variable(W, use_resource=True)
        found = []
        for _ in range(5):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.sigmoid(tf.matmul(tf.constant(X), w)) - 0.25))
            w.assign_sub(tape.gradient(loss, w))
            found.append(float(loss))
        return found

    by_program = losses()
    assert programs()
    monkeypatch.setattr(replay, "TAPES_BEFORE", 1 << 20)
    tf.get_default_graph().replays.clear()
    np.testing.assert_allclose(by_program, losses(), rtol=1e-6)
    assert not programs()
