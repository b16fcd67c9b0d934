"""``tf.keras.applications.mobilenet_v2``."""

from penstock.training.keras_models.applications import of_room

__getattr__, __dir__ = of_room("mobilenet_v2")
