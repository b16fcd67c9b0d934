"""The module paths beneath ``tf.contrib.learn.python``."""

from penstock.contrib import learn as learn
