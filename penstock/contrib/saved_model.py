"""``tf.contrib.saved_model``: models of Keras as SavedModels, from ``tf.keras.experimental``."""

from penstock.api.keras.experimental import (
    export_saved_model as save_keras_model,
    load_from_saved_model as load_keras_model,
)
from penstock.foundation.base import public_names

__all__ = ["load_keras_model", "save_keras_model"]

__dir__ = public_names.listing(__name__)
