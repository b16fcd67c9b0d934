"""``tf.contrib.penstock``: what is Penstock's own; explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.ops.control.send_recv import compress as compress

__dir__ = public_names.listing(__name__)
