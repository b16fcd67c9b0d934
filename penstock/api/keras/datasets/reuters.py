"""``tf.keras.datasets.reuters``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import (
    load_reuters as load_data,
    reuters_word_index as get_word_index,
)

__all__ = ["load_data", "get_word_index"]
