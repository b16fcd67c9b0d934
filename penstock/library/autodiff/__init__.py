"""Gradients as graph nodes: ``tf.gradients``, custom gradients, Hessians."""
