"""Layers as configurations, and layers of configurations.

State: ``CLASSES``, layers that other rooms add to those of this package: models among them.
"""

from __future__ import annotations

from typing import Any

from penstock.library.keras import layers
from penstock.library.layer_base import configs

CLASSES: dict[str, Any] = {}


def serialize(layer: Any) -> Any:
    """A layer as ``{"class_name": ..., "config": ...}``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.serialize(tf.keras.layers.Flatten())["class_name"]
      'Flatten'
    """
    return configs.serialized(layer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The layer or model of a configuration, with new weights.

    Args:
      config: what ``serialize`` gives.
      custom_objects: classes by name, which come before those of Keras.

    Raises:
      ValueError: nothing has that name.
    """
    known = {name: getattr(layers, name) for name in dir(layers) if name[0].isupper()}
    return configs.made_from(config, known | CLASSES, "layer", custom_objects)
