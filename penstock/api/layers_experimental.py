"""``tf.layers.experimental``: explicit re-exports, no logic."""

from penstock.library.layer_base.scoped import (
    keras_style_scope as keras_style_scope,
    set_keras_style as set_keras_style,
)
