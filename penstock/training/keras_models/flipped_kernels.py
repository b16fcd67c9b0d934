"""Kernels of convolutions for libraries that flip them, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.library.keras.layers.convolution import Conv1D, Conv2D, Conv3D
from penstock.library.keras.layers.transposed import Conv2DTranspose
from penstock.library.layer_base import sessions

_CONVOLUTIONS = (Conv1D, Conv2D, Conv3D, Conv2DTranspose)


def convert_all_kernels_in_model(model: Any) -> None:
    """Turns the kernels of a model's convolutions around along their spatial dims.

    So weights of Theano become those of TensorFlow, and the other way round.

    Args:
      model: its layers ``Conv1D``, ``Conv2D``, ``Conv3D`` and ``Conv2DTranspose`` are changed.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     layer = tf.keras.layers.Conv1D(1, 3, use_bias=False, input_shape=[5, 1])
      ...     model = tf.keras.Sequential([layer])
      ...     model.set_weights([np.array([[[1.0]], [[2.0]], [[3.0]]])])
      ...     tf.keras.utils.convert_all_kernels_in_model(model)
      ...     model.get_weights()[0].ravel().tolist()
      [3.0, 2.0, 1.0]
    """
    kernels = [one.kernel for one in model.layers if type(one) in _CONVOLUTIONS]
    values = sessions.values_of(kernels)
    flipped = [np.flip(np.asarray(one), tuple(range(np.ndim(one) - 2))) for one in values]
    sessions.set_values(list(zip(kernels, flipped, strict=True)))
