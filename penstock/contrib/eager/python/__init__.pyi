"""The module paths beneath ``tf.contrib.eager.python``."""
