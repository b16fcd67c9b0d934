"""``tf.keras.estimator``: explicit re-exports, no logic."""

from penstock.training.keras_models.to_estimator import model_to_estimator as model_to_estimator
