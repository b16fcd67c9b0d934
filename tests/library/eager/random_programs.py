"""Random programs of a few ops, for Penstock and TensorFlow 1.15 alike (hence no newer Python).

As a script it runs under TensorFlow, eagerly, and writes values and gradients as JSON.
"""

import json
import sys

import numpy as np

COUNT = 200
STEPS = {
    "add": lambda tf, a, b: a + b,
    "sub": lambda tf, a, b: a - 0.5 * b,
    "mul": lambda tf, a, b: a * b,
    "div": lambda tf, a, b: a / (2.0 + b * b),
    "matmul": lambda tf, a, b: tf.matmul(a, b, transpose_b=True),
    "tanh": lambda tf, a, b: tf.tanh(a),
    "sigmoid": lambda tf, a, b: tf.sigmoid(a) * b,
    "softmax": lambda tf, a, b: tf.nn.softmax(a),
    "relu": lambda tf, a, b: tf.nn.relu(a) + 0.1 * b,
    "mean": lambda tf, a, b: a - tf.reduce_mean(b, 0),
    "max": lambda tf, a, b: a * tf.reduce_max(b, 1, keepdims=True),
    "gather": lambda tf, a, b: tf.gather(a, [2, 0, 0]) + b,
    "slices": lambda tf, a, b: tf.concat([a[:, 1:], b[:, :1]], 1),
    "stack": lambda tf, a, b: tf.stack(tf.unstack(a, axis=1)) * b,
    "transpose": lambda tf, a, b: tf.transpose(a) - b,
    "where": lambda tf, a, b: tf.where(a > 0.0, a, b),
    "pad": lambda tf, a, b: tf.pad(a, [[1, 0], [0, 1]])[:3, :3] + b,
    "exp": lambda tf, a, b: tf.exp(-a * a) + b,
    "clip": lambda tf, a, b: tf.minimum(tf.maximum(a, -1.5), b + 2.0),
    "softplus": lambda tf, a, b: tf.nn.softplus(a),
}


def program(tf, seed, x, w):
    """A loss of two 3x3 tensors, of eight random steps."""
    draw = np.random.RandomState(seed)
    names = sorted(STEPS)
    known = [x, w]
    for _ in range(8):
        a, b = (known[draw.randint(len(known))] for _ in range(2))
        known.append(tf.tanh(STEPS[names[draw.randint(len(names))]](tf, a, b)) * 2.0)
    return tf.reduce_sum(known[-1] * known[-2]) + tf.reduce_mean(x * w)


def arguments(seed):
    """The two arrays."""
    draw = np.random.RandomState(1000 + seed)
    return [draw.randn(3, 3).astype(np.float32) for _ in range(2)]


def run_eagerly(tf, seed):
    """The loss, and its gradients by a tensor and a variable."""
    first, second = arguments(seed)
    x, w = tf.constant(first), tf.Variable(second)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = program(tf, seed, x, w)
    return [np.asarray(v.numpy()).tolist() for v in [loss] + tape.gradient(loss, [x, w])]


if __name__ == "__main__":
    import tensorflow

    tensorflow.enable_eager_execution()
    json.dump([run_eagerly(tensorflow, seed) for seed in range(COUNT)], sys.stdout)
