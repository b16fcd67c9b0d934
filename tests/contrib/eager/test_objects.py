"""Savers, checkpoints, metrics and networks where operations run as they are called.

Values, names and keys are those that TensorFlow 1.15 gives of the same lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import eager as tfe
from tests.library.eager.conftest import eagerly as eagerly

pytestmark = pytest.mark.usefixtures("eagerly")


class Small(tfe.Network):
    def __init__(self) -> None:
        super().__init__()
        self.a = self.track_layer(tf.layers.Dense(2))
        self.b = self.track_layer(tf.layers.Dense(3, name="bb"))

    def call(self, x: Any) -> Any:
        return self.b(self.a(x))


class Outer(tfe.Network):
    def __init__(self) -> None:
        super().__init__(name="outer")
        self.n, self.m = self.track_layer(Small()), self.track_layer(Small())

    def call(self, x: Any) -> Any:
        return self.m(self.n(x))


def test_a_saver_saves_by_name(tmp_path: Path) -> None:
    v = tfe.Variable([1.0, 2.0], name="v")
    saver = tfe.Saver([v])
    path = saver.save(str(tmp_path / "s"), 7)
    assert path == str(tmp_path / "s-7")
    assert [name for name, _ in tf.train.list_variables(path)] == ["v"]
    v.assign([0.0, 0.0])
    saver.restore(path)
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        saver.restore(str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="`var_list` must specify a list or dict of variables"):
        tf.train.Saver()


def test_a_checkpoint_restores_what_is_made_later(tmp_path: Path) -> None:
    def made() -> Any:
        layer, optimizer = tf.keras.layers.Dense(2), tf.train.AdamOptimizer(0.1)
        return layer, optimizer, tf.train.Checkpoint(layer=layer, optimizer=optimizer)

    def step(layer: Any, optimizer: Any) -> float:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.ones([4, 3])) ** 2.0)
        grads = tape.gradient(loss, layer.variables)
        optimizer.apply_gradients(zip(grads, layer.variables, strict=True))
        return float(loss)

    layer, optimizer, checkpoint = made()
    step(layer, optimizer)
    path = checkpoint.save(str(tmp_path / "c"))
    assert path.endswith("c-1")
    wanted = [step(layer, optimizer) for _ in range(3)]
    layer, optimizer, checkpoint = made()
    status = checkpoint.restore(path)
    assert [step(layer, optimizer) for _ in range(3)] == wanted
    status.assert_consumed()
    assert checkpoint.save(str(tmp_path / "c")).endswith("c-2")


def test_metrics_sum_over_batches(tmp_path: Path) -> None:
    mean = tfe.metrics.Mean("mm")
    assert mean([1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
    mean(5.0, weights=2.0)
    assert float(mean.result()) == pytest.approx(3.2) and mean.result().dtype is tf.float64
    assert [v.name for v in mean.variables] == ["mm/numer:0", "mm/denom:0"]
    path = tf.train.Checkpoint(m=mean).save(str(tmp_path / "c"))
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert keys[1:3] == [f"m/{n}/.ATTRIBUTES/VARIABLE_VALUE" for n in ("denom", "numer")]
    other = tfe.metrics.Mean()
    other(1.0)
    other.aggregate([mean])
    assert float(other.result()) == pytest.approx(17 / 6)
    mean.init_variables()
    assert np.isnan(float(mean.result()))


@pytest.mark.parametrize(
    ("metric", "labels", "predictions", "wanted"),
    [
        (tfe.metrics.Accuracy(), [1, 2, 3], [1, 2, 0], 2 / 3),
        (tfe.metrics.BinaryAccuracy(0.5), [1.0, 0.0], [0.3, 0.2], 0.5),
        (tfe.metrics.CategoricalAccuracy(), [[0, 1], [1, 0]], [[0, 1], [0, 1]], 0.5),
        (tfe.metrics.SparseAccuracy(), [1, 0], [[0.2, 0.8], [0.1, 0.9]], 0.5),
    ],
    ids=lambda v: type(v).__name__,
)
def test_accuracies(metric: Any, labels: Any, predictions: Any, wanted: float) -> None:
    assert metric(labels, predictions) == (labels, predictions)
    assert float(metric.result()) == pytest.approx(wanted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions"):
        metric([1], [[[1.0]], [[2.0]]])


def test_networks_nest_their_names() -> None:
    small = Small()
    with pytest.raises(ValueError, match="does not yet have a final name"):
        _ = small.name
    small(tf.ones([1, 4]))
    again = Small()
    again(tf.ones([1, 4]))
    assert (small.name, small.scope_name, again.variables[0].name) == (
        "small",
        "small",
        "small_1/dense/kernel:0",
    )
    outer = Outer()
    assert outer(tf.ones([1, 3])).shape.as_list() == [1, 3]
    names = [f"outer/{n}/{x}:0" for n in ("small", "small_1") for x in _PARTS]
    assert [v.name for v in outer.variables] == names
    assert [layer.name for layer in outer.layers] == ["small", "small_1"]
    assert outer.get_layer("small_1") is outer.m and outer.get_layer(index=0) is outer.n
    with pytest.raises(ValueError, match="No such layer: zz"):
        outer.get_layer("zz")
    with pytest.raises(TypeError, match="not a tf.layers.Layer"):
        outer.track_layer(3)


_PARTS = ("dense/kernel", "dense/bias", "bb/kernel", "bb/bias")


def test_a_sequential_network_hands_training_on() -> None:
    network = tfe.Sequential([tf.layers.Dense(2), tf.nn.relu, tf.layers.Dropout(1.0 - 1e-7)])
    network.add(tf.layers.Dense(1, use_bias=False))
    assert network(tf.ones([1, 3]), training=True).numpy().tolist() == [[0.0]]
    assert len(network.trainable_weights) == 3 and network.name == "sequential"
    with pytest.raises(TypeError, match="takes only tf.layers.Layer objects or callables"):
        network.add(3)


def test_variables_begin_as_saved(tmp_path: Path) -> None:
    one = Small()
    one(tf.ones([1, 3]))
    path = tfe.save_network_checkpoint(one, str(tmp_path / "n"), global_step=3)
    assert path is not None and path.endswith("n-3")
    later = Small()
    tfe.restore_network_checkpoint(later, path)
    later(tf.ones([1, 3]))
    for saved, found in zip(one.variables, later.variables, strict=True):
        np.testing.assert_array_equal(saved.numpy(), found.numpy())
    with tfe.restore_variables_on_create(path, lambda name: name.replace("my/", "")):
        kernel = tfe.Variable(tf.zeros([2, 3]), name="my/bb/kernel")
        with pytest.raises(tf.errors.NotFoundError, match="other"):
            tfe.Variable([0.0], name="other")
    np.testing.assert_array_equal(kernel.numpy(), one.b.kernel.numpy())
    assert tfe.Variable([5.0], name="other").numpy() == [5.0]
    with pytest.raises(ValueError, match="map_func"):
        tfe.restore_variables_on_create(path, 3).__enter__()
    with tfe.restore_variables_on_create(None):
        assert tfe.Variable([5.0], name="other").numpy() == [5.0]
