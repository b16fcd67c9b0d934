"""Arrays as models take them: classes as rows of zeros and a one."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> Any:
    """Numbers of classes as rows of zeros and a one.

    Args:
      y: numbers, [...] or [..., 1].
      num_classes: default the largest number and one.
      dtype: of the result.

    Returns:
      [..., num_classes].

    Example:
      >>> import penstock as tf
      >>> tf.keras.utils.to_categorical([0, 2]).tolist()
      [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    numbers = np.array(y, dtype="int")
    shape = numbers.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    numbers = numbers.ravel()
    made = np.zeros((len(numbers), num_classes or int(numbers.max()) + 1), dtype)
    made[np.arange(len(numbers)), numbers] = 1
    return made.reshape((*shape, made.shape[1]))


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array whose vectors along ``axis`` have length 1; zeros stay zeros.

    Args:
      x: an array.
      axis: along which vectors lie.
      order: of the norm.
    """
    length = np.atleast_1d(np.linalg.norm(x, order, axis))
    length[length == 0] = 1
    return x / np.expand_dims(length, axis)
