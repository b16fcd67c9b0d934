"""``tf.contrib.tensorboard.plugins``: explicit re-exports, no logic."""

from penstock.contrib.tensorboard.plugins import projector

__all__ = ["projector"]
