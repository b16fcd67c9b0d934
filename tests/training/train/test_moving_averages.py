"""ExponentialMovingAverage and its functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.training.train import moving_averages
from tests.training.train import programs
from tests.training.train.expectations import STYLES, VALUES, assert_values


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("style", STYLES)
def test_values_as_tensorflow(style: str) -> None:
    _, found = programs.averages(tf, STYLES[style])
    assert_values(found, VALUES["averages"][style])


def test_average_starts_at_the_initial_value_and_follows() -> None:
    var = tf.Variable([1.0, 10.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.5)
    assert ema.average(var) is None
    assert ema.average_name(var) == "v/ExponentialMovingAverage"
    update = ema.apply([var])
    average = ema.average(var)
    assert average.op.name == ema.average_name(var) == "v/ExponentialMovingAverage"
    assert not average.trainable
    assert tf.get_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES) == [var]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(average), [1.0, 10.0])
        session.run(var.assign([3.0, 20.0]))
        session.run(update)
        np.testing.assert_array_equal(session.run(average), [2.0, 15.0])


def test_apply_without_arguments_takes_trainable_variables() -> None:
    trained = tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9, name="Mean")
    assert ema.name == "Mean"
    assert ema.apply().name == "Mean"
    assert ema.average(trained).op.name == "a/Mean"
    assert ema.apply().name == "Mean_1"
    assert len([v for v in tf.global_variables() if "Mean" in v.name]) == 1


def test_names_to_restore() -> None:
    averaged = tf.Variable(1.0, name="a")
    plain = tf.Variable(1.0, name="b", trainable=False)
    also = tf.Variable(1.0, name="c")
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([averaged])
    average = ema.average(averaged)
    assert ema.variables_to_restore() == {
        "a/ExponentialMovingAverage": averaged,
        "b": plain,
        "c/ExponentialMovingAverage": also,
    }
    assert ema.variables_to_restore([also]) == {
        "c/ExponentialMovingAverage": also,
        "a": averaged,
        "b": plain,
        "a/ExponentialMovingAverage": average,
    }


def test_integers_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^The variables must be half, .*; n:0 is int32"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1, name="n")])


def test_assign_moving_average_debiased() -> None:
    var = tf.Variable(0.0, name="v", trainable=False)
    value = tf.placeholder(tf.float32, [])
    update = moving_averages.assign_moving_average(var, value, 0.9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update, {value: 2.0})
        assert session.run(var) == pytest.approx(2.0)
        session.run(update, {value: 4.0})
        assert session.run(var) == pytest.approx((0.09 * 2 + 0.1 * 4) / 0.19)


def test_weighted_moving_average() -> None:
    value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    assert average.op.name == "WeightedMovingAvg/WeightedMovingAvg"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(average, {value: 2.0, weight: 3.0}) == pytest.approx(2.0)
        # (0.25 * 6 + 0.5 * 4) / (0.25 * 3 + 0.5 * 1)
        assert session.run(average, {value: 4.0, weight: 1.0}) == pytest.approx(2.8)
