"""``tf.keras.datasets.boston_housing``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import load_boston_housing as load_data

__all__ = ["load_data"]
