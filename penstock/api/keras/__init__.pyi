"""The public names of ``tf.keras``; ``__init__.py`` reads it as well."""

from penstock.api.keras import (
    activations as activations,
    applications as applications,
    backend as backend,
    callbacks as callbacks,
    constraints as constraints,
    datasets as datasets,
    estimator as estimator,
    experimental as experimental,
    initializers as initializers,
    losses as losses,
    metrics as metrics,
    models as models,
    optimizers as optimizers,
    preprocessing as preprocessing,
    regularizers as regularizers,
    utils as utils,
    wrappers as wrappers,
)
from penstock.library.keras import layers as layers
from penstock.training.keras_models.input_layer import Input as Input
from penstock.training.keras_models.model import Model as Model
from penstock.training.keras_models.sequential import Sequential as Sequential
