"""What every layer is: ``tf.keras.layers.Layer`` and, on it, ``tf.layers.Layer``."""
