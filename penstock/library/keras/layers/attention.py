"""Attention over sequences: values weighed by how queries and keys agree."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast, nodes, reshape
from penstock.ops.linalg import matmul, matrix_diag
from penstock.ops.math import comparison, elementwise, reduction

_LARGE = 1e9  # subtracted from scores that do not count


class _Attention(Layer):
    """What attentions share; a subclass scores keys by queries.

    Args:
      causal: whether a step looks at no later one.
      **kwargs: as of a layer.
    """

    def __init__(self, causal: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.causal, self.supports_masking = causal, True

    def _scores(self, query: Any, key: Any) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """What each query finds: [batch, queries, dim].

        Args:
          inputs: [query, value] or [query, value, key]; [batch, steps, dim] each.
          mask: of the query and of the value, [batch, steps] or None each.
        """
        self._check(inputs, mask)
        query, value, *rest = inputs
        scores = self._scores(query, rest[0] if rest else value)
        of_query, of_value = mask or (None, None)
        counts = None if of_value is None else reshape.expand_dims(of_value, -2)
        if self.causal:
            ones = cast.cast(nodes.ones_like(scores), "int32")
            before = cast.cast(matrix_diag.matrix_band_part(ones, -1, 0), "bool")
            counts = before if counts is None else comparison.logical_and(counts, before)
        if counts is not None:
            scores -= _LARGE * cast.cast(elementwise.logical_not(counts), scores.dtype)
        found = matmul.matmul(nn.softmax(scores), value)
        if of_query is None:
            return found
        return found * cast.cast(reshape.expand_dims(of_query, -1), found.dtype)

    def _check(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or [query,"
                f" value, key]; found {inputs!r}"
            )
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or"
                f" [query, value, key]. Given length: {len(inputs)}"
            )
        if mask and not isinstance(mask, list):
            raise ValueError(
                f"{name} layer mask must be a list, namely [query_mask, value_mask]; found {mask!r}"
            )
        if mask and len(mask) != 2:
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]."
                f" Given length: {len(mask)}"
            )

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The query's."""
        self._check(inputs, mask)
        return None if not mask or mask[0] is None else convert_to_tensor(mask[0])

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"causal": self.causal}


class Attention(_Attention):
    """Attention by products of queries and keys.

    Args:
      use_scale: whether scores are multiplied by a trained number.
      **kwargs: ``causal``: whether a step looks at no later one; as of a layer.

    Source: Luong, Pham and Manning 2015.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     query, value = tf.zeros([2, 3, 4]), tf.zeros([2, 5, 4])
      ...     tf.keras.layers.Attention()([query, value]).shape.as_list()
      [2, 3, 4]
    """

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Makes ``scale``."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones", trainable=True)
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        scores = matmul.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"use_scale": self.use_scale}


class AdditiveAttention(_Attention):
    """Attention by the tanh of sums of queries and keys.

    Args:
      use_scale: whether each dim of a sum counts by a trained number.
      **kwargs: ``causal``: whether a step looks at no later one; as of a layer.

    Source: Bahdanau, Cho and Bengio 2015.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     query, value = tf.zeros([2, 3, 4]), tf.zeros([2, 5, 4])
      ...     tf.keras.layers.AdditiveAttention()([query, value]).shape.as_list()
      [2, 3, 4]
    """

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Makes ``scale``, a number for each dim."""
        self.scale = None
        if self.use_scale:
            dim = input_shape[1][-1]
            self.scale = self.add_weight(
                name="scale", shape=[dim], initializer="glorot_uniform", trainable=True
            )
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        sums = elementwise.tanh(reshape.expand_dims(query, -2) + reshape.expand_dims(key, -3))
        return reduction.reduce_sum(sums if self.scale is None else self.scale * sums, axis=-1)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"use_scale": self.use_scale}
