"""``tf.user_ops``: explicit re-exports, no logic."""

from penstock.ops.fact import my_fact

__all__ = ["my_fact"]
