"""The network of TensorFlow's MNIST tutorial, ``tf.examples.tutorials.mnist.mnist``.

Two hidden layers with relu and a linear one; its functions build the four parts of a program.
"""

from __future__ import annotations

import math

import penstock as tf

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _linear(scope: str, x: tf.Tensor, inputs: int, outputs: int, relu: bool) -> tf.Tensor:
    with tf.name_scope(scope):
        drawn = tf.truncated_normal([inputs, outputs], stddev=1.0 / math.sqrt(inputs))
        weights = tf.Variable(drawn, name="weights")
        biases = tf.Variable(tf.zeros([outputs]), name="biases")
        made = tf.matmul(x, weights) + biases
        return tf.nn.relu(made) if relu else made


def inference(images: tf.Tensor, hidden1_units: int, hidden2_units: int) -> tf.Tensor:
    """Logits of shape [batch, NUM_CLASSES].

    Args:
      images: float32 of shape [batch, IMAGE_PIXELS].
      hidden1_units, hidden2_units: sizes of the hidden layers.
    """
    hidden1 = _linear("hidden1", images, IMAGE_PIXELS, hidden1_units, relu=True)
    hidden2 = _linear("hidden2", hidden1, hidden1_units, hidden2_units, relu=True)
    return _linear("softmax_linear", hidden2, hidden2_units, NUM_CLASSES, relu=False)


def loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The mean cross entropy.

    Args:
      logits: what ``inference`` returns.
      labels: integers of shape [batch].
    """
    return tf.losses.sparse_softmax_cross_entropy(labels=tf.cast(labels, tf.int64), logits=logits)


def training(loss: tf.Tensor, learning_rate: float) -> tf.Operation:
    """A step of gradient descent, which counts itself; the loss becomes a summary.

    Args:
      loss: what is made small.
      learning_rate: of the step.
    """
    tf.summary.scalar("loss", loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    step: tf.Operation = optimizer.minimize(loss, global_step=global_step)
    return step


def evaluation(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """How many are right, an int32 scalar.

    Args:
      logits: what ``inference`` returns.
      labels: integers of shape [batch].
    """
    correct = tf.nn.in_top_k(logits, labels, 1)
    count: tf.Tensor = tf.reduce_sum(tf.cast(correct, tf.int32))
    return count
