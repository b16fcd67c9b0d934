"""``tf.keras.utils``: explicit re-exports, no logic."""

from penstock.library.layer_base.configs import (
    custom_object_scope as CustomObjectScope,
    custom_object_scope as custom_object_scope,
)
from penstock.training.keras_models.labels import (
    normalize as normalize,
    to_categorical as to_categorical,
)
from penstock.training.keras_models.progress import Progbar as Progbar

__all__ = ["CustomObjectScope", "Progbar", "custom_object_scope", "normalize", "to_categorical"]
