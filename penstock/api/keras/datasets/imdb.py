"""``tf.keras.datasets.imdb``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import (
    imdb_word_index as get_word_index,
    load_imdb as load_data,
)

__all__ = ["get_word_index", "load_data"]
