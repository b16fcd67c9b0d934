"""Arrays where operations run at once, and in functions: what TensorFlow 1.15 gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("eagerly")
Array = tf.TensorArray


def _three(**options: Any) -> Any:
    return Array(tf.float32, 3, **options).unstack([1.0, 2.0, 3.0])


def _pairs() -> Any:
    return Array(tf.float32, 2, infer_shape=False).write(0, [1.0]).write(1, [2.0, 3.0])


# ---- eager ---------------------------------------------------------------------------------------


def test_what_is_written_is_written_for_all_who_have_the_array() -> None:
    array = _three()
    other = array.write(0, 5.0)
    other.scatter([2, 1], [7.0, 8.0])
    assert array.stack().numpy().tolist() == [5.0, 8.0, 7.0]
    assert array.write(0, 6.0).read(0).numpy() == 6.0


def test_a_read_frees_an_element_and_the_others_free_none() -> None:
    array = _three()
    for _ in range(2):
        assert array.stack().numpy().tolist() == [1.0, 2.0, 3.0]
        assert array.gather([2, 0, 2]).numpy().tolist() == [3.0, 1.0, 3.0]
    assert array.read(1).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 1 twice"):
        array.read(1)
    assert array.write(1, 9.0).read(1).numpy() == 9.0
    kept = _three(clear_after_read=False)
    assert [kept.read(0).numpy() for _ in range(2)] == [1.0, 1.0]


def test_what_is_not_written_is_zeros_of_the_known_shape() -> None:
    array = Array(tf.float32, 3)
    with pytest.raises(ValueError, match="not written"):
        array.read(0)
    array.write(1, [1.0, 2.0])
    assert array.read(0).numpy().tolist() == [0.0, 0.0]
    assert array.element_shape.as_list() == [2]
    assert Array(tf.int32, 2, element_shape=[]).stack().numpy().tolist() == [0, 0]


def test_places_outside() -> None:
    array = Array(tf.float32, 3)
    for call, message in (
        (lambda: array.write(3, 1.0), "Tried to write to index 3 but array is not resizeable"),
        (lambda: array.write(-1, 1.0), r"Writing to negative indices \(index -1\)"),
        (lambda: array.read(3), "Tried to read from index 3 but array size is: 3"),
        (lambda: array.read(-1), r"Reading from negative indices \(index -1\)"),
        (lambda: array.scatter([0, 5], [1.0, 2.0]), "Tried to write to index 5"),
    ):
        with pytest.raises(tf.errors.OutOfRangeError, match=message):
            call()
    grown = Array(tf.float32, 0, dynamic_size=True, element_shape=[]).write(2, 1.0)
    assert grown.size().numpy() == 3 and grown.stack().numpy().tolist() == [0.0, 0.0, 1.0]


def test_types_and_shapes_that_differ() -> None:
    array = Array(tf.float32, 3).write(0, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is float32 but Op is .* int32"):
        array.write(1, tf.constant(1))
    with pytest.raises(ValueError, match="shape"):
        array.write(1, [1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of all inputs must match"):
        _pairs().stack()
    with pytest.raises(ValueError, match="Cannot unstack 3 tensors"):
        Array(tf.float32, 2).unstack([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Size must be declared"):
        Array(tf.float32)


def test_parts() -> None:
    array = Array(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert array.read(1).numpy().tolist() == [2.0, 3.0]
    assert _pairs().concat().numpy().tolist() == [1.0, 2.0, 3.0]
    for lengths, message in ([1, 1], "sum of lengths is 2"), ([1, 1, 1], r"lengths \(2 vs. 3\)"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            Array(tf.float32, 2).split([1.0, 2.0, 3.0], lengths)
    array.close()
    assert array.size().numpy() == 0 and array.handle is None
    with pytest.raises(NotImplementedError, match="GradientTape"):
        array.grad("x")


def _slope(function: Callable[[Any], Any]) -> list[float]:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    slope: list[float] = tape.gradient(y, x).numpy().tolist()
    return slope


def _squares(x: Any) -> Any:
    _, squares = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i] ** 2)), [0, Array(tf.float32, 3)]
    )
    return tf.reduce_sum(squares.stack() * [1.0, 10.0, 100.0])


def test_a_tape_follows_the_elements() -> None:
    assert _slope(lambda x: tf.reduce_sum(Array(tf.float32, 3).unstack(x).stack() ** 2)) == [
        2,
        4,
        6,
    ]
    assert _slope(lambda x: Array(tf.float32, 3).write(0, x[1] * 3.0).read(0) ** 2) == [0, 36, 0]
    assert _slope(_squares) == [2, 40, 600]
    assert _slope(tf.function(_squares, autograph=False)) == [2, 40, 600]


# ---- in functions --------------------------------------------------------------------------------


def _in_function(body: Callable[..., Any], *args: Any) -> Any:
    return tf.function(body, autograph=False)(*args).numpy().tolist()


def test_arrays_of_functions_are_lists() -> None:
    def twice() -> Any:
        return Array(tf.float32, 3).write(0, 1.0).write(0, 2.0).write(2, 5.0).stack()

    def again() -> Any:
        array = Array(tf.float32, 3).write(0, 1.0)
        return array.read(0) + array.read(0)

    def branches() -> Any:
        array = Array(tf.float32, 3).write(0, 1.0)
        first = array.write(1, 2.0).write(2, 2.0)
        return first.stack() + 10.0 * array.write(1, 3.0).write(2, 7.0).stack()

    assert _in_function(twice) == [2.0, 0.0, 5.0]
    assert _in_function(again) == 2.0
    assert _in_function(branches) == [11.0, 32.0, 72.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3"):
        _in_function(lambda: Array(tf.float32, 1).write(3, 1.0).stack())
    traced = tf.function(twice, autograph=False).get_concrete_function()
    types = [op.type for op in traced.graph.get_operations()]
    assert types.count("TensorListSetItem") == 3 and "TensorListReserve" in types
    assert not any(op_type.startswith("TensorArray") for op_type in types)


def test_the_gradient_of_an_array_that_is_a_list() -> None:
    def taken(x: Any) -> Any:
        rows = Array(tf.float32, 3).unstack(x).gather([2, 0]) * [10.0, 1.0]
        return tf.gradients(rows, x)[0]

    assert _in_function(taken, tf.constant([1.0, 2.0, 3.0])) == [1.0, 0.0, 10.0]


def test_an_eager_array_is_given_to_a_function() -> None:
    stacked = tf.function(lambda array: array.stack(), autograph=False)
    array = _three()
    for given in (array, array, _three()):
        assert stacked(given).numpy().tolist() == [1.0, 2.0, 3.0]
    assert _in_function(lambda: array.stack() + array.read(0)) == [2.0, 3.0, 4.0]
    assert _in_function(lambda a: a.size(), array) == 3
    assert _in_function(lambda a: a.read(1), _pairs()) == [2.0, 3.0]
    assert _in_function(lambda a: a.write(1, 5.0).stack(), array) == [1.0, 5.0, 3.0]
    assert array.stack().numpy().tolist() == [1.0, 2.0, 3.0]

    def summed(a: Any) -> Any:
        start = [tf.constant(0), tf.constant(0.0)]
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + a.read(i)), start)[1]

    assert _in_function(summed, array) == 6.0
    assert _slope(lambda x: tf.reduce_sum(stacked(Array(tf.float32, 3).unstack(x)) ** 2)) == [
        2,
        4,
        6,
    ]


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        (lambda i, x, y: tf.reduce_sum(tf.stack([x, y])), 6.0),
        (lambda i, x, y: tf.gather(tf.stack([x, y]), i), 3.0),
        (lambda i, x, y: tf.add_n([x, y]), 6.0),
        (lambda i, x, y: x, 2.0),
    ],
)
def test_values_from_outside_come_into_a_loop_of_a_function(join: Any, expected: float) -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)

    def looped() -> Any:
        start = [tf.constant(0), tf.constant(0.0)]
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + join(i, x, y)), start)[1]

    assert _in_function(looped) == expected


def test_a_network_over_time_in_a_function_learns_as_outside() -> None:
    """``dynamic_rnn`` gathers its outputs in arrays."""
    rng = np.random.RandomState(0)
    x = tf.constant(rng.rand(2, 5, 3).astype(np.float32))
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    cell(x[:, 0], tf.zeros([2, 4]))
    for variable in cell.trainable_variables:
        variable.assign(rng.rand(*variable.shape.as_list()).astype(np.float32) / 5.0)

    def loss() -> Any:
        return tf.reduce_sum(tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0] ** 2)

    slopes = []
    for function in (loss, tf.function(loss, autograph=False)):
        with tf.GradientTape() as tape:
            value = function()
        slopes.append([g.numpy() for g in tape.gradient(value, cell.trainable_variables)])
    for outside, inside in zip(*slopes, strict=True):
        np.testing.assert_allclose(inside, outside, rtol=1e-5)
