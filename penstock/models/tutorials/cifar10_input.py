"""Images of CIFAR-10 from its binary files: ``tf.models.image.cifar10.cifar10_input``.

A record is one byte of label and 3072 of an image, first all red, then all green, then all blue.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import penstock as tf

IMAGE_SIZE = 24
NUM_CLASSES = 10
NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN = 50000
NUM_EXAMPLES_PER_EPOCH_FOR_EVAL = 10000

_HEIGHT = _WIDTH = 32
_DEPTH = 3
_THREADS = 16
_SHARE_KEPT = 0.4  # of an epoch: how many examples the queue keeps, so that batches are mixed


class CIFAR10Record(NamedTuple):
    """One example: its record, its label (int32 of [1]) and its image (uint8 of [32, 32, 3])."""

    height: int
    width: int
    depth: int
    key: tf.Tensor
    label: tf.Tensor
    uint8image: tf.Tensor


def read_cifar10(filename_queue: tf.QueueBase) -> CIFAR10Record:
    """The next record of the files whose names a queue has.

    Args:
      filename_queue: a queue of strings.
    """
    size = _HEIGHT * _WIDTH * _DEPTH
    reader = tf.FixedLengthRecordReader(record_bytes=1 + size)
    key, value = reader.read(filename_queue)
    record = tf.decode_raw(value, tf.uint8)
    label = tf.cast(tf.strided_slice(record, [0], [1]), tf.int32)
    planes = tf.reshape(tf.strided_slice(record, [1], [1 + size]), [_DEPTH, _HEIGHT, _WIDTH])
    image = tf.transpose(planes, [1, 2, 0])
    return CIFAR10Record(_HEIGHT, _WIDTH, _DEPTH, key, label, image)


def _files(data_dir: str, names: list[str]) -> list[str]:
    paths = [Path(data_dir) / name for name in names]
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise ValueError(f"Failed to find file: {missing[0]}; it is of CIFAR-10's binary version")
    return [str(path) for path in paths]


def _batches(
    image: tf.Tensor, label: tf.Tensor, examples: int, batch_size: int, shuffle: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    least = int(examples * _SHARE_KEPT)
    wanted, capacity = [image, label], least + 3 * batch_size
    if shuffle:
        images, labels = tf.train.shuffle_batch(
            wanted, batch_size, capacity, least, num_threads=_THREADS
        )
    else:
        images, labels = tf.train.batch(wanted, batch_size, _THREADS, capacity)
    tf.summary.image("images", images)
    return images, tf.reshape(labels, [batch_size])


def distorted_inputs(data_dir: str, batch_size: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Batches to train on: random crops, flips, brightness and contrast.

    Args:
      data_dir: folder of ``data_batch_1.bin`` to ``data_batch_5.bin``.
      batch_size: examples a step.

    Returns:
      float32 images of [batch_size, IMAGE_SIZE, IMAGE_SIZE, 3], each of mean 0 and variance 1, and
      int32 labels of [batch_size].

    Raises:
      ValueError: if a file is not there.
    """
    names = _files(data_dir, [f"data_batch_{number}.bin" for number in range(1, 6)])
    record = read_cifar10(tf.train.string_input_producer(names))
    image = tf.random_crop(tf.cast(record.uint8image, tf.float32), [IMAGE_SIZE, IMAGE_SIZE, _DEPTH])
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, max_delta=63)
    image = tf.image.random_contrast(image, lower=0.2, upper=1.8)
    image = tf.image.per_image_standardization(image)
    label = tf.reshape(record.label, [1])
    return _batches(image, label, NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN, batch_size, shuffle=True)


def inputs(eval_data: bool, data_dir: str, batch_size: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Batches as they are, the middle of each image.

    Args:
      eval_data: whether of ``test_batch.bin``, or of the files to train on.
      data_dir: folder of the files.
      batch_size: examples a step.

    Returns:
      as ``distorted_inputs``.

    Raises:
      ValueError: if a file is not there.
    """
    training = [f"data_batch_{number}.bin" for number in range(1, 6)]
    names = _files(data_dir, ["test_batch.bin"] if eval_data else training)
    record = read_cifar10(tf.train.string_input_producer(names))
    image = tf.cast(record.uint8image, tf.float32)
    image = tf.image.resize_image_with_crop_or_pad(image, IMAGE_SIZE, IMAGE_SIZE)
    image = tf.image.per_image_standardization(image)
    image.set_shape([IMAGE_SIZE, IMAGE_SIZE, _DEPTH])
    label = tf.reshape(record.label, [1])
    count = NUM_EXAMPLES_PER_EPOCH_FOR_EVAL if eval_data else NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN
    return _batches(image, label, count, batch_size, shuffle=False)
