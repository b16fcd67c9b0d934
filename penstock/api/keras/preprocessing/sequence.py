"""``tf.keras.preprocessing.sequence``: explicit re-exports, no logic."""

from penstock.training.keras_models.sequences import pad_sequences as pad_sequences
