"""``tf.keras.models``: explicit re-exports, no logic."""

from penstock.training.keras_models.cloning import clone_model as clone_model
from penstock.training.keras_models.model import Model as Model
from penstock.training.keras_models.model_files import (
    load_model as load_model,
    save_model as save_model,
)
from penstock.training.keras_models.reading import (
    model_from_config as model_from_config,
    model_from_json as model_from_json,
    model_from_yaml as model_from_yaml,
)
from penstock.training.keras_models.sequential import Sequential as Sequential
