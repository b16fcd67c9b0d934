"""Ridge regression: the mean squared error of a linear function, and a penalty on its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf

Array = npt.NDArray[np.float32]


def made_up(count: int, features: int, seed: int) -> tuple[Array, Array]:
    """Examples of a linear function with noise: inputs [count, features], targets [count]."""
    random = np.random.RandomState(seed)
    inputs = random.normal(size=(count, features)).astype(np.float32)
    weights = random.uniform(-2, 2, features)
    noise = random.normal(scale=0.5, size=count)
    return inputs, (inputs @ weights + noise).astype(np.float32)


def loss_of(weights: Any, x: Any, y: Any, penalty: float) -> Any:
    """What the weights are to make small: mean((x w - y)^2) + penalty |w|^2."""
    error = tf.reduce_sum(x * weights, 1) - y
    return tf.reduce_mean(tf.square(error)) + penalty * tf.reduce_sum(tf.square(weights))


def closed_form(x: Any, y: Any, penalty: float) -> Any:
    """The weights of the least loss: (x'x / n + penalty I)^-1 x'y / n."""
    count = tf.cast(tf.shape(x)[0], tf.float32)
    gram = tf.matmul(x, x, transpose_a=True) / count
    right = tf.matmul(x, y[:, None], transpose_a=True) / count
    return tf.matrix_solve(gram + penalty * tf.eye(tf.shape(x)[1]), right)[:, 0]
