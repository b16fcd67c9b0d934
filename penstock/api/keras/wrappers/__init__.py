"""``tf.keras.wrappers``: explicit re-exports, no logic."""

from penstock.api.keras.wrappers import scikit_learn as scikit_learn
