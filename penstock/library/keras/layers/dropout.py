"""``Dropout``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.cond import smart_cond
from penstock.library.layer_base import phase
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import nodes
from penstock.ops.control import control
from penstock.ops.nn import dropout


class Dropout(Layer):
    """Sets random elements to zero while training, and scales the others.

    Args:
      rate: which part of the elements is dropped.
      noise_shape: shape of the draw, None where a dim is the input's: dims of size 1 drop or keep
        whole slices.
      seed: seed of the draw.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     y = tf.keras.layers.Dropout(0.5)(tf.ones([2]), training=False)
      ...     sess.run(y).tolist()
      [1.0, 1.0]
    """

    def __init__(self, rate: Any, noise_shape: Any = None, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        dims = nodes.shape(inputs)
        return convert_to_tensor([
            nodes.element(dims, i) if size is None else size
            for i, size in enumerate(self.noise_shape)
        ])  # fmt: skip

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The input, some of it dropped where ``training``; default the learning phase."""
        if training is None:
            training = phase.learning_phase()

        def dropped() -> Any:
            return dropout.dropout(
                inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate
            )

        return smart_cond(training, dropped, lambda: control.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        own = {"rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}
        return super().get_config() | own
