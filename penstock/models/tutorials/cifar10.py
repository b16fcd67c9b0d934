"""The convolutional network of the CIFAR-10 tutorial: ``tf.models.image.cifar10.cifar10``.

Two convolutions with pooling and local response normalization, two dense layers, and a linear one.
Importing it defines the flags ``batch_size`` and ``data_dir``, which programs built on it read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock as tf
from penstock.models.tutorials import archives, cifar10_input

FLAGS: Any = tf.app.flags.FLAGS
# But those that another program of this process has, which are shared.
if "batch_size" not in FLAGS:
    tf.app.flags.DEFINE_integer("batch_size", 128, "Examples a step.")
if "data_dir" not in FLAGS:
    tf.app.flags.DEFINE_string("data_dir", "/tmp/cifar10_data", "Folder of CIFAR-10's files.")

IMAGE_SIZE = cifar10_input.IMAGE_SIZE
NUM_CLASSES = cifar10_input.NUM_CLASSES
NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN = cifar10_input.NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN
NUM_EXAMPLES_PER_EPOCH_FOR_EVAL = cifar10_input.NUM_EXAMPLES_PER_EPOCH_FOR_EVAL
MOVING_AVERAGE_DECAY = 0.9999
NUM_EPOCHS_PER_DECAY = 350.0
LEARNING_RATE_DECAY_FACTOR = 0.1
INITIAL_LEARNING_RATE = 0.1
TOWER_NAME = "tower"
DATA_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"

_FOLDER = "cifar-10-batches-bin"


def maybe_download_and_extract() -> None:
    """Has CIFAR-10's files be in ``FLAGS.data_dir``: unpacked, from the archive, or downloaded.

    Raises:
      FileNotFoundError: if they are not there and cannot be downloaded; says what to put where.
    """
    folder = Path(FLAGS.data_dir)
    if not (folder / _FOLDER).is_dir():
        archives.unpack(DATA_URL, folder, _FOLDER)


def distorted_inputs() -> tuple[tf.Tensor, tf.Tensor]:
    """``cifar10_input.distorted_inputs`` of the flags' folder and batch size."""
    folder = str(Path(FLAGS.data_dir) / _FOLDER)
    return cifar10_input.distorted_inputs(folder, FLAGS.batch_size)


def inputs(eval_data: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """``cifar10_input.inputs`` of the flags' folder and batch size."""
    return cifar10_input.inputs(eval_data, str(Path(FLAGS.data_dir) / _FOLDER), FLAGS.batch_size)


# ---- the network ---------------------------------------------------------------------------------


def _on_cpu(name: str, shape: list[int], initializer: Any) -> tf.Variable:
    with tf.device("/cpu:0"):
        made: tf.Variable = tf.get_variable(name, shape, tf.float32, initializer)
        return made


def _weights(shape: list[int], stddev: float, decay: float | None) -> tf.Variable:
    """Weights, whose squares count as a loss where they are to decay."""
    drawn = tf.truncated_normal_initializer(stddev=stddev, dtype=tf.float32)
    made = _on_cpu("weights", shape, drawn)
    if decay is not None:
        tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(made), decay, name="weight_loss"))
    return made


def _biases(size: int, value: float) -> tf.Variable:
    return _on_cpu("biases", [size], tf.constant_initializer(value))


def _summarize(x: tf.Tensor) -> None:
    tf.summary.histogram(f"{x.op.name}/activations", x)
    tf.summary.scalar(f"{x.op.name}/sparsity", tf.nn.zero_fraction(x))


def _convolution(name: str, x: tf.Tensor, channels: int, bias: float) -> tf.Tensor:
    with tf.variable_scope(name) as scope:
        filters = _weights([5, 5, channels, 64], 5e-2, None)
        made = tf.nn.conv2d(x, filters, [1, 1, 1, 1], padding="SAME")
        made = tf.nn.relu(tf.nn.bias_add(made, _biases(64, bias)), name=scope.name)
        _summarize(made)
        return made


def _pool(x: tf.Tensor, name: str) -> tf.Tensor:
    return tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], padding="SAME", name=name)


def _normalize(x: tf.Tensor, name: str) -> tf.Tensor:
    return tf.nn.lrn(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name=name)


def _dense(name: str, x: tf.Tensor, size: int) -> tf.Tensor:
    with tf.variable_scope(name) as scope:
        weights = _weights([int(x.shape[1]), size], 0.04, 0.004)
        made = tf.nn.relu(tf.matmul(x, weights) + _biases(size, 0.1), name=scope.name)
        _summarize(made)
        return made


def inference(images: tf.Tensor) -> tf.Tensor:
    """Logits of shape [batch, NUM_CLASSES].

    Args:
      images: float32 of [batch, IMAGE_SIZE, IMAGE_SIZE, 3]; the batch must be known.
    """
    x = _normalize(_pool(_convolution("conv1", images, 3, 0.0), "pool1"), "norm1")
    x = _pool(_normalize(_convolution("conv2", x, 64, 0.1), "norm2"), "pool2")
    x = tf.reshape(x, [int(images.shape[0]), -1])
    x = _dense("local4", _dense("local3", x, 384), 192)
    with tf.variable_scope("softmax_linear") as scope:
        weights = _weights([192, NUM_CLASSES], 1 / 192.0, None)
        products = tf.matmul(x, weights)
        logits: tf.Tensor = tf.add(products, _biases(NUM_CLASSES, 0.0), name=scope.name)
        _summarize(logits)
        return logits


def loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The mean cross entropy and what weights that decay add to it; all are in ``losses``.

    Args:
      logits: what ``inference`` returns.
      labels: integers of [batch].
    """
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.int64), logits=logits, name="cross_entropy_per_example"
    )
    tf.add_to_collection("losses", tf.reduce_mean(each, name="cross_entropy"))
    total: tf.Tensor = tf.add_n(tf.get_collection("losses"), name="total_loss")
    return total


def _average_losses(total: tf.Tensor) -> tf.Operation:
    averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
    losses = [*tf.get_collection("losses"), total]
    applied: tf.Operation = averages.apply(losses)
    for each in losses:
        tf.summary.scalar(f"{each.op.name} (raw)", each)
        tf.summary.scalar(each.op.name, averages.average(each))
    return applied


def train(total_loss: tf.Tensor, global_step: tf.Variable) -> tf.Operation:
    """A step of gradient descent at a rate that decays, and of the averages of all weights.

    Args:
      total_loss: what ``loss`` returns.
      global_step: an integer variable that counts the steps.
    """
    batches = NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN / FLAGS.batch_size
    rate = tf.train.exponential_decay(
        INITIAL_LEARNING_RATE, global_step, int(batches * NUM_EPOCHS_PER_DECAY),
        LEARNING_RATE_DECAY_FACTOR, staircase=True,
    )  # fmt: skip
    tf.summary.scalar("learning_rate", rate)
    with tf.control_dependencies([_average_losses(total_loss)]):
        optimizer = tf.train.GradientDescentOptimizer(rate)
        found = optimizer.compute_gradients(total_loss)
    stepped = optimizer.apply_gradients(found, global_step=global_step)
    for gradient, variable in found:
        tf.summary.histogram(variable.op.name, variable)
        if gradient is not None:
            tf.summary.histogram(f"{variable.op.name}/gradients", gradient)
    averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
    averaged = averages.apply(tf.trainable_variables())
    with tf.control_dependencies([stepped, averaged]):
        return tf.no_op(name="train")
