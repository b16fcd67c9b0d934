"""``tf.keras.utils``: explicit re-exports, no logic."""

from penstock.library.layer_base.configs import (
    custom_object_scope as CustomObjectScope,
    custom_object_scope as custom_object_scope,
    get_custom_objects as get_custom_objects,
    made_from_object as deserialize_keras_object,
    serialized as serialize_keras_object,
)
from penstock.training.keras_models.connected_layers import source_inputs as get_source_inputs
from penstock.training.keras_models.drawing import (
    model_to_dot as model_to_dot,
    plot_model as plot_model,
)
from penstock.training.keras_models.enqueuers import (
    GeneratorEnqueuer as GeneratorEnqueuer,
    OrderedEnqueuer as OrderedEnqueuer,
    Sequence as Sequence,
    SequenceEnqueuer as SequenceEnqueuer,
)
from penstock.training.keras_models.files import get_file as get_file
from penstock.training.keras_models.flipped_kernels import (
    convert_all_kernels_in_model as convert_all_kernels_in_model,
)
from penstock.training.keras_models.hdf5_matrix import HDF5Matrix as HDF5Matrix
from penstock.training.keras_models.labels import (
    normalize as normalize,
    to_categorical as to_categorical,
)
from penstock.training.keras_models.progress import Progbar as Progbar
from penstock.training.keras_models.replicated import multi_gpu_model as multi_gpu_model

__all__ = [
    "CustomObjectScope", "GeneratorEnqueuer", "HDF5Matrix", "OrderedEnqueuer", "Progbar",
    "Sequence", "SequenceEnqueuer", "convert_all_kernels_in_model", "custom_object_scope",
    "deserialize_keras_object", "get_custom_objects", "get_file", "get_source_inputs",
    "model_to_dot", "multi_gpu_model", "normalize", "plot_model", "serialize_keras_object",
    "to_categorical",
]  # fmt: skip
