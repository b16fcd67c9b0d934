"""``tf.keras.experimental``: explicit re-exports, no logic."""

from penstock.library.keras.layers.cells import PeepholeLSTMCell as PeepholeLSTMCell
from penstock.training.keras_models.exporting import (
    export_saved_model as export_saved_model,
    load_from_saved_model as load_from_saved_model,
)
from penstock.training.keras_models.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    LinearCosineDecay as LinearCosineDecay,
    NoisyLinearCosineDecay as NoisyLinearCosineDecay,
)
