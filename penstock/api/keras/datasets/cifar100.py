"""``tf.keras.datasets.cifar100``: explicit re-exports, no logic."""

from penstock.training.keras_models.datasets import load_cifar100 as load_data

__all__ = ["load_data"]
