"""``tf.keras.experimental``: explicit re-exports, no logic."""

from penstock.library.keras.layers.cells import PeepholeLSTMCell as PeepholeLSTMCell
from penstock.training.feature_column.keras_layers import SequenceFeatures as SequenceFeatures
from penstock.training.keras_models.enqueuers import (
    terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools,
)
from penstock.training.keras_models.exporting import (
    export_saved_model as export_saved_model,
    load_from_saved_model as load_from_saved_model,
)
from penstock.training.keras_models.premade import (
    LinearModel as LinearModel,
    WideDeepModel as WideDeepModel,
)
from penstock.training.keras_models.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    LinearCosineDecay as LinearCosineDecay,
    NoisyLinearCosineDecay as NoisyLinearCosineDecay,
)
