"""``tensorflow.python.client``: what programs import from it."""
