"""``tf.contrib``: explicit re-exports, no logic."""

from penstock.contrib import data, staging, tensorboard

__all__ = ["data", "staging", "tensorboard"]
