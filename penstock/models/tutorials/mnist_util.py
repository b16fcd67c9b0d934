"""MNIST as Keras's models take it: ``tf.examples.saved_model.integration_tests.mnist_util``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import penstock as tf

NUM_CLASSES = 10
INPUT_SHAPE = (28, 28, 1)

Part = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def load_reshaped_data(
    use_fashion_mnist: bool = False, fake_tiny_data: bool = False
) -> tuple[Part, Part]:
    """Images and classes to train on, and to test on.

    Args:
      use_fashion_mnist: whether clothes, of the folder ``fashion-mnist``; else digits, of
        ``mnist``.
      fake_tiny_data: whether ten made-up examples will do; no files are read.

    Returns:
      two pairs of images, float32 of [count, 28, 28, 1] from 0 to 1, and of classes, float32 rows
      of [count, 10] with a one.

    Raises:
      FileNotFoundError: if files are missing and cannot be downloaded; says which.
    """
    if fake_tiny_data:
        return _made_up(10), _made_up(10)
    found = tf.contrib.learn.datasets.mnist.read_data_sets(
        "fashion-mnist" if use_fashion_mnist else "mnist", one_hot=True, reshape=False,
        validation_size=0,
    )  # fmt: skip
    return _part(found.train), _part(found.test)


def _part(data: Any) -> Part:
    return data.images.astype(np.float32), data.labels.astype(np.float32)


def _made_up(count: int) -> Part:
    random = np.random.RandomState(0)
    classes = np.eye(NUM_CLASSES, dtype=np.float32)[random.randint(NUM_CLASSES, size=count)]
    return random.random_sample((count, *INPUT_SHAPE)).astype(np.float32), classes
