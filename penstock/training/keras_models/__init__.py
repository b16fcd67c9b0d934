"""Models of Keras and how they are trained: ``tf.keras.Model``, losses, metrics, optimizers.

In: layers of ``library/keras``.  Out: models whose ``fit`` runs steps in Keras's session.
"""
