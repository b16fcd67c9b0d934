"""``CuDNNLSTM`` and ``CuDNNGRU``, which TensorFlow runs with GPUs alone, beside plain layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.library.eager import mode, operators
from tests.training.keras_models.seldom_layers import fed, patterned

LAYERS = tf.keras.layers


@pytest.fixture(params=["graph", "eager"])
def _anywhere(request: Any) -> Any:
    if request.param == "graph":
        with tf.Graph().as_default():
            yield
        return
    operators.install()
    with default_graph_scope(mode.Program()):
        yield


def _model(layer: Any) -> Any:
    given = tf.keras.Input([4, 3], batch_size=2)
    return tf.keras.Model(given, layer(given))


def _plain(kind: str, weights: list[Any], **more: Any) -> Any:
    """The layer of ordinary operations with the weights of one of cuDNN's."""
    kernel, recurrent, bias = weights
    if kind == "lstm":
        layer = LAYERS.LSTM(2, recurrent_activation="sigmoid", **more)
        bias = bias[:8] + bias[8:]
    else:
        layer = LAYERS.GRU(2, recurrent_activation="sigmoid", reset_after=True, **more)
        bias = bias.reshape(2, 6)
    model = _model(layer)
    model.set_weights([kernel, recurrent, bias])
    return model


KINDS = {"lstm": LAYERS.CuDNNLSTM, "gru": LAYERS.CuDNNGRU}
OPTIONS: list[dict[str, bool]] = [
    {}, {"return_sequences": True}, {"go_backwards": True, "return_sequences": True},
    {"return_state": True}, {"stateful": True},
]  # fmt: skip


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("more", OPTIONS, ids=lambda one: "_".join(one) or "plain")
@pytest.mark.parametrize("kind", KINDS)
def test_cudnns_layers_compute_what_the_plain_ones_do(kind: str, more: dict[str, Any]) -> None:
    x = fed([2, 4, 3])
    model = _model(KINDS[kind](2, **more))
    model.set_weights(patterned(model.get_weights()))
    plain = _plain(kind, model.get_weights(), **more)
    for _ in range(2):  # again, for the states that go on
        for found, wanted in zip(
            np.atleast_1d(model.predict(x)), np.atleast_1d(plain.predict(x)), strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("_anywhere")
@pytest.mark.parametrize("kind", KINDS)
def test_cudnns_layers_train_as_the_plain_ones_do(kind: str) -> None:
    x, y = fed([2, 4, 3]), fed([2, 2], 2)
    model = _model(KINDS[kind](2))
    model.set_weights(patterned(model.get_weights()))
    plain = _plain(kind, model.get_weights())
    for one in (model, plain):
        one.compile(tf.keras.optimizers.SGD(0.1), "mse")
    losses = [[one.train_on_batch(x, y) for _ in range(4)] for one in (model, plain)]
    # An LSTM has half as many biases, each of which moves half as far.
    count = 1 if kind == "lstm" else 4
    np.testing.assert_allclose(losses[0][:count], losses[1][:count], rtol=1e-5)
    assert losses[0][-1] < losses[0][0]


@pytest.mark.usefixtures("_anywhere")
def test_cudnns_layers_take_states_and_time_first() -> None:
    x, state = fed([4, 2, 3]), fed([2, 2], 3)
    layer = LAYERS.CuDNNGRU(2, time_major=True, return_sequences=True)
    made = layer(tf.constant(x), initial_state=[tf.constant(state)])
    layer.set_weights(patterned(layer.get_weights()))
    plain = LAYERS.CuDNNGRU(2, return_sequences=True)
    other = plain([tf.constant(x.swapaxes(0, 1)), tf.constant(state)])
    plain.set_weights(layer.get_weights())
    if made.has_value:
        made = layer(tf.constant(x), initial_state=[tf.constant(state)])
        other = plain([tf.constant(x.swapaxes(0, 1)), tf.constant(state)])
    value = tf.keras.backend.get_value
    np.testing.assert_allclose(value(made), value(other).swapaxes(0, 1), rtol=1e-5)
    with pytest.raises(ValueError, match="Layer has 1 states but was passed 2 initial states"):
        plain(tf.constant(x), initial_state=[tf.constant(state)] * 2)
