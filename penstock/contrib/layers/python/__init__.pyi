"""The module paths beneath ``tf.contrib.layers.python``."""

from penstock.contrib import layers as layers
