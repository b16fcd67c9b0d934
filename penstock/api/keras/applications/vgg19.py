"""``tf.keras.applications.vgg19``."""

from penstock.training.keras_models.applications import of_room

__getattr__, __dir__ = of_room("vgg19")
