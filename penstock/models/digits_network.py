"""Networks that tell digits: a softmax over pixels, hidden layers, convolutions."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import penstock as tf
from penstock.models import mnist_network
from penstock.models.digits_data import CLASSES


class Network(StrEnum):
    """Which network tells digits."""

    SOFTMAX = "softmax"
    LAYERS = "layers"
    CNN = "cnn"


def logits(network: Network, images: Any, training: Any) -> Any:
    """The logits of images, [batch, CLASSES].

    Args:
      network: which.
      images: [batch, height, width, 1]; `Network.LAYERS` wants 28 by 28 pixels.
      training: whether dropout leaves values out, a scalar.
    """
    pixels = images.shape[1].value * images.shape[2].value
    flat = tf.reshape(images, [-1, pixels])
    if network is Network.SOFTMAX:
        weights = tf.get_variable("weights", [pixels, CLASSES], initializer=tf.zeros_initializer())
        biases = tf.get_variable("biases", [CLASSES], initializer=tf.zeros_initializer())
        return tf.matmul(flat, weights) + biases
    if network is Network.LAYERS:
        return mnist_network.inference(flat, 128, 32)
    return _convolutional(images, training)


def _convolutional(images: Any, training: Any) -> Any:
    """Two blocks of convolution, relu and pooling, a hidden layer, dropout before and after it."""
    x = images
    for number, filters in enumerate((32, 64), 1):
        x = tf.layers.conv2d(x, filters, 5, padding="same", activation=tf.nn.relu,
                             name=f"conv{number}")  # fmt: skip
        x = tf.layers.max_pooling2d(x, 2, 2, name=f"pool{number}")
    x = tf.layers.dropout(tf.layers.flatten(x), 0.25, training=training)
    x = tf.layers.dense(x, 256, activation=tf.nn.relu, name="hidden")
    x = tf.layers.dropout(x, 0.5, training=training)
    return tf.layers.dense(x, CLASSES, name="logits")
