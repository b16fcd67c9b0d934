"""``tf.keras.preprocessing``: explicit re-exports, no logic."""

from penstock.api.keras.preprocessing import sequence as sequence, text as text
