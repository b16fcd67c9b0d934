"""``tf.keras.preprocessing.image``."""

from penstock.training.keras_models.image_batches import (
    attribute as __getattr__,
    names as __dir__,
)

__all__ = ["__dir__", "__getattr__"]
