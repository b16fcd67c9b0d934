"""Loss scales, and the optimizer that uses them; the numbers are TensorFlow 1.15's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

E = tf.train.experimental
_INF = float("inf")


def _running() -> Any:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_a_dynamic_scale_grows_and_falls() -> None:
    scale = E.DynamicLossScale(4.0, 2, 2.0)
    names = [v.name for v in tf.global_variables()]
    assert names == ["current_loss_scale:0", "good_steps:0"]
    grads = tf.placeholder(tf.float32, [2])
    adapted, applies = scale.update([grads, {"a": None}])
    fed = [
        ([1, 1], 4.0, True), ([1, 1], 8.0, True), ([1, 1], 8.0, True), ([_INF, 1], 4.0, False),
        ([float("nan"), 0], 2.0, False), ([0, 0], 2.0, True), ([_INF, 0], 1.0, False),
        ([_INF, 0], 1.0, False),
    ]  # fmt: skip
    with _running() as session:
        for values, after, finite in fed:
            _, said = session.run([adapted, applies], {grads: values})
            assert (session.run(scale()), said) == (after, finite)


def test_a_scale_stays_finite() -> None:
    scale = E.DynamicLossScale(2.0**127, 1, 4.0)
    adapted, _ = scale.update([tf.constant(1.0)])
    with _running() as session:
        session.run(adapted)
        assert session.run(scale()) == 2.0**127


def test_configurations() -> None:
    dynamic = E.DynamicLossScale(4.0, 2, 3.0)
    assert dynamic.get_config() == {
        "initial_loss_scale": 4.0, "increment_period": 2, "multiplier": 3.0,
    }  # fmt: skip
    text = "DynamicLossScale(initial_loss_scale=4.0, increment_period=2, multiplier=3.0)"
    assert repr(E.DynamicLossScale.from_config(dynamic.get_config())) == text
    assert repr(E.FixedLossScale.from_config({"loss_scale_value": 3})) == "FixedLossScale(3.0)"
    for wrong, words in ((0.5, "must be at least 1"), ("a", "must be a Python int or float")):
        with pytest.raises(ValueError, match=f"loss_scale_value {words}"):
            E.FixedLossScale(wrong)
    with pytest.raises(TypeError, match="abstract"):
        E.LossScale()


_OPTIMIZERS = {
    "GradientDescent": (lambda: tf.train.GradientDescentOptimizer(0.5), [0.0, 0.0], [0.0, -1.0]),
    "Adam": (lambda: tf.train.AdamOptimizer(0.1), [0.80041260, 1.80294764], [1.8000003, 1.803482]),
    "Momentum": (lambda: tf.train.MomentumOptimizer(0.1, 0.9), [0.46, 0.6], [1.42, 1.22]),
}


@pytest.mark.parametrize("name", _OPTIMIZERS)
def test_a_step_that_overflows_is_left_out(name: str) -> None:
    make, expected, rows = _OPTIMIZERS[name]
    v, table = tf.Variable([1.0, 2.0]), tf.Variable([[1.0, 1.0], [2.0, 2.0]])
    fed, counter = tf.placeholder(tf.float32, [2]), tf.Variable(0, trainable=False)
    optimizer = E.MixedPrecisionLossScaleOptimizer(make(), "dynamic")
    loss = tf.reduce_sum(v * v * fed) + tf.reduce_sum(tf.gather(table, [1, 1]) * fed)
    step = optimizer.minimize(loss, counter, var_list=[v, table])
    assert (step.name, optimizer.get_name(), optimizer.variables()) == (name, name, [])
    with _running() as session:
        session.run(step, {fed: [1, 1]})
        before = session.run([v, table])
        session.run(step, {fed: [_INF, 1]})
        for was, found in zip(before, session.run([v, table]), strict=True):
            np.testing.assert_array_equal(found, was)
        assert session.run(counter) == 1
        session.run(step, {fed: [1, 2]})
        np.testing.assert_allclose(session.run(v), expected, rtol=1e-6)
        np.testing.assert_allclose(session.run(table), [[1.0, 1.0], rows], rtol=1e-6)
        assert (session.run(counter), session.run(optimizer._loss_scale())) == (2, 16384.0)


def test_a_fixed_scale_changes_no_step() -> None:
    v, plain = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    descent = tf.train.GradientDescentOptimizer(0.25)
    scaled = E.enable_mixed_precision_graph_rewrite(descent, 8)
    steps = [
        scaled.minimize(lambda: v * v, var_list=[v]),
        descent.minimize(plain * plain, var_list=[plain]),
    ]
    with _running() as session:
        session.run(steps)
        found, expected = session.run([v, plain])
        assert found.tolist() == expected.tolist() == [0.5, 1.0]


def test_what_takes_no_scale() -> None:
    descent = tf.train.GradientDescentOptimizer(0.5)
    scaled = E.enable_mixed_precision_graph_rewrite(descent)
    E.disable_mixed_precision_graph_rewrite()
    with pytest.raises(ValueError, match='"opt" must not already be an instance'):
        E.enable_mixed_precision_graph_rewrite(scaled)
    with pytest.raises(ValueError, match='"opt" must be an instance of'):
        E.enable_mixed_precision_graph_rewrite(4)
    with pytest.raises(ValueError, match='"opt" must be an instance of Optimizer'):
        E.MixedPrecisionLossScaleOptimizer(4, 2)
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: x"):
        E.MixedPrecisionLossScaleOptimizer(descent, "x")


def test_it_is_saved_under_tensorflows_keys(tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0])
    optimizer = E.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), "dynamic")
    optimizer.minimize(v * v, var_list=[v])
    with _running() as session, session.as_default():
        path = tf.train.Checkpoint(o=optimizer, v=v).save(str(tmp_path / "c"))
    keys = tf.train.NewCheckpointReader(path).get_variable_to_shape_map()
    value = ".ATTRIBUTES/VARIABLE_VALUE"
    assert set(keys) == {
        "_CHECKPOINTABLE_OBJECT_GRAPH", f"o/loss_scale/current_loss_scale/{value}",
        f"o/loss_scale/good_steps/{value}", f"save_counter/{value}", f"v/{value}",
        f"v/.OPTIMIZER_SLOT/o/base_optimizer/momentum/{value}",
    }  # fmt: skip
