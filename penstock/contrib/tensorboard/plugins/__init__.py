"""``tf.contrib.tensorboard.plugins``: explicit re-exports, no logic."""

from penstock.contrib.tensorboard.plugins import projector as projector
