"""``tf.keras.wrappers.scikit_learn``: explicit re-exports, no logic."""

from penstock.training.keras_models.scikit_learn import (
    KerasClassifier as KerasClassifier,
    KerasRegressor as KerasRegressor,
)
