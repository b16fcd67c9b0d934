"""``tf.keras.preprocessing``: explicit re-exports, no logic."""

from penstock.api.keras.preprocessing import (
    image as image,
    sequence as sequence,
    text as text,
)
