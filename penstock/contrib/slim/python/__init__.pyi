"""The module paths beneath ``tf.contrib.slim.python``."""

from penstock.contrib import slim as slim
