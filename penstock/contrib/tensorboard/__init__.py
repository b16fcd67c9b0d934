"""``tf.contrib.tensorboard``: explicit re-exports, no logic."""

from penstock.contrib.tensorboard import plugins as plugins
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
