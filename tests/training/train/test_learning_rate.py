"""Learning-rate schedules: against TensorFlow's values, formulas and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.training.train import programs
from tests.training.train.expectations import VALUES


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name", sorted(programs.schedules(tf)))
def test_values_as_tensorflow(name: str) -> None:
    found = programs.schedule_values(tf, name)
    np.testing.assert_allclose(found, VALUES["schedules"][name], rtol=2e-6, atol=1e-8)


def test_rate_follows_the_global_step_in_training() -> None:
    var = tf.Variable(0.0)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(8.0, step, 1, 0.5)
    update = tf.train.GradientDescentOptimizer(rate).minimize(var * 1.0, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(update)
        assert session.run(var) == -(8.0 + 4.0 + 2.0)


def test_noise_has_the_variance_asked_for() -> None:
    step = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        rate = tf.train.noisy_linear_cosine_decay(1.0, step, 10, initial_variance=4.0)
        drawn = np.array([session.run(rate, {step: 0}) for _ in range(400)])
    assert abs(drawn.mean() - 1.001) < 0.5
    assert 1.5 < drawn.std() < 2.5


def test_double_rates() -> None:
    for make in (tf.train.cosine_decay, tf.train.linear_cosine_decay):
        rate = make(tf.constant(0.1, tf.float64), tf.constant(5), 10)
        assert rate.dtype is tf.float64
        with tf.Session() as session:
            assert 0 < session.run(rate) < 0.1


def test_piecewise_errors() -> None:
    step = tf.constant(3, tf.int64)
    words = "^The length of boundaries should be 1 less .*; found 2 boundaries and 2 values"
    with pytest.raises(ValueError, match=words):
        tf.train.piecewise_constant(step, [1, 2], [0.1, 0.2])
    words = r"^Boundaries \(tf.float32\) must have the same dtype as x \(tf.int64\).* boundary 0"
    with pytest.raises(ValueError, match=words):
        tf.train.piecewise_constant(step, [1.5], [0.1, 0.2])
    words = "^Values must have elements all with the same dtype; .* value 1 is int32"
    with pytest.raises(ValueError, match=words):
        tf.train.piecewise_constant(step, [1], [0.1, 2])


def test_schedules_of_vectors() -> None:
    step = tf.placeholder(tf.int32, [])
    cycle = tf.train.polynomial_decay(1.0, step, [10.0, 2.0], 0.1, cycle=True)
    rates = tf.train.piecewise_constant(step, [1, 5], [0.1, [0.2, 1.0], 0.3])
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(cycle, {step: 3}), [0.73, 0.325], rtol=1e-6)
        assert sess.run(cycle, {step: 0}).tolist() == [1.0, 1.0]
        assert sess.run(rates, {step: 1}).tolist() == np.float32(0.1)
        assert sess.run(rates, {step: 3}).tolist() == [np.float32(0.2), 1.0]


def test_what_chooses_is_a_scalar() -> None:
    with pytest.raises(ValueError, match="rank 0"):
        tf.train.piecewise_constant([3], [1, 5], [[0.1], [0.2], [0.3]])
    with pytest.raises(ValueError, match="rank 0"):
        tf.train.polynomial_decay(1.0, tf.constant([3]), 10, cycle=True)
    x = tf.placeholder(tf.int32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="a scalar"):
        sess.run(tf.train.piecewise_constant(x, [1, 5], [[0.1], [0.2], [0.3]]), {x: [3]})


def test_no_place_is_that_of_nan() -> None:
    rate = tf.train.piecewise_constant(np.float32(np.nan), [1.0, 5.0], [0.1, 0.2, 0.3])
    with tf.Session() as sess:
        assert sess.run(rate) == np.float32(0.1)


@pytest.mark.parametrize(
    "schedule",
    ["exponential_decay", "natural_exp_decay", "inverse_time_decay", "polynomial_decay",
     "cosine_decay", "cosine_decay_restarts", "linear_cosine_decay", "noisy_linear_cosine_decay"],
)  # fmt: skip
def test_a_step_is_needed(schedule: str) -> None:
    exponential = schedule.startswith(("exponential", "natural", "inverse"))
    rest = (10, 0.5) if exponential else (10,)
    with pytest.raises(ValueError, match=f"{schedule} needs a global_step"):
        getattr(tf.train, schedule)(0.1, None, *rest)
