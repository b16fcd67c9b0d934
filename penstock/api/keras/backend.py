"""``tf.keras.backend``: explicit re-exports, no logic."""

from penstock.library.layer_base.phase import (
    learning_phase as learning_phase,
    learning_phase_scope as learning_phase_scope,
    set_learning_phase as set_learning_phase,
)
from penstock.library.layer_base.sessions import (
    clear_session as clear_session,
    get_session as get_session,
    set_session as set_session,
)
from penstock.training.keras_models.backend import (
    batch_get_value as batch_get_value,
    batch_set_value as batch_set_value,
    count_params as count_params,
    epsilon as epsilon,
    eval_ as eval,
    floatx as floatx,
    get_value as get_value,
    image_data_format as image_data_format,
    int_shape as int_shape,
    ndim as ndim,
    set_value as set_value,
)

__all__ = [
    "batch_get_value", "batch_set_value", "clear_session", "count_params", "epsilon", "eval",
    "floatx", "get_session", "get_value", "image_data_format", "int_shape", "learning_phase",
    "learning_phase_scope", "ndim", "set_learning_phase", "set_session", "set_value",
]  # fmt: skip
