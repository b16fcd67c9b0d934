"""The networks that leave: built, with random or learned weights, as (session, inputs, outputs).

Each function takes the package (``penstock``) and gives a ``Network``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import penstock as tf
from penstock.models import language_model, sentence_cnn, word2vec


@dataclass(frozen=True)
class Network:
    """A graph in a session: what goes in, what comes out, and an example of what goes in."""

    session: Any
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    feeds: dict[str, np.ndarray]

    def run(self) -> list[np.ndarray]:
        """The outputs for the example."""
        feeds = {self.inputs[name]: value for name, value in self.feeds.items()}
        return [np.asarray(v) for v in self.session.run(list(self.outputs.values()), feeds)]


def _session(graph: Any, feeds: Any = None) -> Any:
    with graph.as_default():
        tf.set_random_seed(7)
        session = tf.Session(config=tf.ConfigProto(allow_soft_placement=True), graph=graph)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()], feeds or {})
    return session


def _random() -> np.random.RandomState:
    return np.random.RandomState(3)


def digits_cnn() -> Network:
    """The network of ``examples/digits.py``."""
    from digits import build_model

    with tf.Graph().as_default() as graph:
        model = build_model(8, 8, 0.001, 1)
        scores = tf.nn.softmax(model.activations["logits"])
    feeds = {"images": _random().rand(5, 8, 8, 1).astype(np.float32)}
    outputs = {"scores": scores, "classes": model.predictions}
    return Network(_session(graph), {"images": model.images}, outputs, feeds)


def skip_gram() -> Network:
    """word2vec: the words that are nearest to given ones."""
    with tf.Graph().as_default() as graph:
        network = word2vec.Network(word2vec.Settings(width=16), 200)
        unit = tf.nn.l2_normalize(network.embeddings, 1)
        asked = tf.nn.embedding_lookup(unit, network.inputs)
        values, places = tf.nn.top_k(tf.matmul(asked, unit, transpose_b=True), 8)
    feeds = {"words": np.array([3, 0, 199, 42], np.int32)}
    outputs = {"cosines": values, "nearest": places}
    return Network(_session(graph), {"words": network.inputs}, outputs, feeds)


def sentences() -> Network:
    """The convolutional network over sentences."""
    table = _random().randn(50, 16).astype(np.float32)
    with tf.Graph().as_default() as graph:
        settings = sentence_cnn.Settings(width=16, filters=10)
        network = sentence_cnn.Network(settings, table)
    feeds = {"words": _random().randint(0, 50, (6, 12)).astype(np.int32)}
    session = _session(graph, {network.table: table})
    return Network(session, {"words": network.words}, {"scores": network.probabilities}, feeds)


def lstm_language_model() -> Network:
    """The language model with its loop, of any number of steps."""
    with tf.Graph().as_default() as graph:
        settings = language_model.Settings(units=12)
        model = language_model.build_model(settings, 60, 3, training=False)
    feeds = {
        "words": _random().randint(0, 60, (3, 9)).astype(np.int32),
        "targets": _random().randint(0, 60, (3, 9)).astype(np.int32),
        "weights": np.ones((3, 9), np.float32),
    }
    inputs = {"words": model.inputs, "targets": model.targets, "weights": model.weights}
    outputs = {"loss": model.loss, "cell": model.final_state[1].c, "state": model.final_state[1].h}
    return Network(_session(graph), inputs, outputs, feeds)


def inception_v3(size: int = 299) -> Network:
    """Inception v3 with random weights."""
    from penstock.contrib.slim.nets import inception

    slim = tf.contrib.slim
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, size, size, 3])
        with slim.arg_scope(inception.inception_v3_arg_scope()):
            _, points = inception.inception_v3(images, 100, is_training=False)
    feeds = {"images": _random().rand(1, size, size, 3).astype(np.float32)}
    outputs = {"scores": points["Predictions"]}
    return Network(_session(graph), {"images": images}, outputs, feeds)


# Depth and stride of each layer of MobileNet v1.
_MOBILENET = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5,
              (1024, 2), (1024, 1)]  # fmt: skip


def mobilenet(size: int = 224, width: float = 1.0) -> Network:
    """MobileNet v1 with random weights."""
    slim = tf.contrib.slim
    norm = {"center": True, "scale": True, "epsilon": 0.001, "is_training": False}
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, size, size, 3])
        with slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            activation_fn=tf.nn.relu6, normalizer_fn=slim.batch_norm, normalizer_params=norm,
            weights_initializer=tf.variance_scaling_initializer(2.0),
        ):  # fmt: skip
            found = slim.conv2d(images, int(32 * width), [3, 3], stride=2)
            for depth, stride in _MOBILENET:
                found = slim.separable_conv2d(found, None, [3, 3], 1, stride=stride)
                found = slim.conv2d(found, int(depth * width), [1, 1])
        found = tf.reduce_mean(found, [1, 2])
        scores = tf.nn.softmax(slim.fully_connected(found, 100, activation_fn=None))
    feeds = {"images": _random().rand(1, size, size, 3).astype(np.float32)}
    return Network(_session(graph), {"images": images}, {"scores": scores}, feeds)


def wide_and_deep() -> Network:
    """Wide and deep over numbers and categories, crossed and embedded, by feature columns."""
    column = tf.feature_column
    age = column.numeric_column("age")
    work = column.categorical_column_with_identity("work", 9)
    town = column.categorical_column_with_identity("town", 30)
    ages = column.bucketized_column(age, [18, 25, 35, 50])
    wide = [work, town, ages]
    deep = [age, column.embedding_column(town, 4), column.indicator_column(work)]
    with tf.Graph().as_default() as graph:
        features = {
            "age": tf.placeholder(tf.float32, [None, 1]),
            "work": tf.placeholder(tf.int64, [None, 1]),
            "town": tf.placeholder(tf.int64, [None, 2]),
        }
        linear = column.linear_model(features, wide)
        hidden = column.input_layer(features, deep)
        for units in (16, 8):
            hidden = tf.layers.dense(hidden, units, tf.nn.relu)
        logits = linear + tf.layers.dense(hidden, 1)
        outputs = {"probability": tf.sigmoid(logits)}
        noise = [v.assign_add(tf.random_normal(tf.shape(v))) for v in tf.trainable_variables()]
    session = _session(graph)
    session.run(noise)
    feeds = {
        "age": _random().uniform(10, 70, (5, 1)).astype(np.float32),
        "work": _random().randint(0, 9, (5, 1)).astype(np.int64),
        "town": np.array([[3, -1], [-1, -1], [29, 4], [0, 0], [7, 2]], np.int64),
    }
    return Network(session, features, outputs, feeds)


SMALL: dict[str, Callable[[], Network]] = {
    "digits_cnn": digits_cnn,
    "word2vec": skip_gram,
    "sentence_cnn": sentences,
    "lstm_language_model": lstm_language_model,
    "mobilenet": lambda: mobilenet(32, 0.25),
    "wide_and_deep": wide_and_deep,
}
LARGE: dict[str, Callable[[], Network]] = {"inception_v3": inception_v3, "mobilenet": mobilenet}
