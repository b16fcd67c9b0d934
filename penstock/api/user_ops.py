"""``tf.user_ops``: explicit re-exports, no logic."""

from penstock.ops.math.fact import my_fact as my_fact
