"""``tf.keras.experimental``: explicit re-exports, no logic."""

from penstock.training.keras_models.schedules import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    LinearCosineDecay as LinearCosineDecay,
    NoisyLinearCosineDecay as NoisyLinearCosineDecay,
)
