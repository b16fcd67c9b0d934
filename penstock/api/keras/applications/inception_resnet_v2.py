"""``tf.keras.applications.inception_resnet_v2``."""

from penstock.training.keras_models.applications import of_room

__getattr__, __dir__ = of_room("inception_resnet_v2")
