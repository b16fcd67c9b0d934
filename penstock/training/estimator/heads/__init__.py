"""Heads made of Keras's metrics and optimizers: ``tf.estimator.Head`` and its kin."""
