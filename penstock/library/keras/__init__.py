"""Keras's layers, one family a file; ``penstock/api/keras`` has the names of ``tf.keras``."""
