"""``tf.xla``: explicit re-exports, no logic."""

from penstock.api import xla_experimental as experimental

__all__ = ["experimental"]
