"""``tf.contrib.penstock``: what is Penstock's own; explicit re-exports, no logic."""

from penstock.ops.send_recv import compress as compress
