"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import tensorboard

__all__ = ["tensorboard"]
