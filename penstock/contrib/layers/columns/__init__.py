"""Feature columns of ``tf.contrib.layers``: how features become what models read, of TF 0.x.

``column`` says what every column is; ``dense``, ``sparse`` and ``derived`` have them; ``layers``
reads weights with them, ``parsing`` asks messages for their features.
"""
