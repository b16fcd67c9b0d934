"""``defun``: values, effects and gradients of functions that run as one step."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import eager as tfe

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_function_is_traced_once_for_each_kind_of_arguments() -> None:
    traces = []

    @tfe.defun
    def double(x: Any, times: int = 2) -> Any:
        traces.append(times)
        return {"y": x * times, "none": None}

    assert double(tf.constant(3.0))["y"].numpy() == 6.0
    assert double(tf.constant(4.0))["none"] is None
    assert double(tf.constant(4.0), times=5)["y"].numpy() == 20.0
    assert double(np.ones(2, np.float32))["y"].numpy().tolist() == [2, 2]
    assert traces == [2, 5, 2]


def test_effects_come_in_order() -> None:
    v = tf.Variable(1.0)

    @tfe.defun
    def count(x: Any) -> Any:
        v.assign_add(x)
        first = v.read_value()
        v.assign_add(x)
        return first, v.read_value()

    before = v.value()
    first, second = count(tf.constant(2.0))
    assert (first.numpy(), second.numpy(), v.numpy()) == (3.0, 5.0, 5.0)
    assert before.numpy() == 1.0


def test_gradients_of_a_call_are_those_of_what_it_drew() -> None:
    v, x = tf.Variable(3.0), tf.constant(np.ones(64, np.float32))

    @tfe.defun
    def noisy(x: Any) -> Any:
        return tf.nn.dropout(x * v, 0.5)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = noisy(x)
    of_x, of_v = tape.gradient(y, [x, v])
    np.testing.assert_array_equal(of_x.numpy(), y.numpy())
    assert of_v.numpy() == y.numpy().sum() / 3
    assert 0 < np.count_nonzero(y.numpy()) < 64


def test_gradients_through_a_loop() -> None:
    x = tf.constant([1.0, 2.0])

    @tfe.defun
    def cubed(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cubed(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [3, 12])


def test_python_control_flow_over_tensors_is_converted_unless_told() -> None:
    def branches(x: Any) -> Any:
        return x if x > 0 else -x

    assert tfe.defun(branches)(tf.constant(-1.0)).numpy() == 1.0
    with pytest.raises(TypeError, match="using a `tf.Tensor` as a Python `bool` is not allowed"):
        tfe.defun(branches, autograph=False)(tf.constant(1.0))


def test_a_signature_is_traced_once() -> None:
    traces = []

    def total(x: Any, y: Any = 2.0) -> Any:
        traces.append(x.shape.as_list())
        return tf.reduce_sum(x) * y

    specs = (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32))
    function = tfe.defun(total, input_signature=specs)
    assert function(tf.constant([1.0, 2.0]), 2.0).numpy() == 6.0
    assert function([1.0, 2.0, 3.0], y=tf.constant(1.0)).numpy() == 6.0
    assert traces == [[None]]
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        function(tf.constant([[1.0]]), 1.0)
    with pytest.raises(TypeError, match="takes 2 positional arguments"):
        function(tf.constant([1.0]))
    with pytest.raises(TypeError, match="possibly nested sequence of TensorSpec"):
        tfe.defun(total, input_signature=[tf.float32])


def test_only_the_first_call_may_make_variables() -> None:
    class Counter:
        def __init__(self) -> None:
            self.v: Any = None

        @tf.function
        def add(self, x: Any) -> Any:
            if self.v is None:
                self.v = tf.Variable(0.0)
            return self.v.assign_add(x)

    one, other = Counter(), Counter()
    assert [one.add(tf.constant(2.0)).numpy() for _ in range(2)] == [2.0, 4.0]
    assert other.add(tf.constant(1.0)).numpy() == 1.0
    assert one.v.numpy() == 4.0
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(lambda: tf.Variable(1.0) * 2.0)()


def test_an_error_names_the_line_that_the_user_has_written() -> None:
    @tf.function
    def wrong(x: Any) -> Any:
        if x > 0:
            y = tf.matmul(x, x)  # this line
        else:
            y = x
        return y

    with pytest.raises(ValueError) as raised:
        wrong(tf.constant(1.0))
    lines = [str(entry.statement).strip() for entry in raised.traceback]
    assert "y = tf.matmul(x, x)  # this line" in lines


@pytest.mark.parametrize(
    "optimizer", [tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer], ids=["sgd", "adam"]
)
def test_a_step_that_trains_is_that_of_eager_calls(optimizer: Any) -> None:
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3) / 6)

    def trained(wrap: Any) -> Any:
        w, chosen = tf.Variable(np.ones((3, 2), np.float32)), optimizer(0.1)

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.tanh(tf.matmul(x, w)) ** 2.0)
            chosen.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        step = wrap(step)
        return [step(x).numpy() for _ in range(4)], w.numpy()

    losses, values = trained(tfe.defun)
    wanted_losses, wanted = trained(lambda f: f)
    np.testing.assert_allclose(losses, wanted_losses, rtol=1e-5)
    np.testing.assert_allclose(values, wanted, rtol=1e-5)
    assert losses[3] < losses[0]


@pytest.mark.parametrize(
    "given, why",
    [
        (range(9), r"argument 1 was another Python value each time: give tensors"),
        ([np.ones(n) for n in range(9)], r"argument 1 was a tensor of another shape or type: an i"),
    ],
)
def test_functions_that_are_traced_again_and_again_are_told_why(given: Any, why: str) -> None:
    @tfe.defun
    def double(x: Any) -> Any:
        return x * tf.constant(2, tf.as_dtype(getattr(x, "dtype", tf.int32)))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for each in given:
            double(each)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert re.match(rf"function 'double' has been traced 8 times; {why}", str(caught[0].message))
