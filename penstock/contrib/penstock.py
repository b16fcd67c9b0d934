"""``tf.contrib.penstock``: what is Penstock's own; explicit re-exports, no logic."""

from penstock.ops.control.send_recv import compress as compress
