"""``tf.keras.datasets.cifar10``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import load_cifar10 as load_data

__all__ = ["load_data"]
