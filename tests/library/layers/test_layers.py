"""Layers as objects: weights in a session, losses, updates, configurations, checkpoints, errors."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_a_cell_is_a_layer_of_tf_layers() -> None:
    cell = tf.nn.rnn_cell.LSTMCell(3)
    assert isinstance(cell, tf.layers.Layer) and isinstance(cell, tf.keras.layers.Layer)
    assert isinstance(tf.layers.Dense(2), tf.keras.layers.Dense)


def test_weights_are_read_and_set_in_the_session() -> None:
    layer = tf.keras.layers.Dense(2)
    y = layer(tf.ones([1, 3]))
    with tf.Session() as session:
        kernel, bias = layer.get_weights()
        assert kernel.shape == (3, 2) and not bias.any()
        layer.set_weights([np.full((3, 2), 2.0), np.array([1.0, -1.0])])
        assert session.run(y).tolist() == [[7.0, 5.0]]
        with pytest.raises(ValueError, match="the layer was expecting 2 weights"):
            layer.set_weights([kernel])
        with pytest.raises(ValueError, match="not compatible with provided weight shape"):
            layer.set_weights([kernel.T, bias])


def test_first_weights_are_given() -> None:
    values = [np.eye(2, dtype=np.float32), np.array([3.0, 4.0], np.float32)]
    with tf.Session() as session:
        y = tf.keras.layers.Dense(2, weights=values)(tf.ones([1, 2]))
        assert session.run(y).tolist() == [[4.0, 5.0]]


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("Dense", {"units": 3, "activation": "relu", "kernel_regularizer": "l2"}),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "padding": "same"}),
        ("BatchNormalization", {"momentum": 0.9}),
        ("LSTM", {"units": 3, "return_sequences": True, "dropout": 0.5}),
        ("Embedding", {"input_dim": 5, "output_dim": 2, "mask_zero": True}),
        ("PReLU", {"shared_axes": [1]}),
        ("SeparableConv2D", {"filters": 2, "kernel_size": 3}),
        ("Concatenate", {"axis": 1}),
        ("ZeroPadding1D", {"padding": 2}),
    ],
)
def test_a_configuration_makes_the_layer_again(kind: str, arguments: dict[str, Any]) -> None:
    made = getattr(tf.keras.layers, kind)(**arguments)
    config = made.get_config()
    again = type(made).from_config(config)
    assert again.name == made.name and again.get_config() == config


def test_masks_pass_from_layer_to_layer() -> None:
    ids = tf.constant([[1, 2, 0, 0], [3, 0, 0, 0]])
    x = tf.keras.layers.Embedding(5, 2, mask_zero=True)(ids)
    steps = tf.keras.layers.GRU(3, return_sequences=True)(tf.keras.layers.Activation("tanh")(x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(steps)
    # A masked step keeps what the last one gave.
    assert np.array_equal(found[0, 1], found[0, 3]) and np.array_equal(found[1, 0], found[1, 2])
    assert not np.array_equal(found[0, 0], found[0, 1])
    with pytest.raises(TypeError, match="does not support masking"):
        tf.keras.layers.Layer().compute_mask(x, mask=ids)


def test_losses_and_updates_know_their_inputs() -> None:
    layer = tf.keras.layers.BatchNormalization(gamma_regularizer="l2")
    x, y = tf.ones([2, 3]), tf.zeros([2, 3])
    layer(x, training=True)
    assert len(layer.get_updates_for(x)) == 2 and not layer.get_updates_for(y)
    assert len(layer.losses) == 1 and len(layer.get_losses_for(None)) == 1
    layer.trainable = False
    assert layer.updates == [] and layer.trainable_weights == []
    assert len(layer.non_trainable_weights) == 4


def test_what_is_assigned_is_tracked() -> None:
    class Net(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [tf.keras.layers.Dense(2)]
            self.blocks.append(tf.keras.layers.Dense(2, use_bias=False))
            self.scale = tf.Variable(1.0)

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x * self.scale

    net = Net()
    net(tf.ones([1, 2]))
    assert len(net.weights) == 4 and net.weights[0] is net.scale
    del net.blocks
    assert net.weights == [net.scale]


def test_a_deep_copy_of_a_called_layer_is_another() -> None:
    cell = tf.nn.rnn_cell.GRUCell(2)
    cell(tf.ones([1, 3]), tf.zeros([1, 2]))
    other = copy.deepcopy(cell)
    assert other is not cell and other.name == cell.name


def test_an_object_based_checkpoint_finds_layers(tmp_path: Path) -> None:
    dense = tf.keras.layers.Dense(2)
    dense(tf.ones([1, 3]))
    saved = tf.train.Checkpoint(layer=dense)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kernel = session.run(dense.kernel)
        path = saved.save(str(tmp_path / "ckpt"))
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE" in keys
    with tf.Graph().as_default(), tf.Session() as session:
        other = tf.keras.layers.Dense(2)
        other(tf.ones([1, 3]))
        status = tf.train.Checkpoint(layer=other).restore(path)
        status.assert_consumed().run_restore_ops(session)
        assert np.array_equal(session.run(other.kernel), kernel)


def test_layers_tell_of_connected_calls_alone() -> None:
    layer = tf.keras.layers.Dense(2)
    layer(tf.ones([1, 3]))
    with pytest.raises(AttributeError, match="is not connected, no input to return"):
        _ = layer.input
    with pytest.raises(RuntimeError, match="has never been called and thus has no defined output"):
        layer.get_output_at(0)


def test_layers_that_differ_in_reuse_are_refused() -> None:
    x = tf.ones([1, 3])
    tf.layers.dense(x, 2, name="one")
    with pytest.raises(ValueError, match="Variable one/kernel already exists, disallowed"):
        tf.layers.dense(x, 2, name="one")
    with pytest.raises(ValueError, match="Variable two/kernel does not exist"):
        tf.layers.dense(x, 2, name="two", reuse=True)
    with pytest.raises(ValueError, match="but specified shape"):
        tf.layers.dense(x, 5, name="one", reuse=True)
    with pytest.raises(ValueError, match="No name available for layer scope"):
        _ = tf.layers.Dense(2).scope_name


def test_updates_of_the_averages_are_run_by_training() -> None:
    x = tf.constant(np.arange(12.0).reshape(4, 3), tf.float32)
    layer = tf.layers.BatchNormalization(momentum=0.5)
    layer(x, training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        assert session.run(layer.moving_mean).tolist() == [2.25, 2.75, 3.25]
