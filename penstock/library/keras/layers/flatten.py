"""``Flatten``."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dimension, shapes
from penstock.library.keras.layers import windows
from penstock.library.layer_base.input_spec import InputSpec
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import nodes, reshape, transpose


class Flatten(Layer):
    """All dims but the first in one.

    Args:
      data_format: "channels_last", or "channels_first", whose channels become the innermost.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Flatten()(tf.placeholder(tf.float32, [None, 2, 3])).shape
      TensorShape([Dimension(None), Dimension(6)])
    """

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The flat tensor."""
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = transpose.transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = dimension.dimension_value(inputs.shape[0])
        outputs = reshape.reshape(inputs, (batch or nodes.element(nodes.shape(inputs), 0), -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        batch, *dims = shapes.as_shape(input_shape).as_list()
        return shapes.TensorShape([batch, math.prod(dims) if all(dims) else None])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"data_format": self.data_format}
