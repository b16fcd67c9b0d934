"""``tf.keras.datasets.mnist``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import load_mnist as load_data

__all__ = ["load_data"]
