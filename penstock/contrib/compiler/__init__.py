"""``tf.contrib.compiler``: explicit re-exports, no logic."""

from penstock.contrib.compiler import jit as jit
