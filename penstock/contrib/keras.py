"""``tf.contrib.keras``: the place that ``tf.keras`` had before 1.4; the same modules."""

from penstock.api.keras import (
    activations as activations,
    backend as backend,
    callbacks as callbacks,
    constraints as constraints,
    datasets as datasets,
    initializers as initializers,
    losses as losses,
    metrics as metrics,
    models as models,
    optimizers as optimizers,
    preprocessing as preprocessing,
    regularizers as regularizers,
    utils as utils,
)
from penstock.foundation.base import public_names
from penstock.library.keras import layers as layers

__dir__ = public_names.listing(__name__)
