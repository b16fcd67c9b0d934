"""``tf.contrib.compiler``: explicit re-exports, no logic."""

from penstock.contrib.compiler import jit as jit
from penstock.foundation.base import public_names

__dir__ = public_names.listing(__name__)
