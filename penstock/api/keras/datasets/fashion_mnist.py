"""``tf.keras.datasets.fashion_mnist``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import load_fashion_mnist as load_data

__all__ = ["load_data"]
