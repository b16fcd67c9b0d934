"""``tf.contrib.tensorboard``: explicit re-exports, no logic."""

from penstock.contrib.tensorboard import plugins as plugins
