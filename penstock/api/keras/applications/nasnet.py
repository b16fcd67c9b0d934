"""``tf.keras.applications.nasnet``."""

from penstock.training.keras_models.applications import of_room

__getattr__, __dir__ = of_room("nasnet")
