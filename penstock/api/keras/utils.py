"""``tf.keras.utils``: explicit re-exports, no logic."""

from penstock.library.layer_base.configs import (
    custom_object_scope as CustomObjectScope,
    custom_object_scope as custom_object_scope,
    get_custom_objects as get_custom_objects,
    made_from_object as deserialize_keras_object,
    serialized as serialize_keras_object,
)
from penstock.training.keras_models.connected_layers import source_inputs as get_source_inputs
from penstock.training.keras_models.enqueuers import (
    GeneratorEnqueuer as GeneratorEnqueuer,
    OrderedEnqueuer as OrderedEnqueuer,
    Sequence as Sequence,
    SequenceEnqueuer as SequenceEnqueuer,
)
from penstock.training.keras_models.files import get_file as get_file
from penstock.training.keras_models.labels import (
    normalize as normalize,
    to_categorical as to_categorical,
)
from penstock.training.keras_models.progress import Progbar as Progbar

__all__ = [
    "CustomObjectScope", "GeneratorEnqueuer", "OrderedEnqueuer", "Progbar", "Sequence",
    "SequenceEnqueuer", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_file", "get_source_inputs", "normalize", "serialize_keras_object", "to_categorical",
]  # fmt: skip
