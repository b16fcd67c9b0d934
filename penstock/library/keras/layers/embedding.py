"""``Embedding``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.library.keras.layers.dense import set_weight_arguments, weight_config
from penstock.library.layer_base import regularizers, settings
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast
from penstock.ops.math import comparison
from penstock.ops.nn import embedding


class Embedding(Layer):
    """A vector for each number.

    Args:
      input_dim: how many numbers there are.
      output_dim: size of a vector.
      embeddings_initializer, embeddings_regularizer, embeddings_constraint: of the vectors.
      activity_regularizer: function of the output whose result is a loss.
      mask_zero: whether steps with the number 0 are masked.
      input_length: number of steps, where it is known.
      **kwargs: as of a layer.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Embedding(10, 4)(tf.constant([[1, 2, 3]])).shape.as_list()
      [1, 3, 4]
    """

    embeddings_initializer: Any
    embeddings_regularizer: Any
    embeddings_constraint: Any

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        dtype = kwargs.pop("dtype", settings.floatx())
        super().__init__(
            dtype=dtype, activity_regularizer=regularizers.get(activity_regularizer), **kwargs
        )
        self.input_dim, self.output_dim = input_dim, output_dim
        set_weight_arguments(self, ("embeddings",), {
            "embeddings_initializer": embeddings_initializer,
            "embeddings_regularizer": embeddings_regularizer,
            "embeddings_constraint": embeddings_constraint,
        })  # fmt: skip
        self.mask_zero = self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        """Makes ``embeddings`` [input_dim, output_dim]."""
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim), name="embeddings",
            initializer=self.embeddings_initializer, regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )  # fmt: skip
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where the number is not 0, if that is to be masked."""
        return comparison.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        """The vectors."""
        kind = dtypes.as_dtype(inputs.dtype).base_dtype
        if kind not in (dtypes.int32, dtypes.int64):
            inputs = cast.cast(inputs, dtypes.int32)
        return embedding.embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for one of the input."""
        return shapes.as_shape(input_shape).concatenate(self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {
            "input_dim": self.input_dim, "output_dim": self.output_dim,
            **weight_config(self, ("embeddings",)),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "mask_zero": self.mask_zero, "input_length": self.input_length,
        }  # fmt: skip
