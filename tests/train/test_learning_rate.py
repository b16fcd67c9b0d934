"""Learning-rate schedules: against TensorFlow's values, formulas and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.train import programs
from tests.train.expectations import VALUES


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
    with pytest.raises(ValueError, match="one more than boundaries; found 2 values and 2"):
        tf.train.piecewise_constant(step, [1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match="of the type of x, int64; boundary 0 is float32"):
        tf.train.piecewise_constant(step, [1.5], [0.1, 0.2])
    with pytest.raises(ValueError, match="all be of one type; .* value 1 is int32"):
        tf.train.piecewise_constant(step, [1], [0.1, 2])


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
