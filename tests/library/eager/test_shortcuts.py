"""Functions that come down to one operation: what a shortcut gives is what the function gives."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import penstock as tf
from penstock.library.eager.shortcuts import CALLS_BEFORE

pytestmark = pytest.mark.usefixtures("eagerly")

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
Y = X[::-1].copy()
CALLS = {
    "reduce_sum": lambda x, y: tf.reduce_sum(x, 1),
    "reduce_mean": lambda x, y: tf.reduce_mean(x, axis=[0, 1], keepdims=True),
    "reduce_max": lambda x, y: tf.reduce_max(x),
    "concat": lambda x, y: tf.concat([x, y], 0),
    "concat of keywords": lambda x, y: tf.concat(values=(y, x), axis=-1),
    "stack": lambda x, y: tf.stack([x, y], 1),
    "transpose": lambda x, y: tf.transpose(x),
    "permuted": lambda x, y: tf.transpose(x, [1, 0]),
    "reshape": lambda x, y: tf.reshape(x, [2, -1]),
    "matmul": lambda x, y: tf.matmul(x, y, transpose_b=True),
    "cast": lambda x, y: tf.cast(x, tf.int32),
    "expand_dims": lambda x, y: tf.expand_dims(x, 1),
    "where": lambda x, y: tf.where(x < y, x, y),
    "gather": lambda x, y: tf.gather(x, [2, 0]),
    "tile": lambda x, y: tf.tile(x, [2, 1]),
    "softmax": lambda x, y: tf.nn.softmax(x),
    "pad": lambda x, y: tf.pad(x, [[1, 0], [0, 2]]),
    "argmax": lambda x, y: tf.argmax(x, 1),
    "exp": lambda x, y: tf.exp(x),
}


def shortcuts():
    return list(tf.get_default_graph()._shortcuts)


@pytest.mark.parametrize("name", CALLS)
def test_a_shortcut_gives_what_the_function_gives_of_other_values(name):
    call, first, second = CALLS[name], tf.constant(X), tf.constant(Y)
    fresh = [call(first, second).numpy(), call(second, first).numpy()]
    count = len(shortcuts())
    for _ in range(CALLS_BEFORE + 2):
        call(first, second)
    assert len(shortcuts()) > count
    np.testing.assert_array_equal(call(first, second).numpy(), fresh[0])
    np.testing.assert_array_equal(call(second, first).numpy(), fresh[1])


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"cast", "argmax"}))
def test_a_tape_sees_what_a_shortcut_runs(name):
    def gradients():
        x, y = tf.constant(X), tf.constant(Y)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.square(CALLS[name](x, y))
        return [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(z, [x, y])]

    first = gradients()
    for _ in range(CALLS_BEFORE + 2):
        last = gradients()
    for one, other in zip(first, last):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_other_shapes_dtypes_and_arguments_are_other_calls():
    for _ in range(CALLS_BEFORE + 2):
        tf.reduce_sum(tf.constant(X), 1)
    assert tf.reduce_sum(tf.constant(X[:2]), 1).numpy().tolist() == X[:2].sum(1).tolist()
    assert tf.reduce_sum(tf.constant(X), 0).numpy().tolist() == X.sum(0).tolist()
    assert tf.reduce_sum(tf.constant(X), True).numpy().tolist() == X.sum(1).tolist()
    assert tf.reduce_sum(tf.constant(X.astype(np.int64)), 1).dtype is tf.int64
    assert tf.reduce_sum(tf.constant(X), tf.constant(0)).numpy().tolist() == X.sum(0).tolist()
    assert tf.reduce_sum(tf.constant(X), 1, keepdims=True).shape.as_list() == [3, 1]


def test_an_axis_that_is_a_tensor_may_have_another_value():
    for axis in [0] * (CALLS_BEFORE + 3) + [1]:
        found = tf.reduce_sum(tf.constant(X), tf.constant(axis))
        assert found.numpy().tolist() == X.sum(axis).tolist()
        joined = tf.concat([tf.constant(X), tf.constant(Y)], tf.constant(axis))
        np.testing.assert_array_equal(joined.numpy(), np.concatenate([X, Y], axis))


def test_one_tensor_in_two_places_is_not_taken_for_always_so():
    x, y = tf.constant(X), tf.constant(Y)
    for _ in range(CALLS_BEFORE + 3):
        tf.concat([x, x], 0)
    np.testing.assert_array_equal(tf.concat([x, y], 0).numpy(), np.concatenate([X, Y]))


def test_errors_stay_what_they_are():
    x, y = tf.constant(X), tf.constant(X[:, :3])
    for _ in range(CALLS_BEFORE + 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions of inputs"):
            tf.concat([x, y], 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="invalid reduction dimension|Inv"):
            tf.reduce_sum(x, tf.constant(2))


def test_numbers_of_one_value_are_tensors_of_their_own():
    first, second = tf.constant(3.0), tf.constant(3.0)
    assert first is not second
    with tf.GradientTape() as tape:
        tape.watch(first)
        z = first * second
    assert [None if g is None else g.numpy() for g in tape.gradient(z, [first, second])] == [
        3,
        None,
    ]


def test_a_variable_made_of_a_number_leaves_other_constants_alone():
    for made in (lambda: tf.constant(2.5), lambda: tf.constant([2.5, 2.5])):
        variable = tf.Variable(made(), use_resource=True)
        variable.assign_add(made())
        tf.train.GradientDescentOptimizer(1.0).apply_gradients([(made(), variable)])
        assert np.all(variable.numpy() == 2.5) and np.all(made().numpy() == 2.5)
        array = made().numpy()
        array *= 0
        assert np.all(made().numpy() == 2.5)


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), 0, False, True, 1])
def test_numbers_that_are_equal_stay_apart(value):
    for other in (0.0, -0.0, 0, False, 1, True, 1.0):
        tf.constant(other)
    found = tf.constant(value).numpy()
    assert repr(found.item()) == repr(value)


def test_a_shortcut_keeps_no_tensor_alive():
    x = tf.constant(X)
    for _ in range(CALLS_BEFORE + 2):
        tf.reduce_sum(x, 1)
    value = weakref.ref(x.value)
    del x
    gc.collect()
    assert value() is None


def test_random_numbers_have_no_shortcut():
    x = tf.constant([8, 8])
    seen = {tf.random.normal(x).numpy().tobytes() for _ in range(CALLS_BEFORE + 4)}
    assert len(seen) == CALLS_BEFORE + 4
